#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What it costs that system calls of a program are watched (docs/plans.md, "System calls"), while none is
harmed: a loop of writes of one byte to /dev/null, and SET of redis-benchmark. Each without anything, with
another call watched, with the call itself, and with a rule that looks at paths; medians of --rounds.

--pin, for a machine on which other programs run: real-time priority, the program and its watcher on one CPU
(where a calm machine has them too, since each wakes the other where it is), clients on another one.
"""
import argparse
import json
import re
import shutil
import socket
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

LOOP = r"""
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
int main(int n, char **words)
{
    struct timespec a, b;
    long times = n > 1 ? atol(words[1]) : 1000;
    int fd = open("/dev/null", O_WRONLY);
    clock_gettime(CLOCK_MONOTONIC, &a);
    for (long i = 0; i < times; i++)
        if (write(fd, "x", 1) != 1)
            return 1;
    clock_gettime(CLOCK_MONOTONIC, &b);
    printf("%f\n", ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec)) / (double)times);
}
"""
PIN = ["chrt", "-f", "10", "taskset", "-c"]
WAYS = {"nothing watched": None, "fsync watched": ["fsync"], "write watched": ["write"],
        "write watched, one rule that is not met": ["write"]}


def watched(args, work, way):
    state = work / "state"
    pin = PIN + ["1"] if args.pin else []
    if not WAYS[way]:
        return pin
    return [*pin, args.outfox, "harm", "syscalls", state, *WAYS[way], "--"]


def arm(args, work, way):
    if "rule" in way:
        subprocess.run([args.outfox, "harm", "syscalls-arm", work / "state", "it", "call=write error=EIO path=/nowhere"], check=True)


def loop(args, work, way):
    """Nanoseconds for each write; the rule is armed while it runs."""
    times = 300000 if "write" in way else 3000000
    process = subprocess.Popen([*watched(args, work, way), work / "loop", str(times)], stdout=subprocess.PIPE, text=True)
    arm(args, work, way)
    said = process.communicate()[0]
    return float(said)


def redis(args, work, way):
    """SET by 8 clients: requests per second."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = str(one.getsockname()[1])
    server = subprocess.Popen([*watched(args, work, way), "redis-server", "--port", port, "--save", "", "--dir", work],
                              stdout=subprocess.DEVNULL)
    try:
        while subprocess.run(["redis-cli", "-p", port, "ping"], capture_output=True, check=False).stdout != b"PONG\n":
            time.sleep(0.05)
        arm(args, work, way)
        said = subprocess.run([*(PIN + ["0"] if args.pin else []), "redis-benchmark", "-p", port, "-c", "8", "-n", "100000", "-t", "set", "--csv"],
                              capture_output=True, text=True, check=True).stdout
    finally:
        server.terminate()
        server.wait()
    return float(re.search(r'"SET","([\d.]+)"', said)[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--outfox", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--pin", action="store_true")
    parser.add_argument("--json")
    args = parser.parse_args()
    work = Path(tempfile.mkdtemp())
    (work / "loop.c").write_text(LOOP, encoding="utf-8")
    subprocess.run(["cc", "-O2", "-o", work / "loop", work / "loop.c"], check=True)
    parts = {"write": loop, **({"redis": redis} if shutil.which("redis-benchmark") else {})}
    figures = {part: {way: [] for way in WAYS} for part in parts}
    for _ in range(args.rounds):
        for part, measure in parts.items():
            for way in WAYS:
                (work / "state").unlink(missing_ok=True)
                figures[part][way].append(measure(args, work, way))
    for part, ways in figures.items():
        for way, found in ways.items():
            unit = "ns per write" if part == "write" else "SET per second"
            print(f"{part:6} {way:42} {statistics.median(found):10.0f} {unit}")
    if args.json:
        Path(args.json).write_text(json.dumps(figures) + "\n", encoding="utf-8")
    shutil.rmtree(work)


main()
