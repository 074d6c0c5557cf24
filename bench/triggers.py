#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How soon a fault of a plan begins after its cause.

    bench/triggers.py --outfox build/outfox [--json FILE] [--only connection,line,event,link] [--n 500]

Each part is a plan with many events, whose causes come 10 ms apart (those of freeze 100 ms):

    connection  somebody connects to a door, and tcp-reset breaks this connection off: from the return of
                connect() to the error, both seen by the client
    line        a node prints a line, and tcp (latency) begins at a door: in our own process
    event       a client prints an event, and freeze stops a node: a process that is started, and its end
    link        a client prints an event, and partition begins in a network of the plan's own (root)

In the last three the cause has the moment before the write, by the printer's clock; the begin is that of the
report. Both clocks are one (CLOCK_MONOTONIC); where the report's starts is found from the fastest line of the
run, so each figure lacks what that line took (some ten microseconds).

A benchmark measures, tests judge: the exit code is 0 whatever the figures.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

GAP_S, SLOW_GAP_S = 0.01, 0.1  # what takes processes to begin and to undo is not to queue up
figures = []

PRINTER = r"""
import sys, time
word, n, file, gap = sys.argv[1], int(sys.argv[2]), open(sys.argv[3], "w"), float(sys.argv[4])
time.sleep(1.5)
for i in range(n):
    time.sleep(gap)
    at = time.monotonic()
    sys.stdout.write(f"{word}{i}\n")
    sys.stdout.flush()
    file.write(f"{i} {at}\n")
file.close()
time.sleep(1000)
"""
CLOCK = r"""
import time
while True:
    print(f"ok 1ms {time.monotonic()}", flush=True)
    time.sleep(0.02)
"""
CONNECTOR = r"""
import os, socket, sys, time
host, port = os.environ["OUTFOX_DOOR_it"].split(":")
file = open(sys.argv[2], "w")
time.sleep(1.5)
for i in range(int(sys.argv[1])):
    time.sleep(0.01)
    with socket.create_connection((host, int(port))) as one:
        at = time.monotonic()
        try:
            one.recv(1)
        except ConnectionResetError:
            file.write(f"{i} {time.monotonic() - at}\n")
file.close()
time.sleep(1000)
"""


def report(name, value, unit, target=None):
    figures.append({"name": name, "value": round(value, 3), "unit": unit, "target": target})
    print(f"  {name:44} {value:12.3f} {unit:10} {'target ' + target if target else ''}", flush=True)


def run_plan(outfox, folder, name, n, events, head="", clients="", gap=GAP_S):
    """The document of the run with faults."""
    lines = "".join(f"  - {{ name: e{i}, {events(i)} }}\n" for i in range(n))
    path = folder / f"{name}.yaml"
    path.write_text(f"version: 1\nplan: {name}\nduration: {3 + n * (gap + 0.01) * 1.5:.0f}s\nwarm-up: 100ms\nsettle: 10ms\n"
                    f"{head}clients:\n  clock: {{ command: exec {sys.executable} clock.py }}\n{clients}"
                    f"events:\n{lines}expect:\n  - lost: 1000000\n", encoding="utf-8")
    done = subprocess.run([outfox, "plan", "run", "-q", "--json", path], cwd=folder, capture_output=True, text=True,
                          check=False, env={**os.environ, "XDG_STATE_HOME": str(folder / "state")})
    if done.returncode not in (0, 1, 4):
        print(f"  {name}: left out: {done.stderr.strip()[:200] or done.stdout[:200]}")
        return None
    run = json.loads(done.stdout)["runs"][-1]
    if run["kind"] != "faulty":
        print(f"  {name}: left out: {run.get('broken', 'no run with faults')[:200]}")
        return None
    return run


def say(name, took_ms):
    took_ms.sort()
    if not took_ms:
        return
    report(f"{name}, p50 of {len(took_ms)}", statistics.median(took_ms), "ms")
    report(f"{name}, p99", took_ms[int(len(took_ms) * 0.99)], "ms", "≤ 20")
    report(f"{name}, max", took_ms[-1], "ms")


