#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the documents against the program. Environment: OUTFOX (the program), TOP (the sources).

  yaml blocks     one that begins with `system:` is written to <system>.yaml; it must pass
                  `sim check` and be explorable. One that begins with `# file: NAME` is written to
                  NAME, as is a python block; one that goes on with `version:` is the configuration
                  of a campaign, or with `plan:` a failure plan, or with `trials:` one of trials: it must
                  pass `validate`, `plan check` or `trials check`, or fail if its name begins with
                  `wrong`
  console blocks  each `$ outfox ...` and `$ examples/...` is run where the files of its document
                  are, a directory `shop`, with a copy of `examples`. What follows, up to the next
                  `$ `, must be its exact output; a line `...` stands for any lines. A trailing
                  `# exit N` is the expected exit code, without it 0, 1 and 4 are fine. A command
                  may end in a backslash and go on
  sessions        console blocks in which a command ends with ` &`. All their commands are run, by
                  one shell, and what they print on both streams must be there; after a command in
                  the background its lines are waited for. Without `# exit N` the code must be 0.
                  Numbers from 8000 to 9999 are ports: others, which are free, stand in for them,
                  in files too
  times           of logs and of campaigns are not compared
  tables          modes, verbs, options, exit codes, JSON fields, limits, and keys of simulated
                  systems, of proxies and of campaigns that the program knows are documented, and
                  what the documents list exists. Rules of proxies are understood
  bounds          each row of docs/limits.md names a test that is there: `FILE: WORDS THAT IT HOLDS`
  oracles         are all in the table of docs/oracles, and have a page
  links           relative ones lead to a file, and to a heading of it
  the walk        of ARCHITECTURE.md: its functions are where it says, and not too many

