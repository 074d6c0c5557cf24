# SPDX-License-Identifier: Apache-2.0
"""check.py lost|stale [SECONDS]|terms     what came of a run: see register.py
check.py ready                          do all nodes know the same leader, and does it take writes?
check.py leader|follower                the name of the leader; of a node that is none"""
import collections
import sys

import etcd
import register


def lost():
    """All that is in the set, by a read that asks the others too."""
    for name in etcd.NODES:
        try:
            answer = etcd.Node(name, 5).ask("kv/range", key=etcd.text64("set/"), range_end=etcd.text64("set0"))
            there = {etcd.plain(pair["value"]) for pair in answer.get("kvs", [])}
            return register.check_lost(register.history(), there)
        except etcd.GONE:
            continue
    return False, "no node answers"


def leaders():
    """Who is the leader, in the opinion of each node that answers."""
    found = {}
    for name in etcd.NODES:
        node = etcd.Node(name)
        try:
            members = {member["ID"]: member.get("name") for member in node.ask("cluster/member/list")["members"]}
            found[name] = members[node.ask("maintenance/status")["leader"]]
        except etcd.GONE:
            continue
    return found


def leader():
    return collections.Counter(leaders().values()).most_common(1)[0][0]


def ready():
    found = leaders()
    if len(found) < len(etcd.NODES) or len(set(found.values())) > 1:
        return False, f"no leader that all know: {found}"
    try:
        etcd.Node(etcd.NODES[0]).ask("kv/put", key=etcd.text64("ready"), value="")
    except etcd.GONE as why:
        return False, str(why)
    return True, "ready"


ANSWERS = {
    "lost": lost,
    "stale": lambda: register.check_stale(register.history(), float(sys.argv[2]) if len(sys.argv) > 2 else 0),
    "terms": lambda: register.check_terms(register.history()),
    "ready": ready,
    "leader": lambda: (True, leader()),
    "follower": lambda: (True, [name for name in etcd.NODES if name != leader()][-1]),
}
good, sentence = ANSWERS[sys.argv[1]]()
print(sentence)
sys.exit(0 if good else 1)
