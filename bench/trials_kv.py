#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many of the planted bugs of examples/native/kv each policy finds, in how many trials.

    bench/trials_kv.py [--trials error=60,delay=25,short=15] [--seeds 10] [--jobs 4] [--policies bsrr,random]
                       [--fixed] [--out FILE]
    bench/trials_kv.py --from FILE                 the table of what was kept

Builds the store with `outfox cc`, then runs `outfox trials run` for each policy and seed, in equal numbers of trials, and
counts a bug as found by the first trial that is suspicious and whose fault is one of that bug's: by
its site, its state and what was seen, as the table of BUGS.md has it (RULES). Suspicious trials of no bug
are counted as others. --fixed does the same with the repaired store, where all are others. Prints a
table in Markdown; --out keeps all trials, a line of JSON each.
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
OUTFOX = os.environ.get("OUTFOX", TOP / "build/outfox")
SOURCES = TOP / "examples/native/kv"

# bug: act, function of the site, function in the stack, line of the state, what was seen; all must be found.
# The first that fits is it: 6, 7 and 9 to 11 are told by what was seen.
RULES = [
    (1, "error", "batch_sync", "", "", "state=degraded|ERR degraded"),
    (2, "error", "sweep|writer_push", "", "", "GET short"),
    (3, "delay", "", "", "send_full", "SET .*takes too long"),
    (4, "error", "temp_sync", "snapshot_thread", "", "SAVE"),
    (5, "error", "temp_rename", "snapshot_thread", "", "SAVE"),
    (12, "error|short", "temp_|write_all|bytes_add", "receiver_thread", "take_full|receive", "node 1 on disk"),
    (8, "short", "segment_begin", "", "", "on disk|not healthy"),
    (9, "error", "peer_start", "", "", "not healthy|node 1 on disk"),
    (11, "error", "", "receiver_thread", "CATCHING_UP", "node 2 on disk|GET missed"),
    (10, "error", "segment_open|segments_list", "sender_thread", "", "state=(down|joining)|node 2 on disk"),
    (7, "error|short", "", "receiver_thread", "FULL", "node 1 is not healthy.*state=live"),
    (6, "", "", "", "", "node 2 is not healthy.*state=live"),
]
BUGS = sorted(rule[0] for rule in RULES)


def source_line(place):
    try:
        return (SOURCES / place["file"]).read_text().splitlines()[place["line"] - 1]
    except (OSError, IndexError, KeyError):
        return ""


def bug_of(trial):
    """0: none of them."""
    fault = trial["fault"]
    seen = " ".join(symptom["text"] for symptom in trial["symptoms"]) + " " + trial.get("said", "")
    stack = " ".join(frame["function"] for frame in fault["stack"])
    state = source_line(fault["state"])
    for bug, act, function, caller, where, sight in RULES:
        if (re.search(act, fault["act"]) and re.search(function, fault["site"]["function"]) and
                re.search(caller, stack) and re.search(where, state) and re.search(sight, seen)):
            return bug
    return 0


def build(fixed):
    out = "build/fixed" if fixed else "build"
    subprocess.run(["make", "-s", "-j2", "-C", SOURCES, f"CC={OUTFOX} cc", f"OUT={out}", *(["FIXED=1"] if fixed else [])],
                   check=True, env={**os.environ, "OUTFOX_CC_MEMORY": "1"})
    return out


def write_file(folder, out, act, trials):
    """The example's file with one experiment, and without repetitions."""
    text = (SOURCES / "trials.yaml").read_text().replace("build/kv", str(SOURCES / out / "kv"))
    text = text.replace("dir: .", f"dir: {SOURCES}")
    wanted = {"error": "error: true", "delay": "delay: 2s", "short": "short: true"}[act]
    text = re.sub(r"experiments: .*", f"experiments: {{ {wanted} }}", text)
    text = re.sub(r"max-trials: .*", f"max-trials: {trials}", text) + "repeat: 0\n"
    path = folder / "trials.yaml"
    path.write_text(text)
    return path


def run(policy, seed, act, trials, out, jobs):
    """All trials with a fault, or that were to have one, in order; and seconds."""
    with tempfile.TemporaryDirectory(prefix="trials-kv-") as name:
        folder = Path(name)
        started = time.monotonic()
        done = subprocess.run([OUTFOX, "trials", "run", "-j", str(jobs), "--policy", policy, "--seed", str(seed),
                               write_file(folder, out, act, trials)], cwd=folder, capture_output=True, text=True, check=False)
        took = time.monotonic() - started
        journal = folder / ".outfox/trials/kv/journal.jsonl"
        if not journal.exists():
            sys.exit(f"no trials: {done.stderr[-800:]}")
        found = [json.loads(line) for line in journal.read_text().splitlines()]
    return sorted((t for t in found if t["purpose"] == "explore"), key=lambda t: t["number"]), took