def since_print(folder, name, causes, run):
    """Milliseconds from each write to the begin of its fault."""
    history = folder / ".outfox/plans" / name / "faulty-1/history.jsonl"
    heard = [json.loads(line) for line in history.read_text(encoding="utf-8").splitlines()]
    zero = min(one["at_ms"] - float(one["said"]) * 1000 for one in heard if one["client"] == "clock")
    at = {int(i): float(at) * 1000 for i, at in (line.split() for line in causes.read_text(encoding="utf-8").splitlines())}
    return [one["begin_ms"] - zero - at[int(one["event"][1:])] for one in run["faults"] if not one.get("failed")]


def bench_connection(args, folder):
    run = run_plan(args.outfox, folder, "connection", args.n,
                   lambda i: f"fault: {{ type: tcp-reset, door: it }}, trigger: {{ connection: it, nth: {i + 1} }}, duration: 1ms",
                   "doors: { it: { to: '127.0.0.1:1' } }\n",
                   f"  user: {{ command: exec {sys.executable} connector.py {args.n} $OUTFOX_DIR/took }}\n")
    if run:
        took = (folder / ".outfox/plans/connection/faulty-1/took").read_text(encoding="utf-8")
        say("connection -> tcp-reset", [float(line.split()[1]) * 1000 for line in took.splitlines()])


def bench_line(args, folder):
    run = run_plan(args.outfox, folder, "line", args.n,
                   lambda i: f"fault: {{ type: tcp, door: it, latency: 1ms }}, trigger: {{ line: '^go{i}$' }}, duration: 1ms",
                   f"nodes: {{ cause: {{ start: exec {sys.executable} printer.py go {args.n} $OUTFOX_DIR/causes {GAP_S} }} }}\n"
                   "doors: { it: { to: '127.0.0.1:1' } }\n")
    if run:  # nothing goes through this door, so each fault is said to have met nothing: it began all the same
        for fault in run["faults"]:
            fault.pop("failed", None)
        say("line of a node -> tcp", since_print(folder, "line", folder / ".outfox/plans/line/faulty-1/causes", run))


def bench_event(args, folder):
    n = min(args.n, 200)
    run = run_plan(args.outfox, folder, "event", n,
                   lambda i: f"fault: {{ type: freeze, target: idle }}, trigger: {{ event: e{i} }}, duration: 1ms",
                   "nodes: { idle: { start: exec sleep 1000 } }\n",
                   f"  user: {{ command: exec {sys.executable} printer.py 'event e' {n} $OUTFOX_DIR/causes {SLOW_GAP_S} }}\n",
                   SLOW_GAP_S)
    if run:
        say("event of a client -> freeze",
            since_print(folder, "event", folder / ".outfox/plans/event/faulty-1/causes", run))


def bench_link(args, folder):
    run = run_plan(args.outfox, folder, "link", args.n,
                   lambda i: f"fault: {{ type: partition, target: a }}, trigger: {{ event: e{i} }}, duration: 1ms",
                   "network: 198.18.78.0/24\nnodes: { a: { start: exec sleep 1000 }, b: { start: exec sleep 1000 } }\n",
                   f"  user: {{ command: exec {sys.executable} printer.py 'event e' {args.n} $OUTFOX_DIR/causes {GAP_S} }}\n")
    if run:
        for fault in run["faults"]:
            fault.pop("failed", None)
        say("event of a client -> partition",
            since_print(folder, "link", folder / ".outfox/plans/link/faulty-1/causes", run))


PARTS = {"connection": bench_connection, "line": bench_line, "event": bench_event, "link": bench_link}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--outfox", required=True, type=lambda path: Path(path).resolve())
    parser.add_argument("--json")
    parser.add_argument("--only", default=",".join(PARTS))
    parser.add_argument("--n", type=int, default=500, help="triggers of each part, at most 1000")
    args = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="outfox-triggers-"))
    for name, text in (("printer.py", PRINTER), ("clock.py", CLOCK), ("connector.py", CONNECTOR)):
        (folder / name).write_text(text, encoding="utf-8")
    for part in args.only.split(","):
        PARTS[part](args, folder)
    shutil.rmtree(folder, ignore_errors=True)
    if args.json:
        Path(args.json).write_text("".join(json.dumps(one) + "\n" for one in figures), encoding="utf-8")


main()
