#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What looking at campaigns costs.

    bench/page.py --outfox build/outfox [--json FILE] [--only report,watch] [--runs 100000]

Figures:

  report of N runs      a simulated system of eight calls (served as real servers) explored in so many
                        runs; then how long `outfox report --html` takes beyond `outfox report`, the peak
                        of its memory, and the size of the file. In Chromium: from the begin of loading to
                        the first paint with content, to the overview with its numbers, and to the list of
                        all runs (medians of five)
  report of netflix     its size
  watched / unwatched   runs per second of a campaign with a page that watches it, over those of one that
                        nobody watches, measured in turns: the median of the rounds. The page is a client
                        that does what the page in a browser does (events, and the documents of the
                        view every three seconds), and, apart, the page in Chromium itself, which needs
                        processor time of the same machine

A benchmark measures, tests judge: the exit code is 0 whatever the figures.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
CALLS = 8
MODES = "500,502,503,504"
BROWSER = TOP / "ui/browser/bench.mjs"
figures = []


def report(name, value, unit, target=None):
    figures.append({"name": name, "value": round(value, 3), "unit": unit, "target": target})
    print(f"  {name:44} {value:12.2f} {unit:10} {'target ' + target if target else ''}", flush=True)


def folder_of(name, text):
    """A folder with a simulated system and a file that explores it."""
    folder = Path(tempfile.mkdtemp(prefix="outfox-bench-"))
    (folder / "system.yaml").write_text(text, encoding="utf-8")
    (folder / "outfox.yaml").write_text(f"version: 1\nname: {name}\nsimulate: system.yaml\n", encoding="utf-8")
    return folder


def wide():
    """One service that makes eight calls and bears that any of them fails: 390,625 combinations."""
    calls = "".join(f"      - {{ call: leaf{i} GET /v{i}, timeout: 1s }}\n" for i in range(CALLS))
    leaves = "".join(f"  leaf{i}: {{ GET /v{i}: {{ reply: 200 }} }}\n" for i in range(CALLS))
    return (f"system: wide\nservices:\n  front:\n    GET /:\n{calls}      - {{ reply: 200 }}\n{leaves}"
            "scenarios:\n  ask:\n    request: front GET /\n    expect:\n"
            "      - { when: faults < 6, then: status == 200, say: it fails }\n")


def outfox(args, folder, *words):
    """Its seconds, and the peak of its memory in MiB."""
    started = time.monotonic()
    child = subprocess.Popen([args.outfox, *words], cwd=folder, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
    _, _, usage = os.wait4(child.pid, 0)
    return time.monotonic() - started, usage.ru_maxrss / 1024


def in_browser(*words):
    return json.loads(subprocess.check_output(["node", BROWSER, *map(str, words)], text=True, timeout=300))


def bench_report(args):
    folder = folder_of("wide", wide())
    name = f"{args.runs} runs"
    seconds, memory = outfox(args, folder, "run", "-q", "--modes", MODES, "--max-runs", str(args.runs), "--jobs", "4")
    report(f"{name}: exploring them", seconds, "s")
    plain_s, plain_mib = outfox(args, folder, "report")
    html_s, html_mib = outfox(args, folder, "report", "--html", "report.html")
    report(f"{name}: report", plain_s, "s")
    report(f"{name}: report with --html", html_s, "s")
    report(f"{name}: peak of memory, exploring", memory, "MiB")
    report(f"{name}: peak of memory, report", plain_mib, "MiB")
    report(f"{name}: peak of memory, --html", html_mib, "MiB")
    report(f"{name}: size of the file", (folder / "report.html").stat().st_size / 1e6, "MB", "<= 15")
    seen = in_browser("report", folder / "report.html")
    report(f"{name}: first paint", seen["paint"], "ms", "< 3000")
    report(f"{name}: overview", seen["overview"], "ms")
    report(f"{name}: list of runs, filtered", seen["runs"], "ms")
    netflix = folder_of("netflix", (TOP / "examples/corpus/netflix.yaml").read_text(encoding="utf-8"))
    outfox(args, netflix, "run", "-q", "--html", "report.html")
    report("netflix: size of the file", (netflix / "report.html").stat().st_size / 1e6, "MB", "<= 2")


def rate(args, watch):
    """Runs per second of a campaign of 4,000 runs, with somebody who watches or nobody."""
    folder = folder_of("wide", wide())
    words = ["run", "--modes", MODES, "--max-runs", "4000", "--json", "report.json", "--ui"]
    child = subprocess.Popen([args.outfox, *words], cwd=folder, stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, text=True)
    address = None
    while not address:
        line = child.stderr.readline()
        address = re.search(r"http://[0-9.:]+/", line)
        if not line:
            sys.exit("outfox run --ui did not say where its page is")
    watcher = subprocess.Popen(["node", BROWSER, watch, address[0]], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL) if watch else None
    child.stderr.read()
    child.wait(300)
    if watcher:
        watcher.kill()
        watcher.wait()
    scenario = json.loads((folder / "report.json").read_text(encoding="utf-8"))["scenarios"][0]
    return scenario["runs_per_second"]


def bench_watch(args):
    for watch, target in (("client", ">= 0.95"), ("page", None)):
        ratios, rates = [], []
        for turn in range(args.rounds):
            pair = {side: rate(args, side) for side in ((None, watch) if turn % 2 else (watch, None))}
            ratios.append(pair[watch] / pair[None])
            rates.append(pair[None])
        if watch == "client":
            report("unwatched: runs per second", statistics.median(rates), "1/s")
        report(f"watched / unwatched, by a {watch}", statistics.median(ratios), "", target)


PARTS = {"report": bench_report, "watch": bench_watch}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--outfox", type=lambda p: str(Path(p).resolve()), required=True)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--only", default=",".join(PARTS))
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    for part in args.only.split(","):
        PARTS[part](args)
    if args.json:
        args.json.write_text("".join(json.dumps(f) + "\n" for f in figures), encoding="utf-8")


if __name__ == "__main__":
    main()
