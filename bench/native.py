#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What sites cost in programs that outfox cc has built, while nothing fails.

    bench/native.py --outfox build/outfox [--json FILE] [--redis DIRECTORY] [--rounds 7]

The hook alone, in nanoseconds for a call (bench/native/hook.c), and a real server: with --redis, the unpacked
source of Redis 7 (`apt-get source redis`), it is built by clang and by outfox cc. Four systems are visited in each
round, beginning with another one each time:

    plain      built by clang
    inactive   built by outfox cc, run without a trial
    idle       in a trial that is armed and counts each request, and whose rule grants none (a point that is not there)
    counted    likewise, without a rule: a reference run, which numbers all requests too

In a trial, all functions with states are enabled.

CPU is the time that the server's threads ran (schedstat, kernel included) for a fixed number of requests; a share
is the median of those within the rounds. Instructions are valgrind's, in user space, of a run less a shorter one.
A benchmark measures, tests judge: the exit code is 0 whatever the figures.
"""
import argparse
import json
import os
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
TOP = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TOP / "tests/native"))
from trialfile import NONE, POINT, TrialFile

WITHIN_S = 120
SYSTEMS = ("plain", "inactive", "idle", "counted")
LOADS = {"SET, one at a time": ("set", 1, 100_000), "GET, 16 at a time": ("get", 16, 600_000)}
COUNTED = (500, 3000)  # requests under valgrind


def trial(system, place, module=None):
    """What the process is to find; None: nothing. module: identity, and how many sites, states and functions."""
    rule = {"idle": POINT, "counted": NONE}.get(system)
    if rule is None:
        return None
    file = TrialFile(place / "trial", n_points=4096, tables=1 << 20, rule=rule, key=1, nth=1)
    if module:
        file.add_module(*module, enabled=range(module[3]))
    return file


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return str(one.getsockname()[1])


# ---- the hook alone ----

def measure_hook(place, calls):
    program = place / "hook"
    flags = ["-O2", "-fno-omit-frame-pointer", "-I", TOP / "include", "-I", TOP / "tests"]
    subprocess.run(["cc", *flags, TOP / "bench/native/hook.c", TOP / "build/liboutfox_rt.a", "-o", program, "-lpthread"], check=True)
    cells = {}
    for name, system, armed in (("inactive", "inactive", 0), ("not armed", "idle", 0), ("idle", "idle", 1), ("counted", "counted", 1)):
        file = trial(system, place)
        if file:
            file.trial.armed = armed
        said = subprocess.run([program, str(calls), "2"], stdout=subprocess.PIPE, text=True, check=True,
                              env=file.environment() if file else None).stdout
        cells[name] = {what: float(ns) for what, ns in (line.split() for line in said.splitlines())}
    return cells


# ---- Redis ----

def build(source, place, outfox):
    """The servers, in order of {plain, instrumented}; and the seconds of processor time that took."""
    took = {}
    for name, cc in (("built-plain", "clang"), ("built-outfox", f"{outfox} cc")):
        shutil.copytree(source, place / name, symlinks=True)
        before = os.times()
        subprocess.run(["make", "-C", place / name / "src", "-j2", f"CC={cc}", "MALLOC=libc", "OPTIMIZATION=-O2", "USE_SYSTEMD=no",
                        "redis-server", "redis-benchmark"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        after = os.times()
        took[name] = after.children_user + after.children_system - before.children_user - before.children_system
    return took


def start(system, place, module, before=()):
    """A server, its port, and its trial."""
    port, file = free_port(), trial(system, place, module)
    binary = place / ("built-plain" if system == "plain" else "built-outfox") / "src/redis-server"
    if before:
        binary = shutil.copy(binary, place / "without-lines")  # valgrind cannot read those of clang
        subprocess.run(["strip", "--strip-debug", binary], check=True)
    server = subprocess.Popen([*before, binary, "--port", port, "--save", "", "--appendonly", "no", "--dir", place], stdout=subprocess.DEVNULL,
                              env=file.environment() if file else None)
    until = time.monotonic() + WITHIN_S
    while time.monotonic() < until:
        try:
            with socket.create_connection(("127.0.0.1", int(port)), 1) as one:
                one.sendall(b"PING\r\n")
                if one.recv(16) == b"+PONG\r\n":
                    return server, port, file
        except OSError:
            time.sleep(0.02)
    raise TimeoutError("the server did not start in time")


def load(place, port, what, depth, requests):
    subprocess.run([place / "built-plain/src/redis-benchmark", "-p", port, "-t", what, "-P", str(depth), "-c", "16", "-n", str(requests), "-q"],
                   check=True, stdout=subprocess.DEVNULL, timeout=10 * WITHIN_S)


def ran_ns(pid):
    return sum(int(Path(task, "schedstat").read_text(encoding="ascii").split()[0]) for task in Path(f"/proc/{pid}/task").iterdir())


def measure_cpu(system, place, kind, module):
    what, depth, requests = LOADS[kind]
    server, port, file = start(system, place, module)
    try:
        load(place, port, what, depth, requests // 10)
        before = ran_ns(server.pid)
        load(place, port, what, depth, requests)
        took = (ran_ns(server.pid) - before) / requests
    finally:
        server.kill()
        server.wait()
    if file and not file.counted():
        sys.exit(f"{system}: nothing was counted")
    return took


def measure_instructions(system, place, kind, module):
    what, depth, _ = LOADS[kind]
    counts = []
    for requests in COUNTED:
        log = place / "valgrind.log"
        server, port, _ = start(system, place, module, ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", f"--log-file={log}"])
        load(place, port, what, depth, requests)
        server.terminate()
        server.wait()
        counts.append(int(re.findall(r"Collected : (\d+)", log.read_text())[-1]))
    return (counts[1] - counts[0]) / (COUNTED[1] - COUNTED[0])


def ask_module(place):
    """What the server says of itself in a file that does not know it."""
    server, _, file = start("counted", place, None)
    server.kill()
    server.wait()
    of = file.module[0]
    return of.id, of.sites, of.states, of.functions


def measure_redis(place, rounds, module):
    cells = {kind: {system: [] for system in SYSTEMS} for kind in LOADS}
    for number in range(rounds):
        for kind in LOADS:
            for at in range(len(SYSTEMS)):
                system = SYSTEMS[(at + number) % len(SYSTEMS)]
                cells[kind][system].append(measure_cpu(system, place, kind, module))
    shares = {kind: {system: statistics.median(a / b for a, b in zip(of[system], of["plain"])) for system in SYSTEMS} for kind, of in cells.items()}
    return {kind: {system: {"cpu_ns": statistics.median(of[system]), "share": shares[kind][system], "rounds": of[system]} for system in SYSTEMS}
            for kind, of in cells.items()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--outfox", type=Path, required=True)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--redis", type=Path)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--calls", type=int, default=2_000_000)
    options = parser.parse_args()
    place = Path(tempfile.mkdtemp(prefix="outfox-bench-"))
    told = {}
    try:
        told["hook"] = measure_hook(place, options.calls)
        print("nanoseconds for a call: bare, with a site, two threads at one point, two threads at two")
        for name, cell in told["hook"].items():
            print(f"  {name:10}", *(f"{cell[what]:8.2f}" for what in ("bare", "site", "same", "apart")))
        if options.redis:
            told["build"] = build(options.redis, place, options.outfox.resolve())
            print("building Redis, CPU seconds:", {name: round(s, 1) for name, s in told["build"].items()})
            module = ask_module(place)
            print("Redis: {1} sites, {2} states in {3} functions".format(*module))
            told["redis"] = measure_redis(place, options.rounds, module)
            for kind, of in told["redis"].items():
                for system in SYSTEMS:
                    of[system]["instructions"] = measure_instructions(system, place, kind, module) if shutil.which("valgrind") else None
                    one = of[system]
                    print(f"{kind:20} {system:9} {one['cpu_ns']:9.0f} ns of CPU, share {one['share']:.3f};",
                          f"instructions {one['instructions'] or 0:.0f}, share {(one['instructions'] or 0) / (of['plain']['instructions'] or 1):.3f}")
        else:
            print("Redis: not measured (--redis DIRECTORY)")
    finally:
        shutil.rmtree(place, ignore_errors=True)
    if options.json:
        options.json.write_text(json.dumps(told) + "\n", encoding="utf-8")


main()
