#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many trials policies need until they find something: outfox trials run, over seeds, as a table.

  bench/trials.py --until "fdatasync*lasts: master" --policies bsrr,random --seeds 10 examples/native/redis/trials.yaml

Each run stops at the first suspicious trial whose line has the text. A run that does not find it within
--max-trials counts as one that needs more. The median of such runs may be a bound alone: "> 150".
"""
import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


def one(args, policy, seed):
    """The trials that the policy needed with this seed (None: more than there may be), and seconds."""
    with tempfile.TemporaryDirectory(prefix="outfox-bench-", dir=args.tmp) as work:
        file = Path(work, "trials.yaml")
        text = "".join(line for line in Path(args.file).read_text().splitlines(True)
                       if line.split(":")[0] not in ("control", "repeat", "max-trials", "policies"))
        file.write_text(text + "\ncontrol: 0\nrepeat: 0\n")
        for entry in Path(args.file).resolve().parent.iterdir():
            if entry.name != "trials.yaml" and not entry.name.startswith("."):
                Path(work, entry.name).symlink_to(entry)
        begun = time.monotonic()
        done = subprocess.run([args.outfox, "trials", "run", "-q", "--policy", policy, "--seed", str(seed), "--json",
                               "--max-trials", str(args.max_trials), "--until", args.until,
                               *(["-j", str(args.jobs)] if args.jobs else []), str(file)],
                              cwd=work, capture_output=True, text=True, check=False)
        took = time.monotonic() - begun
        if done.returncode not in (0, 1, 4):
            return policy, seed, None, 0, took, done.stderr.strip().splitlines()[-1:] or ["?"]
        doc = json.loads(done.stdout)
        leg = doc["policies"][0]
        found = leg["end"] == "what was looked for is found"
        return policy, seed, leg["trials"] if found else None, len(doc["trials"]), took, None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--until", required=True)
    parser.add_argument("--outfox", default="build/outfox")
    parser.add_argument("--policies", default="bsrr,random")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--max-trials", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=0, help="trials at a time; default: the file's")
    parser.add_argument("--runs", type=int, default=1, help="runs of outfox at a time")
    parser.add_argument("--tmp", default=None)
    parser.add_argument("--out", default=None, help="a line of JSON for each run")
    args = parser.parse_args()
    args.outfox = str(Path(args.outfox).resolve())
    wanted = [(policy, seed) for seed in range(1, args.seeds + 1) for policy in args.policies.split(",")]
    seen = {policy: [] for policy in args.policies.split(",")}
    rate = []
    with ThreadPoolExecutor(args.runs) as pool:
        for policy, seed, n, trials, took, wrong in pool.map(lambda w: one(args, *w), wanted):
            if wrong:
                print(f"{policy} {seed}: {wrong[0]}", file=sys.stderr)
                continue
            seen[policy].append(n)
            rate.append(60 * trials / took)
            print(f"{policy} seed {seed}: {n or f'> {args.max_trials}'} trials, {took:.0f} s, {rate[-1]:.0f} per minute", flush=True)
            if args.out:
                with open(args.out, "a", encoding="utf-8") as out:
                    print(json.dumps({"policy": policy, "seed": seed, "trials": n, "most": args.max_trials, "took_s": took}), file=out)
    print(f"\n{'policy':12} {'seeds':>5} {'found':>5} {'median':>8} {'least':>6} {'most':>6}")
    for policy, all_n in seen.items():
        counts = sorted(n or args.max_trials + 1 for n in all_n)
        if counts:
            words = [f"> {args.max_trials}" if n > args.max_trials else f"{n:g}" for n in
                     (statistics.median(counts), counts[0], counts[-1])]
            print(f"{policy:12} {len(all_n):5} {sum(n is not None for n in all_n):5} {words[0]:>8} {words[1]:>6} {words[2]:>6}")
    if rate:
        print(f"{statistics.median(rate):.0f} trials per minute, median")


if __name__ == "__main__":
    main()
