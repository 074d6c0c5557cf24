#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What campaigns on real sockets cost.

    bench/campaign.py --outfox build/outfox --peers build/bench/peers [--json FILE] [--only PART]

Each system is served by `outfox sim serve` as real servers. Figures:

  runs per second       (runs of a long campaign - runs of a short one) / (their times): start-up and
                        the learning runs, which wait on purpose, are left out
  run / bare            the time of one fault-free run of a campaign (median of what the store has),
                        over the time of the same request without proxies, by the campaigns' own
                        client: as the system schedules it, and all on one CPU, where a campaign on
                        a simulated system keeps itself
  fresh / reuse         runs per second with a connection for every call, over those with kept ones
                        (the key `connections`), measured in turns: the median of the rounds. Of
                        examples/real/flask-plain too, where Flask is installed
  netflix               the whole of it, start-up included
  memory                peak of the resident set of outfox. The search remembers what it has seen,
                        so it grows with what is explored; runs as such leave nothing behind, which
                        as many fault-free checks between them show
  judging               CPU time of outfox itself (the services are another process), with oracles
                        over without (--oracle all=off), run in turns: the median of the rounds'
                        ratios, and the smallest time of each over the other. And instructions in
                        user space, as valgrind counts them, which do not depend on who else runs

A benchmark measures, tests judge: the exit code is 0 whatever the figures.
"""
import argparse
import json
import os
import re
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
PATTERNS = ["retry", "fallback-value", "fallback-service", "propagation"]
MANY = {"modes": ["400", "401", "403", "404", "429", "500", "501", "502", "503", "504"]}
NETFLIX = TOP / "examples/corpus/netflix.yaml"
figures = []


def report(name, value, unit, target=None):
    figures.append({"name": name, "value": round(value, 3), "unit": unit, "target": target})
    print(f"  {name:44} {value:12.2f} {unit:10} {'target ' + target if target else ''}", flush=True)


def ended(child):
    """Waits for it: its own CPU time in seconds, which that of its children is no part of, and its
    usage. Of a process that has ended and was not waited for yet the system still tells."""
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    with open(f"/proc/{child.pid}/schedstat", encoding="ascii") as file:
        cpu_s = int(file.read().split()[0]) / 1e9
    _, _, usage = os.wait4(child.pid, 0)
    return cpu_s, usage


class Campaign:
    """One run of `outfox run` in a directory of its own."""

    def __init__(self, outfox, system, *words, config=None):
        self.folder = Path(tempfile.mkdtemp(prefix="outfox-bench-"))
        file = {"version": 1, "name": system.stem, "simulate": str(system), **(config or {})}
        (self.folder / "outfox.yaml").write_text(json.dumps(file), encoding="utf-8")
        started = time.monotonic()
        child = subprocess.Popen([outfox, "run", "-q", "--json", "report.json", *words],
                                 cwd=self.folder, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        self.cpu_s, usage = ended(child)
        self.seconds = time.monotonic() - started
        self.peak_kib = usage.ru_maxrss
        with open(self.folder / "report.json", encoding="utf-8") as document:
            self.report = json.load(document)["scenarios"][0]
        self.runs = self.report["runs"]

    def fault_free_ns(self):
        """Of the checks, which are runs like any other."""
        store = sqlite3.connect(self.folder / ".outfox/campaign.db")
        rows = store.execute("select took_ns from run where faultload = 'none'").fetchall()
        store.close()
        return statistics.median(row[0] for row in rows)


def bare_ns(outfox, peers, system, path, where=()):
    """The same request without proxies; where: how servers and client are started."""
    server = subprocess.Popen([*where, outfox, "sim", "serve", str(system)],
                              stdout=subprocess.PIPE, text=True)
    try:
        urls = {}
        while "front" not in urls:
            match = re.match(r"(\S+) http://(\S+)", server.stdout.readline())
            urls[match[1]] = match[2]
        made = [float(subprocess.check_output(
            [*where, peers / "bare", urls["front"], path, "2000"], text=True))
            for _ in range(5)]
        return statistics.median(made)
    finally:
        server.terminate()
        server.wait(10)


OFF = ["--oracle", "all=off"]
MORE_MODES = "500,502,503,504,reset,hold"


def explore_cpu_s(outfox, system, words):
    """CPU time of exploring in memory."""
    command = [outfox, "sim", "explore", "-q", "--json", str(system), "--modes", MORE_MODES, *words]
    return ended(subprocess.Popen(command, stdout=subprocess.DEVNULL))[0]


def report_judging(name, cpu_s, rounds, target=None):
    """cpu_s(words): the CPU time with these options."""
    with_s, without_s = [], []
    for turn in range(rounds):
        sides = [(with_s, []), (without_s, OFF)]
        for times, words in sides if turn % 2 else reversed(sides):
            times.append(cpu_s(words))
    ratios = [a / b for a, b in zip(with_s, without_s)]
    report(f"{name}: CPU time, judged", statistics.median(with_s) * 1000, "ms")
    report(f"{name}: CPU time, not judged", statistics.median(without_s) * 1000, "ms")
    report(f"{name}: judged / not judged", statistics.median(ratios), "", target)
    report(f"{name}: the same of the fastest", min(with_s) / min(without_s), "", target)


def bench_speed(args):
    for name in PATTERNS:
        system = TOP / f"examples/patterns/{name}.yaml"
        checks = {"search": {"check-every": 10}}
        short = Campaign(args.outfox, system, "--max-runs", "200", config={**MANY})
        long = Campaign(args.outfox, system, "--max-runs", "3000", config={**MANY})
        if long.runs > short.runs + 100:
            rate = (long.runs - short.runs) / (long.seconds - short.seconds)
            report(f"{name}: runs per second", rate, "1/s", ">= 400")
        timed = Campaign(args.outfox, system, "--max-runs", "1000", config={**MANY, **checks})
        free = bare_ns(args.outfox, args.peers, system, "/page")
        bound = bare_ns(args.outfox, args.peers, system, "/page", ["taskset", "-c", "0"])
        report(f"{name}: fault-free run", timed.fault_free_ns() / 1000, "us")
        report(f"{name}: without proxies", free / 1000, "us")
        report(f"{name}: without proxies, on one CPU", bound / 1000, "us")
        report(f"{name}: run / bare", timed.fault_free_ns() / free, "", "<= 2")
        report(f"{name}: run / bare on one CPU", timed.fault_free_ns() / bound, "", "<= 2")
    whole = Campaign(args.outfox, NETFLIX)
    report("netflix exact: runs", whole.runs, "", "2440")
    report("netflix exact: seconds", whole.seconds, "s", "<= 12")


class RealCampaign:
    """One run of `outfox run` on a copy of an example with real services."""

    def __init__(self, outfox, example, connections, *words):
        with tempfile.TemporaryDirectory(prefix="outfox-bench-") as folder:
            shutil.copytree(example, folder, dirs_exist_ok=True)
            with open(Path(folder, "outfox.yaml"), "a", encoding="utf-8") as file:
                file.write(f"\nconnections: {connections}\n")
            subprocess.run([outfox, "run", "-q", *words], cwd=folder, check=False,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            store = sqlite3.connect(Path(folder, ".outfox/campaign.db"))
            times = [row[0] for row in store.execute("select wall_ns from run order by wall_ns")]
            store.close()
        steps = [late - early for early, late in zip(times, times[1:])]
        self.rate = 1e9 / statistics.median(steps) if steps else 0


def simulated_rate(outfox, system, connections):
    made = [Campaign(outfox, system, "--max-runs", runs,
                     config={**MANY, "connections": connections}) for runs in ("200", "1500")]
    return (made[1].runs - made[0].runs) / (made[1].seconds - made[0].seconds)


def bench_connections(args):
    """What it costs that no connection is used twice."""
    real = TOP / "examples/real/flask-plain"
    words = ["--scenario", "plan", "--modes", "500,502,503,504,reset"]
    systems = [("shop", lambda how: simulated_rate(args.outfox, TOP / "examples/shop/shop.yaml", how),
                ">= 600"),
               ("netflix", lambda how: simulated_rate(args.outfox, NETFLIX, how), None)]
    if subprocess.run([sys.executable, "-c", "import flask, requests"], check=False,
                      stderr=subprocess.DEVNULL).returncode == 0:
        systems.append(("flask-plain",
                        lambda how: RealCampaign(args.outfox, real, how, *words).rate, None))
    for name, rate, target in systems:
        rates = {"fresh": [], "reuse": []}
        for turn in range(args.rounds):
            for how in sorted(rates, reverse=turn % 2):
                rates[how].append(rate(how))
        ratios = [a / b for a, b in zip(rates["fresh"], rates["reuse"])]
        report(f"{name}: runs per second, fresh", statistics.median(rates["fresh"]), "1/s", target)
        report(f"{name}: runs per second, reuse", statistics.median(rates["reuse"]), "1/s")
        report(f"{name}: fresh / reuse", statistics.median(ratios), "",
               None if target or name == "netflix" else ">= 0.9")


def campaign_instructions(outfox, system, words):
    """What valgrind counts in outfox itself, in user space."""
    with tempfile.TemporaryDirectory(prefix="outfox-bench-") as folder:
        file = {"version": 1, "name": system.stem, "simulate": str(system)}
        Path(folder, "outfox.yaml").write_text(json.dumps(file), encoding="utf-8")
        child = subprocess.Popen(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                                  outfox, "run", "-q", *words], cwd=folder, text=True,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        said = child.communicate()[1]
    return int(re.search(rf"=={child.pid}== Collected : (\d+)", said)[1])


def bench_judging(args):
    report_judging("netflix", lambda words: Campaign(args.outfox, NETFLIX, *words).cpu_s,
                   args.rounds, "<= 1.05")
    if shutil.which("valgrind"):
        counts = [campaign_instructions(args.outfox, NETFLIX, words) for words in ([], OFF)]
        report("netflix: instructions, judged / not", counts[0] / counts[1], "", "<= 1.05")
    report_judging("netflix in memory", lambda words: explore_cpu_s(args.outfox, NETFLIX, words),
                   args.rounds)


def bench_memory(args):
    system = TOP / "examples/patterns/retry.yaml"
    early = Campaign(args.outfox, system, "--max-runs", str(args.runs // 10), config=MANY)
    late = Campaign(args.outfox, system, "--max-runs", str(args.runs), config=MANY)
    half = Campaign(args.outfox, system, "--max-runs", str(args.runs // 2),
                    config={**MANY, "search": {"check-every": 0}})
    checked = Campaign(args.outfox, system, "--max-runs", str(args.runs // 2),
                       config={**MANY, "search": {"check-every": 1}})
    report(f"peak memory after {early.runs} runs", early.peak_kib / 1024, "MiB")
    report(f"peak memory after {late.runs} runs", late.peak_kib / 1024, "MiB")
    report("memory per run that is explored",
           (late.peak_kib - early.peak_kib) * 1024 / max(1, late.runs - early.runs), "bytes")
    report(f"memory per run that is not, over {half.runs}",
           (checked.peak_kib - half.peak_kib) * 1024 / max(1, half.runs), "bytes", "flat")
    report("time per run, late over early",
           (late.seconds - early.seconds) / max(1, late.runs - early.runs) /
           (early.seconds / early.runs), "", "<= 1.2")


PARTS = {"speed": bench_speed, "connections": bench_connections, "judging": bench_judging, "memory": bench_memory}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--outfox", type=Path, required=True)
    parser.add_argument("--peers", type=Path, required=True)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--only", choices=PARTS, help="this part alone")
    parser.add_argument("--runs", type=int, default=100000, help="of the longest campaign")
    parser.add_argument("--rounds", type=int, default=9, help="of judging and connections")
    args = parser.parse_args()
    args.outfox, args.peers = args.outfox.resolve(), args.peers.resolve()
    print("campaigns on real sockets, one job")
    for name, part in PARTS.items():
        if args.only in (None, name):
            part(args)
    if args.json:
        args.json.write_text("".join(json.dumps(figure) + "\n" for figure in figures),
                             encoding="utf-8")
    return 0


sys.exit(main())
