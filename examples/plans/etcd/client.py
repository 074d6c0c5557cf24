# SPDX-License-Identifier: Apache-2.0
"""client.py write            adds to a set and sets the register, both in one transaction, on any node that answers
client.py read NODE        reads the register on this node; with SERIALIZABLE=true without asking the others
client.py lease            is a key with a lease of a minute still there?

Before each write it says `event writing NODE`."""
import os
import sys

import etcd
import register

nodes = [etcd.Node(name) for name in ([sys.argv[2]] if sys.argv[1] == "read" else etcd.NODES)]


def write(count):
    print(f"event writing {nodes[0].name}", flush=True)
    puts = [{"requestPut": {"key": etcd.text64(key), "value": etcd.text64(str(count))}}
            for key in (etcd.REGISTER, f"set/{count}")]
    try:
        head = nodes[0].ask("kv/txn", success=puts)["header"]
    except etcd.GONE:
        nodes.append(nodes.pop(0))
        raise
    return count, int(head["revision"]), head["raft_term"]


def read(_):
    answer = nodes[0].ask("kv/range", key=etcd.text64(etcd.REGISTER), serializable="SERIALIZABLE" in os.environ)
    found = answer.get("kvs")
    return (etcd.plain(found[0]["value"]), int(found[0]["mod_revision"]), answer["header"]["raft_term"]) if found else (
        0, 0, answer["header"]["raft_term"])


def lease(count):
    """The first time makes the key; it raises KeyError where it is gone."""
    try:
        if count == 1:
            granted = nodes[0].ask("lease/grant", TTL=60)["ID"]
            nodes[0].ask("kv/put", key=etcd.text64("leased"), value="", lease=granted)
        head = nodes[0].ask("kv/range", key=etcd.text64("leased"))
        return head["kvs"][0]["lease"], int(head["header"]["revision"]), head["header"]["raft_term"]
    except etcd.GONE:
        nodes.append(nodes.pop(0))
        raise


if sys.argv[1] == "write":
    register.repeat("write", write, etcd.GONE, 0.02)
elif sys.argv[1] == "lease":
    register.repeat("leased", lease, etcd.GONE, 0.1)
else:
    register.repeat("read", read, etcd.GONE, 0.05)
