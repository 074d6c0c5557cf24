# SPDX-License-Identifier: Apache-2.0
"""What the scripts of tests/campaign share: systems in directories of their own, `outfox run` in
them, its report, and a look at what it leaves behind.

A `System` is a copy of an example, or a configuration made here around the services of systems/.
Everything that a campaign starts inherits a mark in its environment, by which whatever is left
behind is found. A part that needs what this machine does not have raises `Missing`: it is said as a
line `skip: REASON`, which tools/run-tests counts as skipped.
"""
import collections
import fcntl
import hashlib
import importlib.util
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import traceback
import uuid
from pathlib import Path
from typing import NamedTuple

sys.dont_write_bytecode = True


def load_proxy_harness():
    where = Path(os.environ["TOP"], "tests/proxy/harness.py")
    spec = importlib.util.spec_from_file_location("proxy_harness", where)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


peers = load_proxy_harness()
checks, OUTFOX, TOP = peers.checks, peers.OUTFOX, peers.TOP
SANITIZED, VOLUME = peers.SANITIZED, peers.VOLUME
HOST, wait_until = peers.HOST, peers.wait_until
REAL = TOP / "examples/real"
SYSTEMS = TOP / "tests/campaign/systems"
PATIENCE_S = 480 if SANITIZED else 300  # of a campaign
MARK = "TEST_MARK"
skipped = []  # names of parts


class Missing(Exception):
    """What a part needs is not there."""


def has_modules(python, names):
    probe = [python, "-c", "import " + ", ".join(names)]
    return subprocess.run(probe, capture_output=True, check=False).returncode == 0


def find_python():
    """Debian's packages are those of /usr/bin/python3, which need not be the first of the path."""
    for python in ("/usr/bin/python3", sys.executable):
        if shutil.which(python) and has_modules(python, ["flask", "requests"]):
            return python
    return sys.executable


PYTHON = find_python()


def each(*parts):
    """Runs the parts of a script; with words on the command line, those whose names contain one."""
    for part in parts:
        if sys.argv[1:] and not any(word in part.__name__ for word in sys.argv[1:]):
            continue
        started = time.monotonic()
        try:
            part()
        except Missing as reason:
            skipped.append(part.__name__)
            print(f"skip: {part.__name__}: {reason}")
        except Exception:
            checks.that(False, f"{part.__name__} ran to its end", traceback.format_exc()[-1800:])
        print(f"{part.__name__}: {time.monotonic() - started:.2f} s")


def end():
    """A script all of whose parts were skipped is skipped itself."""
    peers.end_children()
    if skipped and not checks.count:
        sys.exit(77)
    checks.end()


def need_module(*names):
    for name in names:
        if not has_modules(PYTHON, [name]):
            raise Missing(f"no Python module {name} for {PYTHON}")


def need_program(*names):
    for name in names:
        if not shutil.which(name):
            raise Missing(f"no {name}")