With --update, console blocks without `...` are rewritten to what the program prints now: read the
difference. Every failure is a line `file:line: sentence`, then the exit code is 1. The last line is
`checks: N`.
"""
import json
import multiprocessing
import os
import random
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from http.client import HTTPConnection
from pathlib import Path

OUTFOX = Path(os.environ["OUTFOX"]).resolve()
TOP = Path(os.environ["TOP"]).resolve()
WORK = Path.cwd()
UPDATE = "--update" in sys.argv[1:]
DOCUMENTS = [TOP / "README.md", *sorted((TOP / "docs").glob("*.md"))]
ORACLES = sorted((TOP / "docs/oracles").glob("*.md"))
LINKING = sorted({*DOCUMENTS, *TOP.glob("*.md"), *ORACLES})
EXPLORED = (0, 1, 4)
TIME_LIMIT_S = 60
SIDE_BY_SIDE = 3

checks = 0
failures = []


def check(good, where, sentence):
    global checks
    checks += 1
    if not good:
        failures.append(f"{where}: {sentence}")
    return good


def name_of(path):
    return str(path.relative_to(TOP))


# ---- running the program ----

def environment():
    others = ("NO_COLOR", "CLICOLOR_FORCE", "GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY")
    keep = {name: value for name, value in os.environ.items()
            if name not in others and not name.lower().endswith("_proxy")}
    return {**keep, "PATH": f"{WORK / 'bin'}:{os.environ['PATH']}", "TERM": "dumb", "LC_ALL": "C"}


def shell(command, folder):
    """(exit code, standard output, standard error)"""
    try:
        done = subprocess.run(["sh", "-c", command], cwd=folder, env=environment(), check=False,
                              timeout=TIME_LIMIT_S, stdin=subprocess.DEVNULL, capture_output=True)
    except subprocess.TimeoutExpired:
        return -1, "", f"did not end within {TIME_LIMIT_S} s"
    said = [stream.decode("utf-8", "replace") for stream in (done.stdout, done.stderr)]
    return done.returncode, *said


def help_of(*words):
    return shell(" ".join(["outfox", "help", *words]), WORK)[1]


# ---- blocks ----

def blocks(lines):
    """(language, index of the first line, index after the last line) of each fenced block."""
    start = None
    for i, line in enumerate(lines):
        fence = re.match(r"```(\S*)\s*$", line)
        if not fence:
            continue
        if start is None:
            start, language = i + 1, fence[1]
        else:
            yield language, start, i
            start = None


def write_files(path, lines, folder):
    """Writes the YAML and Python blocks of a document; returns [(file, line)] of the
    systems, and of the configurations of campaigns."""
    systems, configurations = [], []
    for language, start, end in blocks(lines):
        if language not in ("yaml", "python") or start == end:
            continue
        system = re.match(r"system:\s*([\w-]+)", lines[start])
        other = re.match(r"# file: ([\w.-]+)\s*$", lines[start])
        where = f"{name_of(path)}:{start + 1}"
        if not check(system or other, where, "begins with neither `system:` nor `# file:`"):
            continue
        file = folder / (system[1] + ".yaml" if system else other[1])
        check(not file.exists(), where, f"{file.name} is in this document twice")
        text = "\n".join(lines[start:end]) + "\n"
        file.write_text(text if system else with_free_ports(text), encoding="utf-8")
        if system:
            systems.append((file, where))
        elif end > start + 1 and lines[start + 1].startswith("version: 1"):
            configurations.append((file, where))
    return systems, configurations


def check_systems(systems, folder):
    for file, where in systems:
        code, _, said = shell(f"outfox sim check {file.name}", folder)
        check(code == 0, where, f"{file.name} is not right: {said.strip()}")
        code, _, said = shell(f"outfox sim explore --quiet {file.name}", folder)
        check(code in EXPLORED, where, f"exploring {file.name} ended with {code}: {said.strip()}")


def check_configurations(configurations, folder):
    for file, where in configurations:
        text = file.read_text(encoding="utf-8")
        verb = "plan check" if "\nplan: " in text else "trials check" if "\ntrials: " in text else "validate"
        code, _, said = shell(f"outfox {verb} {file.name}", folder)
        wanted = 2 if file.name.startswith("wrong") else 0
        check(code == wanted, where, f"`outfox {verb} {file.name}` gives {code}: {said.strip()}")


def matches(expected, got):
    """Are these lines the expected ones, where `...` stands for any number of lines?"""
    if not expected:
        return not got
    if expected[0].strip() == "...":
        return any(matches(expected[1:], got[i:]) for i in range(len(got) + 1))
    return bool(got) and expected[0] == got[0] and matches(expected[1:], got[1:])


def commands(lines, start, end):
    """Of each command of a console block: the index of its `$ `, itself, the index of its first
    line of output and the index after the last one."""
    at = [i for i in range(start, end) if lines[i].startswith("$ ")]
    for first, after in zip(at, at[1:] + [end]):
        last = first
        while lines[last].endswith("\\") and last + 1 < after:
            last += 1
        yield first, "\n".join(lines[first:last + 1])[2:], last + 1, after


def check_command(where, command, expected, folder):
    """The lines that the program printed, or None when nothing was run."""
    command, exit_code = without_exit_code(command)
    if not re.match(r"outfox\b|examples/", command):
        return None
    code, out, said = shell(command, folder)
    wanted = EXPLORED if exit_code is None else (exit_code,)
    got = out.splitlines()
    sentence = f"`{command}` ended with {code}, not {wanted}: {said.strip()}"
    if not check(code in wanted, where, sentence):
        return None
    same = matches(without_times(expected), without_times(got))
    if not UPDATE or "..." in expected:
        shown = "\n".join("    " + line for line in got)
        check(same, where, f"`{command}` prints something else:\n{shown}")
    return expected if same else got


def check_console(path, lines, folder):
    """Runs the commands of a document; returns its lines as they should be."""
    result, done = [], 0
    for language, start, end in blocks(lines):
        if language != "console":
            continue
        steps = []  # index of the `$ `, command, expected lines, where those begin and end
        for first, command, out, after in commands(lines, start, end):
            # one blank line may stand before the next command
            blank = 1 if after < end and after > out and not lines[after - 1] else 0
            steps.append((first, command, lines[out:after - blank], out, after - blank))
        session = None
        if any(step[1].endswith(" &") for step in steps):
            session = run_session([step[1:3] for step in steps], folder)
        for i, (first, command, expected, out, after) in enumerate(steps):
            where = f"{name_of(path)}:{first + 1}"
            got = check_step(where, command, expected, session[i]) if session else \
                check_command(where, command, expected, folder)
            if got is not None and "..." not in expected:
                result += lines[done:out] + got
                done = after
    return result + lines[done:]


# ---- sessions ----

# Runs in the session's shell, whose output goes to the file `session`.
PRELUDE = """
exec >session 2>&1 </dev/null
trap 'kill $(jobs -p) 2>/dev/null; wait' EXIT
lines() { wc -l <session; }
wait_for() { for i in {1..600}; do [ $(lines) -ge $1 ] && return; sleep 0.05; done; }
"""
MARK = "-- end of a step --"
free_ports = {}  # the port in the documents -> the one that is used
port_range = range(10000, 32000)  # below those that the system gives away; each document has its own


def free_port():
    while True:
        port = random.choice(port_range)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        if port not in free_ports.values():
            return port


def with_free_ports(text):
    for port in re.findall(r"\b[89]\d{3}\b", text):
        if port not in free_ports:
            free_ports[port] = free_port()
    return re.sub(r"\b[89]\d{3}\b", lambda found: str(free_ports[found[0]]), text)


def without_free_ports(text):
    for port, free in free_ports.items():
        text = re.sub(rf"\b{free}\b", port, text)
    return text


# A moment and durations in a line of the log; how long a run and a campaign took.
TIMES = re.compile(r'("time": ?)"[^"]*"|("\w+_us": ?)\d+|(after )[\d.]+[nmu]?s\b'
                   r'|(  took )[\d.]+[nmu]?s, [\d.,e+]+ runs per second')


def without_times(lines):
    return [TIMES.sub(r"\1\2\3\4", line) for line in lines]


def without_exit_code(command):
    """The command, and the exit code behind it, or None."""
    found = re.search(r"\s+# exit (\d+)$", command)
    return (command[:found.start()], int(found[1])) if found else (command, None)


def run_session(steps, folder):
    """Of each step (command, expected lines) what it printed and its exit code; or None when it did
    not come to it."""
    script = PRELUDE
    for command, expected in steps:
        command = with_free_ports(without_exit_code(command)[0])
        wait = f"; wait_for $((n + {len(expected)}))" if command.endswith(" &") else ""
        script += f"n=$(lines)\n{command}\ncode=$?{wait}\nprintf '\\n{MARK}%d\\n' $code\n"
    shell_process = subprocess.Popen(["bash", "-c", script], cwd=folder, env=environment(),
                                     start_new_session=True)
    try:
        shell_process.wait(TIME_LIMIT_S)
    except subprocess.TimeoutExpired:
        os.killpg(shell_process.pid, signal.SIGKILL)
        shell_process.wait()
    text = (folder / "session").read_text(encoding="utf-8", errors="replace")
    parts = re.split(rf"\n{MARK}(\d+)\n", without_free_ports(text))
    done = [(out.splitlines(), int(code)) for out, code in zip(parts[0::2], parts[1::2])]
    return done + [None] * (len(steps) - len(done))


def check_step(where, command, expected, seen):
    """The lines that a step of a session should have, or None when it was not run."""
    if not check(seen, where, f"`{command}` was not come to, or did not end"):
        return None
    got, code = seen
    wanted = without_exit_code(command)[1] or 0
    shown = "\n".join("    " + line for line in got)
    check(code == wanted, where, f"`{command}` ended with {code}, not {wanted}:\n{shown}")
    same = matches(without_times(expected), without_times(got))
    check(same or (UPDATE and "..." not in expected), where,
          f"`{command}` prints something else:\n{shown}")
    return expected if same else got


def check_document(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    fences = [line for line in lines if line.startswith("```")]
    check(len(fences) % 2 == 0, name_of(path), "a ``` block is not closed")
    free_ports.clear()
    folder = WORK / path.stem / "shop"
    folder.mkdir(parents=True)
    shutil.copytree(TOP / "examples", folder / "examples",
                    ignore=shutil.ignore_patterns("node_modules", ".outfox", "__pycache__"))
    systems, configurations = write_files(path, lines, folder)
    check_systems(systems, folder)
    check_configurations(configurations, folder)
    now = check_console(path, lines, folder)
    if UPDATE and now != lines:
        path.write_text("\n".join(now) + "\n", encoding="utf-8")
        print(f"{name_of(path)}: rewritten")


def check_one_of(number):
    """Checks a document in a process of its own; returns how many checks, and the failures."""
    global checks, failures, port_range
    checks, failures = 0, []
    share = len(port_range) // len(DOCUMENTS)
    port_range = range(10000 + number * share, 10000 + (number + 1) * share)
    check_document(DOCUMENTS[number])
    return checks, failures


# ---- tables ----

def read(name):
    path = TOP / name
    return path.read_text(encoding="utf-8") if path.exists() else ""


def prose(text):
    """A document without its blocks."""
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def section(text, heading):
    """The text below the heading with these words in backticks, up to the next one of its level."""
    found = re.search(rf"^(#+) .*`{re.escape(heading)}`.*$", text, re.MULTILINE)
    if not found:
        return ""
    rest = text[found.end():]
    end = re.search(rf"^#{{1,{len(found[1])}}} ", rest, re.MULTILINE)
    return rest[:end.start()] if end else rest


def first_cells(text):
    """What stands in backticks in the first cells of the tables of a text."""
    cells = re.findall(r"^\|([^|]*)\|", text, re.MULTILINE)
    return {word for cell in cells for word in re.findall(r"`([^`]+)`", cell)}


def check_modes():
    text = read("docs/faults.md")
    listed = json.loads(shell("outfox modes --json", WORK)[1])
    modes = listed["modes"]
    check(len(modes) >= 7, "outfox modes --json", f"lists only {len(modes)} modes")
    for mode in modes:
        row = re.search(rf"^\| `{mode['name']}[:`]", text, re.MULTILINE)
        check(row, "docs/faults.md", f"the mode {mode['name']} has no row in a table")
    for group in listed["sets"]:
        row = f"\n| `{group['name']}` | {', '.join(group['modes'])} |"
        check(row in text, "docs/faults.md", f"the set {group['name']} has no row with its modes")
    for way in listed["services"]:
        check(f"\n| `SERVICE {way['name']}` |" in text, "docs/faults.md", f"SERVICE {way['name']} has no row in a table")


def verbs():
    listed = help_of().partition("commands:\n")[2].partition("\n\n")[0]
    return [re.match(r"  ([\w+-]+(?: \w+)?)  ", line)[1] for line in listed.splitlines()]


def check_cli():
    text = read("docs/cli.md")
    all_verbs = verbs()
    check(len(all_verbs) >= 6, "outfox help", f"lists only {all_verbs}")
    for verb in all_verbs:
        about = section(text, f"outfox {verb}")
        check(about, "docs/cli.md", f"no section `outfox {verb}`")
        known = set(re.findall(r"^ +(?:-\w, )?--([\w-]+)", help_of(verb), re.MULTILINE))
        check("help" in known, f"outfox help {verb}", "lists no options")
        named = set(re.findall(r"`(?:-\w, )?--([\w-]+)", about))
        for option in sorted(known - named):
            check(False, "docs/cli.md", f"--{option} is missing in the section `outfox {verb}`")
        for option in sorted(named):
            check(option in known, "docs/cli.md", f"`outfox {verb}` has no option --{option}")
    codes = re.findall(r"EXIT_\w+ = (\d+)", read("src/cmd/cmd.h"))
    check(len(codes) >= 6, "src/cmd/cmd.h", "the exit codes were not found")
    for name in ("README.md", "docs/cli.md"):
        for code in codes:
            row = re.search(rf"^\| {code} \|", read(name), re.MULTILINE)
            check(row, name, f"exit code {code} has no row in a table")


FREE = {"body", "skipped"}  # what is below these is the system's, or names reductions


def fields(value, into):
    """All keys of a JSON document."""
    if isinstance(value, dict):
        for key, inner in value.items():
            into.add(key)
            if key not in FREE:
                fields(inner, into)
    elif isinstance(value, list):
        for inner in value:
            fields(inner, into)
    return into


# Together the commands of a row show every field. {T} is the top of the sources.
SHOP = "{T}/examples/shop/shop.yaml"
SAMPLES = {
    "sim explore": [SHOP, "{T}/examples/corpus/cinema-3.yaml --assume retries", "unstable.yaml"],
    "sim run": [SHOP, SHOP + " --fault 'quote POST /quotes : lost-reply:503'"],
    "sim explain": [SHOP + " none"],
    "sim deps": [SHOP, "{T}/examples/corpus/cinema-6.yaml", "twice.yaml"],
    "sim check": [SHOP],
    "run": ["- campaign.yaml -q", "- commanded.yaml -q"],
    "replay": ["1 campaign.yaml"],
    "modes": [""],
    "oracles": ["", "leak"],
    "validate": ["configured.yaml"],
    "init": ["written.yaml --service a=5000 --schema s.json --force"],
}
TWICE = """system: twice
services: { a: { GET /: [{ call: b GET / }, { call: b GET / }] }, b: { GET /: } }
scenarios: { s: { request: a GET / } }
"""
SUITE = """system: suite
services:
  a: { GET /: [{ call: b GET / }, { if: 1 == 2, then: { call: c GET / } }] }
  b: { GET /: }
  c: { GET /: }