def campaign(policy, seed, plan, out, jobs, keep):
    """Bugs with the number of the trial (of its experiment) that found them first; others; trials; seconds."""
    first, others, count, seconds = {}, 0, 0, 0.0
    for act, trials in plan.items():
        made, took = run(policy, seed, act, trials, out, jobs)
        seconds += took
        count += len(made)
        for number, trial in enumerate(made, 1):
            suspicious = trial["verdict"] == "suspicious" and "fault" in trial
            bug = bug_of(trial) if suspicious else None
            if bug:
                first.setdefault(bug, number)
            others += bug == 0
            if keep:
                print(json.dumps({"policy": policy, "seed": seed, "act": act, "number": number, "bug": bug,
                                  "verdict": trial["verdict"], "fault": trial.get("fault", {}).get("what"),
                                  "seen": [s["text"][:200] for s in trial["symptoms"]][:3]}), file=keep, flush=True)
    return first, others, count, seconds


def read_kept(path):
    """What --out has written: as campaigns give it, without seconds."""
    campaigns, plan = {}, {}
    for trial in map(json.loads, Path(path).read_text().splitlines()):
        first, counts = campaigns.setdefault((trial["policy"], trial["seed"]), ({}, [0, 0]))
        plan[trial["act"]] = max(plan.get(trial["act"], 0), trial["number"])
        counts[0] += trial["bug"] == 0
        counts[1] += 1
        if trial["bug"]:
            first.setdefault(trial["bug"], trial["number"])
    results = {}
    for (policy, _), (first, (others, count)) in campaigns.items():
        results.setdefault(policy, []).append((first, others, count, 0.0))
    return results, plan


def table(results, plan):
    print(f"\nTrials: {', '.join(f'{n} of {act}' for act, n in plan.items())}, for each seed.\n")
    print("| policy | seeds | bugs, median (least to most) | by all seeds together | others, median | trials a minute |")
    print("|---|---|---|---|---|---|")
    for policy, runs in results.items():
        found = [len(first) for first, *_ in runs]
        together = sorted(set().union(*(first for first, *_ in runs)))
        rate = sum(r[2] for r in runs) / max(sum(r[3] for r in runs), 1) * 60
        print(f"| {policy} | {len(runs)} | {statistics.median(found):g} ({min(found)} to {max(found)}) | "
              f"{len(together)}: {', '.join(map(str, together))} | {statistics.median(r[1] for r in runs):g} | {rate:.0f} |")
    print("\nIn how many seeds each bug was found, and by which trial of its experiment, median:\n")
    print("| bug | " + " | ".join(results) + " |")
    print("|---|" + "---|" * len(results))
    for bug in BUGS:
        cells = []
        for runs in results.values():
            at = [first[bug] for first, *_ in runs if bug in first]
            cells.append(f"{len(at)} of {len(runs)}, {statistics.median(at):g}" if at else "-")
        print(f"| {bug} | " + " | ".join(cells) + " |")


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--trials", default="error=60,delay=25,short=15")
    options.add_argument("--seeds", type=int, default=10)
    options.add_argument("--jobs", type=int, default=4)
    options.add_argument("--policies", default="exhaustive,random,new-state,bsrr")
    options.add_argument("--fixed", action="store_true")
    options.add_argument("--out")
    options.add_argument("--from", dest="kept")
    asked = options.parse_args()
    if asked.kept:
        table(*read_kept(asked.kept))
        return
    plan = {act: int(n) for act, n in (word.split("=") for word in asked.trials.split(","))}
    keep = open(asked.out, "a", encoding="utf-8") if asked.out else None
    out = build(asked.fixed)
    results = {policy: [] for policy in asked.policies.split(",")}
    for seed in range(1, asked.seeds + 1):
        for policy, runs in results.items():
            runs.append(campaign(policy, seed, plan, out, asked.jobs, keep))
            print(f"{policy}, seed {seed}: {dict(sorted(runs[-1][0].items()))}, others {runs[-1][1]}, "
                  f"{runs[-1][2]} trials in {runs[-1][3]:.0f} s", file=sys.stderr, flush=True)
    table(results, plan)


if __name__ == "__main__":
    main()
