#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a disk of a failure plan's node costs while nothing fails.

    bench/disk.py --outfox build/outfox [--json FILE] [--only redis,postgres,file] [--rounds 5]

Redis that syncs its log before each answer (SET, 8 clients), PostgreSQL (pgbench with 8 clients: its own
mixture, and SELECT alone) and a file of 256 MiB, written and synced: on a directory, and on a disk of ours
beside it whose files are on the same file system. A round visits both one after the other, beginning with
another one each time. A figure is the median of the rounds; the share, that of both in one round.

A benchmark measures, tests judge: the exit code is 0 whatever the figures. Root and /dev/fuse.
"""
import argparse
import json
import os
import re
import shutil
import socket
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

AS = ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups"]
WITHIN_S = 60


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def await_that(holds):
    until = time.monotonic() + WITHIN_S
    while not holds():
        if time.monotonic() > until:
            raise TimeoutError("it did not start in time")
        time.sleep(0.05)


def succeeds(*words):
    return subprocess.run(words, capture_output=True, check=False).returncode == 0


def said(pattern, *words):
    """The last number that a command prints in such a place."""
    out = subprocess.run(words, capture_output=True, text=True, check=True, timeout=10 * WITHIN_S).stdout
    return float(re.findall(pattern, out)[-1])


def redis(place, seconds):
    port = str(free_port())
    where = Path(tempfile.mkdtemp(dir=place))
    server = subprocess.Popen(["redis-server", "--port", port, "--dir", where, "--save", "", "--appendonly", "yes",
                               "--appendfsync", "always"], stdout=subprocess.DEVNULL)
    try:
        await_that(lambda: succeeds("redis-cli", "-p", port, "ping"))
        words = ("redis-benchmark", "-p", port, "-t", "set", "-c", "8", "-q", "-n")
        pattern = r"([\d.]+) requests per second"
        speed = said(pattern, *words, "2000")
        return {"SET": said(pattern, *words, str(int(speed * seconds) + 1))}
    finally:
        server.kill()
        server.wait()


def postgres(place, seconds):
    tools = sorted(Path("/usr/lib/postgresql").glob("*/bin"))[-1]
    data, port = place / "pg", str(free_port())
    pgbench = [*AS, tools / "pgbench", "-h", "/tmp", "-p", port]
    is_new = not data.exists()
    if is_new:
        data.mkdir()
        shutil.chown(data, "postgres", "postgres")
        subprocess.run([*AS, tools / "initdb", "-A", "trust", "-N", "-D", data], check=True, cwd="/",
                       stdout=subprocess.DEVNULL)
    server = subprocess.Popen([*AS, tools / "postgres", "-D", data, "-p", port, "-k", "/tmp", "-h", ""], cwd="/",
                              stderr=subprocess.DEVNULL)
    try:
        await_that(lambda: succeeds(tools / "pg_isready", "-q", "-h", "/tmp", "-p", port))
        if is_new:
            subprocess.run([*pgbench, "-i", "-q", "-s", "5", "postgres"], check=True, capture_output=True, cwd="/")
        words = (*pgbench, "-c", "8", "-T", str(seconds), "postgres")
        return {"pgbench": said(r"tps = ([\d.]+)", *words), "SELECT": said(r"tps = ([\d.]+)", *words, "-S")}
    finally:
        server.terminate()
        server.wait()


def file(place, _):
    path, piece = place / "file", bytes(1 << 20)
    begun = time.monotonic()
    with open(path, "wb") as out:
        for _ in range(256):
            out.write(piece)
        out.flush()
        os.fsync(out.fileno())
    took = time.monotonic() - begun
    path.unlink()
    return {"MB/s, written and synced": 256 * 1.048576 / took}


PARTS = {"redis": redis, "postgres": postgres, "file": file}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--outfox", required=True, type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--only", default=",".join(PARTS))
    parser.add_argument("--rounds", type=int, default=int(os.environ.get("BENCH_ROUNDS", 5)))
    parser.add_argument("--seconds", type=int, default=int(os.environ.get("BENCH_SECONDS", 5)))
    args = parser.parse_args()
    top = Path(tempfile.mkdtemp(prefix="outfox-bench-disk-"))
    top.chmod(0o755)
    direct, at = top / "direct", top / "disk"
    direct.mkdir()
    disk = subprocess.Popen([args.outfox.resolve(), "harm", "disk", at], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        line = disk.stdout.readline()
        if not line.startswith("outfox-on "):
            print("skip: no disk can be mounted here:", line)
            return
        rows = {}
        for part in args.only.split(","):
            for number in range(args.rounds):
                places = {"direct": direct, "disk": at}
                order = ("direct", "disk") if number % 2 else ("disk", "direct")
                found = {name: PARTS[part](places[name], args.seconds) for name in order}
                for what in found["disk"]:
                    rows.setdefault(f"{part}, {what}", []).append((found["direct"][what], found["disk"][what]))
        for what, pairs in rows.items():
            figures = {"what": what, "direct": statistics.median(pair[0] for pair in pairs),
                       "disk": statistics.median(pair[1] for pair in pairs),
                       "share": statistics.median(pair[1] / pair[0] for pair in pairs)}
            print(f"{what:36} {figures['direct']:12.0f} {figures['disk']:12.0f} {figures['share']:8.2f}", flush=True)
            if args.json:
                with args.json.open("a", encoding="utf-8") as out:
                    out.write(json.dumps(figures) + "\n")
    finally:
        disk.stdin.close()
        disk.wait()
        shutil.rmtree(top, ignore_errors=True)


main()
