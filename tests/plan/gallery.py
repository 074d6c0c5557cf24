# SPDX-License-Identifier: Apache-2.0
"""What the tests of examples/plans/SYSTEM share: each plan is run, and has the verdict that docs/plans-gallery.md says.

A test has a table: plan, the expectations that do not hold with its faults, whether it is quick. The quick ones run
in `make test`, all of them and ten controls in `make soak`. Several run side by side, each in its own network.
"""
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cli"))
from harness import TOP, VOLUME, checks, run

PLANS = TOP / "examples/plans"
CONTROLS = 10  # in soak


class Plan(NamedTuple):
    name: str
    broken: tuple = ()  # names of the expectations that do not hold; none: all hold
    quick: bool = False


def networks():
    """Can plans have a network here?"""
    return (os.geteuid() == 0 and os.path.exists("/dev/net/tun")
            and not subprocess.run(["unshare", "-n", "true"], check=False, capture_output=True).returncode)


def carry_out(system, plan, number):
    """Runs a plan in a directory of its own; what came of it, and what is not as it should be."""
    place = Path(f"{plan.name}-{number}").resolve()
    place.mkdir()
    path = PLANS / system / f"{plan.name}.yaml"
    command = f'cd "{place}" && exec "$OUTFOX" plan run -q --json "{path}"'
    return plan, place, subprocess.run(["/bin/sh", "-c", command], check=False, capture_output=True, text=True,
                                       env={**os.environ, "XDG_STATE_HOME": str(place)}, timeout=600)


def look_at(plan, place, done):
    """The verdict is that of the table, and only what is known to break is broken."""
    try:
        result = json.loads(done.stdout)
    except ValueError:
        checks.that(False, f"{plan.name}: a result", done)
        return
    said = [(one["name"], answer["name"], answer["seen"]) for one in result["runs"] for answer in one["expectations"]
            if not answer["holds"]] + [(one["name"], fault["event"], fault["failed"]) for one in result["runs"]
                                       for fault in one["faults"] if "failed" in fault]
    checks.that(done.returncode == (1 if plan.broken else 0), f"{plan.name}: exit code {done.returncode}", (said, done.stderr))
    broken = {answer for _, answer, _ in said}
    checks.that(broken == set(plan.broken), f"{plan.name}: what does not hold", said)
    journals = list(place.rglob("faults/*"))
    checks.that(not journals, f"{plan.name}: nothing is left", journals)


def told(system, plans):
    """Each plan is in the table of the test, and its row in the document has the same verdict."""
    files = {path.stem for path in (PLANS / system).glob("*.yaml")}
    checks.equal(files, {plan.name for plan in plans}, f"plans of {system}")
    rows = dict(re.findall(rf"^\| `{system}/([\w-]+)\.yaml` \|.*\| (holds|weakness)\b", (TOP / "docs/plans-gallery.md").read_text("utf-8"), re.MULTILINE))
    checks.equal(rows, {plan.name: "weakness" if plan.broken else "holds" for plan in plans}, f"rows of {system}")
    for plan in plans:
        result = run("plan", "check", PLANS / system / f"{plan.name}.yaml")
        checks.that(result.code == 0, f"{plan.name} is right", result)


def gallery(system, plans, side_by_side=2):
    told(system, plans)
    if not networks():
        print(f"skip: no root, network namespaces or /dev/net/tun here: plans of {system} are not run")
        return
    soak = VOLUME == "soak"
    wanted = [(plan, 0) for plan in plans if plan.quick or soak]
    if soak:
        wanted += [(plans[0], number) for number in range(1, CONTROLS)]
    with ThreadPoolExecutor(side_by_side) as pool:
        for plan, place, done in pool.map(lambda one: carry_out(system, *one), wanted):
            look_at(plan, place, done)
