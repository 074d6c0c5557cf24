#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a connection through a door of tcp:// costs.

    bench/tcp.py --outfox build/outfox [--json FILE] [--only redis,postgres] [--rounds 5]

Redis (redis-benchmark: GET, one command at a time and 16 in a pipeline) and PostgreSQL (pgbench: one
SELECT by key), with 8 clients: directly, through Outfox, and through haproxy in TCP mode. The processes
share all cores, nothing is pinned. A round visits the three one after the other, beginning with another
one each time. A figure is the median of the rounds: throughput as a share of the direct one of its round,
and the processor time of the proxy for each request.

A benchmark measures, tests judge: the exit code is 0 whatever the figures.
"""
import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from peers import procs  # noqa: E402

CLIENTS = 8
HAPROXY = """global
    nbthread 1
    maxconn 4096
defaults
    mode tcp
    timeout connect 5s
    timeout client 60s
    timeout server 60s
listen proxy
    bind 127.0.0.1:{port}
    server service 127.0.0.1:{to}
"""
figures = []


def report(name, value, unit, target=None):
    figures.append({"name": name, "value": round(value, 3), "unit": unit, "target": target})
    print(f"  {name:44} {value:12.2f} {unit:10} {'target ' + target if target else ''}", flush=True)


# ---- what is measured ----

def start_outfox(outfox, to):
    child = procs.Child("outfox", [outfox, "proxy", "--listen", "tcp://127.0.0.1:0", "--to", f"127.0.0.1:{to}"], None)
    return child, int(child.wait_said(r"listening on tcp://127\.0\.0\.1:(\d+)")[1])


def start_haproxy(to):
    port = procs.free_port()
    file = procs.folder / "haproxy-tcp.cfg"
    file.write_text(HAPROXY.format(port=port, to=to), encoding="utf-8")
    child = procs.Child("haproxy", ["haproxy", "-db", "-f", file], None)
    child.wait_port(port)
    return child, port


def start_redis():
    port = procs.free_port()
    child = procs.Child("redis", ["redis-server", "--port", port, "--bind", "127.0.0.1", "--save", ""], None)
    child.wait_port(port)
    return port


def redis_benchmark(port, pipeline):
    """(requests, requests per second)."""
    n = 80_000 * pipeline
    said = subprocess.run(["redis-benchmark", "-h", "127.0.0.1", "-p", str(port), "-c", str(CLIENTS), "-n", str(n),
                           "-P", str(pipeline), "-t", "get", "--csv"], capture_output=True, text=True, check=True)
    return n, float(re.search(r'"GET","([\d.]+)"', said.stdout)[1])


class Postgres:
    def __init__(self):
        self.bin = sorted(Path("/usr/lib/postgresql").glob("*/bin"))[-1]
        self.port = procs.free_port()
        as_other = os.getuid() == 0
        self.user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if as_other else []
        self.folder = Path("/tmp") / f"outfox-bench-pg-{os.getpid()}"
        self.folder.mkdir(mode=0o700)
        if as_other:
            shutil.chown(self.folder, "postgres", "postgres")
        data = self.folder / "data"
        subprocess.run([*self.user, self.bin / "initdb", "-D", data, "-U", "test", "--auth=trust", "-N"], check=True,
                       capture_output=True, cwd=self.folder)
        self.child = procs.Child("postgres", [*self.user, self.bin / "postgres", "-D", data, "-p", self.port, "-h",
                                              "127.0.0.1", "-k", self.folder, "-F"], None)
        self.child.wait_said("ready to accept connections")
        self.run(self.port, "-i", "-q", "-s", "2")

    def run(self, port, *words):
        return subprocess.run([self.bin / "pgbench", "-h", "127.0.0.1", "-p", str(port), "-U", "test", *words,
                               "postgres"], capture_output=True, text=True, check=True).stdout

    def select(self, port):
        """(requests, requests per second)."""
        said = self.run(port, "-S", "-n", "-c", str(CLIENTS), "-T", "3")
        return (int(re.search(r"transactions actually processed: (\d+)", said)[1]),
                float(re.search(r"tps = ([\d.]+)", said)[1]))

    def stop(self):
        self.child.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


# ---- figures ----

def compare(args, name, to, load):
    systems = {"direct": (None, to), "outfox": start_outfox(args.outfox, to), "haproxy": start_haproxy(to)}
    order = list(systems)
    shares, cpu = {one: [] for one in order}, {one: [] for one in order}
    for turn in range(args.rounds):
        rates = {}
        for one in order[turn % 3:] + order[:turn % 3]:
            child, port = systems[one]
            before = child.cpu_ns() if child else 0
            n, rates[one] = load(port)
            cpu[one].append(((child.cpu_ns() if child else 0) - before) / n / 1e3)
        for one in order:
            shares[one].append(rates[one] / rates["direct"])
    for one in order[1:]:
        report(f"{name}, {one} / direct", statistics.median(shares[one]), "", "≥ 0.8" if one == "outfox" else None)
        report(f"{name}, {one}, CPU per request", statistics.median(cpu[one]), "µs")
        systems[one][0].stop()


def bench_redis(args):
    port = start_redis()
    for pipeline in (1, 16):
        compare(args, f"redis, {pipeline} at a time", port, lambda at, p=pipeline: redis_benchmark(at, p))


def bench_postgres(args):
    server = Postgres()
    compare(args, "postgres, select", server.port, server.select)
    server.stop()


PARTS = {"redis": bench_redis, "postgres": bench_postgres}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--outfox", type=lambda p: str(Path(p).resolve()), required=True)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--only", default=",".join(PARTS))
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    for part in args.only.split(","):
        PARTS[part](args)
    if args.json:
        args.json.write_text("".join(json.dumps(f) + "\n" for f in figures), encoding="utf-8")


if __name__ == "__main__":
    main()