scenarios: { s: { request: a GET / }, t: { request: a GET / } }
"""
UNSTABLE = """system: unstable
services:
  a: { GET /: { choose: [{ call: b GET / }, { call: c GET / }] } }
  b: { GET /: }
  c: { GET /: }
scenarios: { s: { request: a GET / } }
"""


PASSING = """system: passing
services: { a: { GET /: { call: b GET /, on: { failed: { reply: 500 } } } }, b: { GET /: } }
scenarios: { s: { request: a GET / } }
"""
COMMANDED = """version: 1
simulate: passing.yaml
scenarios: { s: { command: "curl -sf $OUTFOX_URL_A/ && curl -sf $OUTFOX_URL_A/" } }
modes: [503]
store: commanded.db
"""


def check_json():
    text = read("docs/json.md")
    (WORK / "configured.yaml").write_text("version: 1\nsimulate: unstable.yaml\n", encoding="utf-8")
    (WORK / "campaign.yaml").write_text(f"version: 1\nsimulate: {TOP}/examples/shop/shop.yaml\n",
                                        encoding="utf-8")
    (WORK / "unstable.yaml").write_text(UNSTABLE, encoding="utf-8")
    (WORK / "twice.yaml").write_text(TWICE, encoding="utf-8")
    (WORK / "passing.yaml").write_text(PASSING, encoding="utf-8")
    (WORK / "commanded.yaml").write_text(COMMANDED, encoding="utf-8")
    for verb, arguments in SAMPLES.items():
        about = section(text, f"outfox {verb} --json")
        shown = set()
        for words in arguments:
            command = f"outfox {verb} --json {words.replace('{T}', str(TOP))}"
            code, out, said = shell(command, WORK)
            if check(code in EXPLORED, command, f"ended with exit code {code}: {said.strip()}"):
                shown |= fields(json.loads(out), set())
        check("schema_version" in shown, f"outfox {verb} --json", "no schema_version")
        for field in sorted(shown):
            check(f"`{field}`" in about, "docs/json.md", f"{verb} --json: `{field}` is missing")
        for field in sorted(first_cells(about)):
            check(field in shown, "docs/json.md", f"{verb} --json prints no field `{field}`")


def check_campaign_json():
    """The documents of a campaign with a finding, and of one where something is suspect."""
    (WORK / "campaign.yaml").write_text(f"version: 1\nsimulate: {SHOP.replace('{T}', str(TOP))}\n",
                                        encoding="utf-8")
    text = read("docs/json.md")
    shown = set()
    for file in ("campaign.yaml", "configured.yaml", "commanded.yaml"):
        command = f"outfox run -q {file} --store {file}.db --json -"
        code, out, said = shell(command, WORK)
        if check(code in EXPLORED, command, f"ended with exit code {code}: {said.strip()}"):
            shown |= fields(json.loads(out), set())
    known = section(text, "outfox run --json") + section(text, "outfox sim explore --json")
    for field in sorted(shown):
        check(f"`{field}`" in known, "docs/json.md", f"run --json: `{field}` is missing")
    for field in sorted(first_cells(section(text, "outfox run --json"))):
        check(field in shown, "docs/json.md", f"run --json prints no field `{field}`")
    (WORK / "suite.yaml").write_text(SUITE, encoding="utf-8")
    code, out, said = shell("outfox sim explore -q suite.yaml --json", WORK)
    if check(code == 0, "outfox sim explore --json", f"ended with exit code {code}: {said.strip()}"):
        check_fields("docs/json.md", "suite", json.loads(out)["suite"])
    code, out, said = shell("outfox replay 1 campaign.yaml --store campaign.yaml.db --json", WORK)
    if check(code == 1, "outfox replay --json", f"ended with exit code {code}: {said.strip()}"):
        known = section(text, "outfox replay --json") + section(text, "outfox sim run --json")
        for field in sorted(fields(json.loads(out), set())):
            check(f"`{field}`" in known, "docs/json.md", f"replay --json: `{field}` is missing")


def strings_of(source, opening, closing):
    """The string literals between a line that contains `opening` and the next `closing`."""
    found = []
    for part in source.split(opening)[1:]:
        found += re.findall(r'"((?:[^"\\]|\\.)*)"', part.partition(closing)[0])
    return found


def keys_of(source, table):
    """The names of the rows of a table of keys (data/keys.h)."""
    rows = source.partition(f"struct key {table}[] = {{\n")[2].partition("\n};\n")[0]
    return re.findall(r'^    \{"([\w-]+)", KEY_\w+', rows, re.MULTILINE)


def check_keys():
    load, step = read("src/sim/load.c"), read("src/sim/load_step.c")
    keys = {
        "keys of the file": keys_of(load, "file_rows"),
        "keys of maps": keys_of(load, "identify_rows") + keys_of(step, "retry_rows"),
        "keys of a rule": keys_of(load, "rule_rows"),
        "keys of a scenario": keys_of(load, "scenario_rows"),
        "keys of a service": keys_of(load, "service_rows"),
        "steps and their keys": [key for kind in re.findall(r"KEY_ROWS\((\w+)\)", step)
                                 for key in keys_of(step, kind)],
        "parts of an answer": strings_of(read("src/sim/expr_parse.c"), "[ANS_FIELDS] = {", "}"),
        "outcomes": strings_of(step, "words[] = {", "};"),
    }
    quoted = " ".join(re.findall(r"`([^`]+)`", prose(read("docs/simulated-systems.md"))))
    words = set(re.findall(r"[\w-]+", quoted))
    for what, names in keys.items():
        check(len(names) >= 3, "src/sim", f"the table of {what} was not found")
        for name in names:
            check(name in words, "docs/simulated-systems.md", f"`{name}` ({what}) is not explained")


# ---- the configuration of campaigns ----

# Which section of docs/config.md has the keys of which part of the schema.
PLACES = {"outfox.yaml": None, "services": "service", "simulate": "simulate",
          "scenarios": "scenario", "suite": "suite", "expect": "expect", "search": "search", "identify": "identify",
          "judge": "judge"}


def check_config():
    """Every key has a row with its default, and every row is a key."""
    text = read("docs/config.md")
    schema = json.loads(shell("outfox validate --schema", WORK)[1])
    for heading, part in PLACES.items():
        known = (schema["$defs"][part] if part else schema)["properties"]
        rows = dict(re.findall(r"^\| `([\w-]+)` \|([^|]*)\|", section(text, heading), re.MULTILINE))
        check(len(known) >= 2, "outfox validate --schema", f"`{heading}` has only {list(known)}")
        for key, about in known.items():
            if not check(key in rows, "docs/config.md", f"`{key}` is missing below `{heading}`"):
                continue
            default = re.search(r"\(default: (.*)\)$", about["description"])
            check(rows[key].strip() == (default[1] if default else ""), "docs/config.md",
                  f"`{key}` below `{heading}` has the default {default and default[1]}")
        for key in rows:
            check(key in known, "docs/config.md", f"`{heading}` has no key `{key}`")
    for words in ("assume", "order"):
        row = re.search(rf"^\| `{words}` \|.*$", section(text, "search"), re.MULTILINE)
        kinds = schema["$defs"]["search"]["properties"][words]
        for word in kinds.get("items", kinds)["anyOf"][0]["enum"]:
            check(f"`{word}`" in row[0], "docs/config.md", f"`{words}` does not name `{word}`")


# Which section of docs/plans.md has the keys of which part of the schema.
PLAN_PLACES = {"plan": None, "nodes": "node", "clients": "client", "events": "event", "fault": "fault",
               "trigger": "trigger", "expect": "expect", "collect": "collect", "doors": "door"}


def check_plans():
    """Every key of failure plans has a row with its default, and every fault has one."""
    text = read("docs/plans.md")
    schema = json.loads(shell("outfox plan check --schema", WORK)[1])
    for heading, part in PLAN_PLACES.items():
        known = (schema["$defs"][part] if part else schema)["properties"]
        rows = re.findall(r"^\| `([\w-]+)` \| *([^|]*?) *\|", section(text, heading), re.MULTILINE)
        for key, about in known.items():  # a fault may have the name of a key
            default = re.search(r"\(default: (.*)\)$", about["description"])
            check((key, default[1] if default else "") in rows, "docs/plans.md",
                  f"`{key}` below `{heading}` has no row with the default {default and default[1]}")
    for fault in json.loads(shell("outfox plan faults --json", WORK)[1])["faults"]:
        check(f"| `{fault['name']}` | {fault['about']} |" in text, "docs/plans.md", f"no row for the fault {fault['name']}")


# Which section of docs/native.md has the keys of which part of the schema.
TRIALS_PLACES = {"trials": None, "nodes": "node", "alive": "alive", "workload": "phase", "clients": "client",
                 "checkers": "checkers", "invariants": "invariant", "experiments": "experiments",
                 "registrars": "registrar"}


def check_trials():
    """Every key of files of trials has a row with its default, and every symptom is there."""
    text = read("docs/native.md")
    schema = json.loads(shell("outfox trials check --schema", WORK)[1])
    for heading, part in TRIALS_PLACES.items():
        known = (schema["$defs"][part] if part else schema)["properties"]
        rows = re.findall(r"^\| `([\w-]+)` \| *([^|]*?) *\|", section(text, heading), re.MULTILINE)
        for key, about in known.items():
            default = re.search(r"\(default: (.*)\)$", about["description"])
            check((key, default[1] if default else "") in rows, "docs/native.md",
                  f"`{key}` below `{heading}` has no row with the default {default and default[1]}")
    for name, about in re.findall(r'^SYMPTOM\(\w+, "([\w-]+)", "(.*)"\)$', read("src/trial/symptom.list"), re.MULTILINE):
        check(f"| `{name}`: {about} |" in text, "docs/native.md", f"no row for the symptom {name}")


# ---- oracles ----

PAGE = ["What it sees", "Why it matters", "Example", "What to do", "When it is silent"]


def check_oracles():
    """The table is what the program says, and every oracle has a page of the same build."""
    text = read("docs/oracles/README.md")
    rows = re.findall(r"^\| \[([\w-]+)\]\(([\w-]+)\.md\) \| (\w+) \| (.*) \|$", text, re.MULTILINE)
    known = json.loads(shell("outfox oracles --json", WORK)[1])["oracles"]
    check(len(known) >= 20, "outfox oracles --json", f"lists only {len(known)}")
    for oracle in known:
        row = (oracle["name"], oracle["name"], oracle["severity"], oracle["doc"])
        check(row in rows, "docs/oracles/README.md", f"no row {row}")
    check(len(rows) == len(known), "docs/oracles/README.md", f"{len(rows)} rows")
    pages = {path.stem: path for path in ORACLES if path.stem != "README"}
    check(set(pages) == {oracle["name"] for oracle in known}, "docs/oracles",
          f"a page for each oracle, and no other: {sorted(pages)}")
    for name, path in pages.items():
        page = path.read_text(encoding="utf-8")
        check(page.startswith(f"# {name}\n"), name_of(path), "the title is not the name")
        check(re.findall("^## (.*)$", page, re.MULTILINE) == PAGE, name_of(path),
              f"the headings are not {PAGE}")
        check_told(name, page)


def check_told(name, page):
    """`outfox oracles NAME` says what the page says, but for the example, in lines that fit."""
    code, said, _ = shell(f"outfox oracles {name}", WORK)
    page = re.sub(r"^# .*?$|^## Example\n.*?(?=^## )", "", page, flags=re.MULTILINE | re.DOTALL)
    page = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", page)
    words = re.sub(r"^## |^```.*$|^# fragment$|\*", "", page, flags=re.MULTILINE).split()
    told = said.replace("*", "").split()
    check(code == 0 and told[:1] == [name] and told[2:] == words, f"outfox oracles {name}",
          "does not say what its page says")
    check(all(len(line) < 100 for line in said.splitlines()), f"outfox oracles {name}",
          "has lines of 100 columns and more")


# ---- the proxy ----

UNITS = {"KIB": "KiB", "MIB": "MiB", "MS": "ms", "SECONDS": "s", "MINUTES": "m", "HOURS": "h"}


def written(kind, value):
    """A value of limits.list as it is written on the command line: `64 * KIB` is 64KiB."""
    number, _, unit = re.sub(r"(\w+)\((\d+)\)", r"\2 * \1", value.strip()).rpartition(" * ")
    if unit in UNITS:
        return (number or "1") + UNITS[unit]
    return value.strip() + ("ms" if kind == "TIME" else "")


def check_limits():
    row = r'LIMIT\(\w+, "([\w-]+)", (\w+), ([\w *()]+), ([\w *()]+), ([\w *()]+),\s*"'
    known = re.findall(row, read("src/proxy/limits.list"))
    check(len(known) >= 16, "src/proxy/limits.list", "the limits were not found")
    shown = re.findall(r"^\| `([\w-]+)` \| (\S+) \| (\S+) to (\S+) \|",
                       read("docs/proxy.md").partition("\n## Limits")[2].partition("\n## ")[0],
                       re.MULTILINE)
    for name, kind, *values in known:
        told = [tuple(values) for other, *values in shown if other == name]
        real = tuple(written(kind, value) for value in values)
        check(told == [real], "docs/proxy.md", f"the limit `{name}` is {real}, told as {told}")
        said = shell(f"outfox proxy --limit {name}=?", WORK)[2]
        check(f"from {real[1]} to {real[2]}," in said, "src/proxy/limits.list",
              f"the program says of {name} and {real[1:]}: {said.strip()}")
    for name, *_ in shown:
        check(name in [row[0] for row in known], "docs/proxy.md", f"there is no limit `{name}`")


def check_api():
    """docs/api.md has the routes and values of src/api/route.list, in its words; and all metrics."""
    source = re.sub(r"/\*.*?\*/", "", read("src/api/route.list"), flags=re.DOTALL)
    rows = re.findall(r'ROUTE\((\w+), (\w+), "([^"]+)", "([^"]*)",\s*\w+,\s*\w+,\s*\w+,\s*'
                      r'"[^"]+",\s*"([^"]*)",\s*&?\w+,\s*"([^"]+)"\)', source)
    check(len(rows) == source.count("ROUTE("), "src/api/route.list", "the routes were not found")
    text = read("docs/api.md")
    shown = re.findall(r"^\| `(GET|POST) ([^`]+)` \| (.*?) \| (?:`([\w-]+)` )?\|$", text, re.MULTILINE)
    real = [(method, path, about, "" if schema == "any" else schema)
            for _, method, path, _, schema, about in rows]
    for row in real:
        check(row in shown, "docs/api.md", f"the route {row} is missing, or told otherwise")
    for row in shown:
        check(row in real, "docs/api.md", f"there is no route {row}")
    for name, kind, about in re.findall(r'VALUE\(\w+, "(\w+)", (\w+), "([^"]+)"\)', source):
        told = f"| `{name}` | {kind.lower()} | {about}"
        check(told in text, "docs/api.md", f"the value {told} is missing")
    code = read("src/api/campaign.c")
    known = set(re.findall(r'(?:family\(out, |ROW\()"(\w+)"', code))
    told = set(re.findall(r"^\| `outfox_(\w+)` \|", text, re.MULTILINE))
    check(len(known) >= 10 and known == told, "docs/api.md", f"metrics: {sorted(known ^ told)}")
    keys = set(re.findall(r'\{\.name = "(\w+)"', read("src/api/command.c")))
    told = set(re.findall(r"`(\w+)`", text.partition("\n## Commands")[2].partition("\n## ")[0]))
    check(len(keys) >= 5 and keys <= told, "docs/api.md", f"keys of bodies: {sorted(keys - told)}")
    printed = json.loads(shell("outfox schema openapi", WORK)[1])
    check(sorted(printed["paths"]) == sorted(row[2] for row in rows), "outfox schema openapi",
          "its paths are not those of route.list")


def check_bounds():
    """Every row of docs/limits.md names what tries it, and keys that there are."""
    known = set(re.findall(r'LIMIT\(\w+, "([\w-]+)"', read("src/proxy/limits.list")))
    lines = read("docs/limits.md").splitlines()
    rows = [(i, [cell.strip() for cell in line.strip("| ").split("|")])
            for i, line in enumerate(lines, 1)
            if line.startswith("| ") and not line.startswith("| what ")]
    check(len(rows) >= 10, "docs/limits.md", "the rows were not found")
    told = set()
    for i, cells in rows:
        where = f"docs/limits.md:{i}"
        if not check(len(cells) == 5, where, f"{len(cells)} cells, not 5"):
            continue
        told.update(re.findall(r"`([\w-]+)`", cells[3]))
        tests = re.findall(r"`(tests/[^:`]+): ([^`]+)`", cells[4])
        check(tests, where, "names no test: `FILE: WORDS`")
        for file, words in tests:
            there = TOP / file
            check(there.is_file() and words in there.read_text(encoding="utf-8"), where,
                  f"{file} does not hold \"{words}\"")
    for name in sorted(known - told - {"payload-wait"}):  # that bounds nothing a peer can feed
        check(False, "docs/limits.md", f"the limit `{name}` is missing")


def check_proxy_words():
    config = read("src/proxy/config.c")
    words = {
        "keys of the file": keys_of(config, "config_rows"),
        "keys of a proxy": keys_of(config, "proxy_rows"),
        "keys of a fault": keys_of(config, "fault_rows"),
        "words of a rule": re.findall(r'\{"(\w+)", \w+, \w+\},', read("src/proxy/rule.c")),
    }
    quoted = " ".join(re.findall(r"`([^`]+)`", prose(read("docs/proxy.md"))))
    explained = set(re.findall(r"[\w-]+", quoted))
    for what, names in words.items():
        check(len(names) >= 5, "src/proxy", f"the {what} were not found")
        for name in names:
            check(name in explained, "docs/proxy.md", f"`{name}` ({what}) is not explained")


def check_rules():
    """The program understands the rules in the tables: what it then complains about is port 0."""
    about = read("docs/proxy.md").partition("\n## Rules")[2].partition("\n## ")[0]
    rules = [cell for cell in first_cells(about) if " : " in cell]
    check(len(rules) >= 15, "docs/proxy.md", "the rules were not found")
    for rule in rules:
        said = shell("outfox proxy --service stock --listen 127.0.0.1:0 --to 127.0.0.1:0 --fault "
                     + shlex.quote(rule), WORK)[2]
        check('"127.0.0.1:0" has port 0' in said, "docs/proxy.md", said.strip())


def check_log():
    """The fields of the log and of the document on standard output, by a real call."""
    command = ["outfox", "proxy", "--json", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:1",
               "--fault", "* : 503", "--log", "calls.jsonl"]
    proxy = subprocess.Popen(command, cwd=WORK, env=environment(), stdout=subprocess.PIPE)
    try:
        document = proxy.stdout.readline().decode()
        port = re.search(r"http://127.0.0.1:(\d+)", document)
        if not check(port, "outfox proxy --json", f"does not say where it listens: {document}"):
            return
        client = HTTPConnection("127.0.0.1", int(port[1]), timeout=TIME_LIMIT_S)
        client.request("GET", "/")
        status = client.getresponse().status
        client.close()
        check(status == 503, "outfox proxy", f"gave {status} instead of 503")
        proxy.send_signal(signal.SIGTERM)
        check(proxy.wait(TIME_LIMIT_S) == 0, "outfox proxy", "did not end with 0")
    finally:
        proxy.kill()
        proxy.wait()
        proxy.stdout.close()
    check_fields("docs/json.md", "outfox proxy --json", json.loads(document))
    line = (WORK / "calls.jsonl").read_text(encoding="utf-8").splitlines()[0]
    check_fields("docs/proxy.md", "--log", json.loads(line))


def check_fields(name, heading, document):
    about = section(read(name), heading)
    shown = fields(document, set())
    for field in sorted(shown - first_cells(about)):
        check(False, name, f"the field `{field}` is missing below `{heading}`")
    for field in sorted(first_cells(about)):
        check(field in shown, name, f"there is no field `{field}`, as told below `{heading}`")


# ---- links ----

def slugs(text):
    """The anchors that the headings of a document get."""
    found = set()
    for title in re.findall(r"^#+ (.*)$", text, re.MULTILINE):
        found.add(re.sub(r"[^\w\- ]", "", title.lower().replace("`", "")).strip().replace(" ", "-"))
    return found


def check_links():
    for path in LINKING:
        text = path.read_text(encoding="utf-8")
        for target in re.findall(r"\]\(([^)\s]+)\)", prose(text)):
            if re.match(r"[a-z]+:", target):
                continue
            file, _, anchor = target.partition("#")
            there = (path.parent / file).resolve() if file else path
            if check(there.exists(), name_of(path), f"the link {target} leads nowhere") and anchor:
                known = slugs(there.read_text(encoding="utf-8"))
                check(anchor in known, name_of(path), f"no heading for {target}")


def check_walk():
    """The walk of ARCHITECTURE.md from a socket to a row of the report: each function is in the file
    that is named, and it stays a walk that one can follow."""
    text = read("ARCHITECTURE.md").partition("\n## One call, hop by hop\n")[2].partition("\n## ")[0]
    hops, file = set(), None
    for line in re.findall(r"^    (?:[A-Z] |  ) +(.*)$", text, re.MULTILINE):
        for hop in re.split(r" (?:> |\| )?", line.partition("  ")[0].strip()):
            if "/" in hop:
                file = hop
            elif hop:
                hops.add((file, hop))
    for file, name in sorted(hops):
        check(re.search(rf"^\w[^;=]*\b{name}\(", read(f"src/{file}.c"), re.MULTILINE),
              "ARCHITECTURE.md", f"src/{file}.c has no function {name}")
    files = {file for file, _ in hops}
    check(20 < len(hops) <= 80 and len(files) <= 35, "ARCHITECTURE.md",
          f"the walk has {len(hops)} functions in {len(files)} files: at most 80 in 35")


def check_files():
    """Every file that ARCHITECTURE.md or a comment of the source names is there."""
    there = {path.name for folder in ("src", "include", "instrument", "tests", "tools", "bench", "examples")
             for path in (TOP / folder).rglob("*")}
    here = re.compile(r"(?<![\w*{}/.-])(?:\w+/)*(\w{3,}\.(?:c|h|list))\b")
    for path in [TOP / "ARCHITECTURE.md", *sorted((TOP / "src").rglob("*.[ch]"))]:
        text = path.read_text(encoding="utf-8")
        if path.suffix != ".md":
            text = "\n".join(re.findall(r"/\*.*?\*/", text, re.DOTALL))
        for file in sorted(set(here.findall(text))):
            known = file in there or file in ("ucontext.h", "llhttp.h")
            check(known or file.startswith("_"), name_of(path), f"there is no file {file}")


def main():
    shutil.rmtree(WORK / "bin", ignore_errors=True)
    (WORK / "bin").mkdir()
    (WORK / "bin/outfox").symlink_to(OUTFOX)
    if shell("outfox version", WORK)[0] != 0:
        sys.exit(f"{OUTFOX} cannot be run")
    global checks
    with multiprocessing.Pool(SIDE_BY_SIDE, maxtasksperchild=1) as pool:  # they wait most of the time
        for n, failed in pool.imap(check_one_of, range(len(DOCUMENTS)), chunksize=1):
            checks += n
            failures.extend(failed)
    for part in (check_modes, check_cli, check_json, check_campaign_json, check_keys, check_config, check_plans, check_trials,
                 check_oracles,
                 check_limits, check_api, check_bounds, check_proxy_words, check_rules, check_log, check_links,
                 check_walk, check_files):
        part()
    print("\n".join([*failures, f"checks: {checks}"]))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