def npm_modules(example, dev=False):
    """The packages of an example, installed once per build folder from its lock file; dev: those
    for its tests, too."""
    need_program("node", "npm")
    folder = TOP / "build" / f"npm-{example.name}"
    folder.mkdir(parents=True, exist_ok=True)
    files = [example / name for name in ("package.json", "package-lock.json")]
    stamp = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
    with open(folder / "lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = folder / "installed"
        if not done.exists() or done.read_text(encoding="ascii") != stamp:
            for file in files:
                shutil.copy(file, folder)
            try:
                made = subprocess.run(
                    ["npm", "ci", "--no-audit", "--no-fund", *([] if dev else ["--omit=dev"]),
                     "--ignore-scripts", "--loglevel=error"], cwd=folder, env=peers.ENVIRONMENT, check=False,
                    timeout=300, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT)
            except subprocess.TimeoutExpired:
                raise Missing(f"npm did not install the packages of {example.name} in 300 s")
            if made.returncode:
                last = made.stdout.decode(errors="replace").strip().splitlines()[-1:]
                raise Missing(f"npm cannot install the packages of {example.name}: {last}")
            done.write_text(stamp, encoding="ascii")
    return folder / "node_modules"


class Ended(NamedTuple):
    """How a command ended, and the document that it wrote, if any."""
    code: int  # negative: the signal
    out: str
    err: str
    report: dict
    seconds: float

    @property
    def said(self):
        return self.out + self.err

    @property
    def findings(self):
        return [finding for scenario in scenarios(self.report)
                for finding in scenario.get("findings", [])]

    @property
    def crashed(self):
        return (self.code not in (0, 1, 2, 3, 4, 130, 143) or "Sanitizer" in self.said
                or "runtime error" in self.said)


def stat_of(pid):
    """(name, parent) of a process."""
    text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    return text[text.index("(") + 1:text.rindex(")")], int(text[text.rindex(")") + 2:].split()[1])


def watchers(outfox):
    """The keeper and the guards of an outfox: {"keeper": [pid], "guards": [pid ...]}."""
    found = collections.defaultdict(list)
    stats = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stats[int(entry.name)] = stat_of(entry.name)
            except (OSError, ValueError):
                pass
    for pid, (name, parent) in stats.items():
        if name == "outfox-keeper" and parent == outfox:
            found["keeper"].append(pid)
        elif name == "outfox-guard" and stats.get(parent, ("", 0))[1] == outfox:
            found["guards"].append(pid)
    return found


def scenarios(report):
    """What came of each scenario."""
    return report["scenarios"] if report else []


def levels(ended):
    """How the calls of each service were told apart: {service: level}."""
    return {one["service"]: one["level"] for scenario in scenarios(ended.report)
            for one in scenario["levels"]}


class System:
    """A directory with an outfox.yaml in it, and what is run there."""

    numbers = itertools.count(1)

    def __init__(self, example=None, config=None, files=()):
        self.folder = Path(f"system-{next(System.numbers)}").resolve()
        self.mark = uuid.uuid4().hex
        if example:
            shutil.copytree(REAL / example, self.folder,
                            ignore=shutil.ignore_patterns("node_modules", ".outfox"))
            if (self.folder / "package.json").exists():
                (self.folder / "node_modules").symlink_to(npm_modules(REAL / example))
        else:
            self.folder.mkdir()
        for file in files:
            shutil.copy(file, self.folder)
        if config:
            self.write(config)

    @property
    def file(self):
        return self.folder / "outfox.yaml"

    def write(self, config):
        """JSON is YAML."""
        self.file.write_text(json.dumps(config, indent=1), encoding="utf-8")

    def edit(self, old, new):
        text = self.file.read_text(encoding="utf-8")
        assert old in text, old
        self.file.write_text(text.replace(old, new), encoding="utf-8")

    def environment(self, more=None):
        kept = peers.cli.environment(more)
        return {**kept, MARK: self.mark, "PYTHON": PYTHON, "PYTHONDONTWRITEBYTECODE": "1",
                "PATH": f"{Path(OUTFOX).resolve().parent}:{kept['PATH']}"}

    def start(self, *words, env=None):
        """outfox with these words, under way: for tests that disturb it."""
        return subprocess.Popen([OUTFOX, *map(str, words)], cwd=self.folder,
                                env=self.environment(env), stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                start_new_session=True)

    def finish(self, child, started, report="report.json", patience=PATIENCE_S):
        try:
            out, err = child.communicate(timeout=patience)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            out, err = child.communicate()
            err += f"\nnot ended after {patience} s".encode()
        path = self.folder / report
        document = None
        if path.exists() and path.stat().st_mtime >= started - 1:
            document = json.loads(path.read_text(encoding="utf-8"))
        return Ended(child.returncode, out.decode(errors="replace"), err.decode(errors="replace"),
                     document, time.time() - started)

    def outfox(self, *words, env=None, patience=PATIENCE_S, stays=False):
        """outfox with these words, to its end, which must be an orderly one."""
        started = time.time()
        (self.folder / "report.json").unlink(missing_ok=True)
        ended = self.finish(self.start(*words, env=env), started, patience=patience)
        what = f"outfox {' '.join(map(str, words))} in {self.folder.name}"
        checks.that(not ended.crashed, f"{what} ends well", f"{ended.code}: {ended.said[-1500:]}")
        if not stays:
            self.check_nothing_left(what)
        return ended

    def run(self, *words, **more):
        """`outfox run` with a report."""
        return self.outfox("run", *words, "--json", "report.json", **more)

    def shell(self, command, patience=PATIENCE_S):
        """A command line as a user would paste it."""
        started = time.time()
        child = subprocess.Popen(["sh", "-c", command], cwd=self.folder, env=self.environment(),
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, start_new_session=True)
        ended = self.finish(child, started, "none", patience)
        checks.that(not ended.crashed, f"{command} ends well", f"{ended.code} {ended.said[-1500:]}")
        self.check_nothing_left(command)
        return ended

    def left(self):
        """Processes of this system that still run, as 'pid command'."""
        found = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                if f"{MARK}={self.mark}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                    command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                    found.append(f"{entry.name} {command.strip()}")
            except OSError:
                pass
        return found

    def check_nothing_left(self, what, within=60):
        ends = time.monotonic() + within
        while self.left() and time.monotonic() < ends:
            time.sleep(0.02)
        left = self.left()
        checks.that(not left, f"no process is left after {what}", left[:5])
        for line in left:
            try:
                os.kill(int(line.split()[0]), signal.SIGKILL)
            except ProcessLookupError:
                pass

    def logs(self):
        found = sorted((self.folder / ".outfox/logs").glob("*"))
        return "\n".join(f"{path.name}: {path.read_text(errors='replace')}" for path in found)


def fragile(behaviour, backs=1, modes=(500,), scenario=None, **more):
    """A system of `front`, which takes the failure of its `back` services as `behaviour` says
    (systems/fragile.py)."""
    names = ["back"] if backs == 1 else [f"back{number}" for number in range(1, backs + 1)]
    run = "exec ${PYTHON} fragile.py {port}"
    services = {name: {"run": run, "ready": "GET /health"} for name in names}
    services["front"] = {"run": f"{run} {behaviour}", "ready": "GET /health",
                         "env": {"BACK": " ".join(f"{{url:{name}}}" for name in names)}}
    asked = {"request": "GET {url:front}/value", "timeout": "3s", "expect": {"status": 200},
             "under-faults": {"status": [200, 503]}, **(scenario or {})}
    return System(files=[SYSTEMS / "fragile.py"], config={
        "version": 1, "services": services, "scenarios": {"ask": asked}, "modes": list(modes),
        **more})


def faults(finding):
    """The faults of a finding, each without the path above it: {'shipping Book : grpc:14', ...}."""
    return {re.sub(r"^.* > ", "", fault) for fault in finding["faultload"].split(" & ")}


def check_found(system, ended, wanted, what):
    """The campaign ends with exactly one finding, confirmed, with these faults; it is replayed by
    the command that is printed for it. Returns it, {} when there is none."""
    checks.equal(ended.code, 1, f"{what}: exit code\n{ended.said[-1500:]}")
    checks.equal(len(ended.findings), 1, f"{what}: findings {json.dumps(ended.findings)[:1500]}")
    for finding in ended.findings:
        if wanted(finding):
            checks.equal(finding["state"], "confirmed", f"{what}: the finding")
            replayed = system.shell(finding["replay"])
            checks.equal(replayed.code, 1, f"{finding['replay']}\n{replayed.said[-1500:]}")
            checks.that("injected" in replayed.out, "the replay shows what was injected where",
                        replayed.said[-1500:])
            return finding
    checks.that(False, f"{what}: the planted bug is found", json.dumps(ended.findings)[:1500])
    return {}
