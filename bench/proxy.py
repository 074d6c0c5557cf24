#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench/proxy.py [OPTIONS]: what a call through Outfox costs, next to other proxies.

  --outfox FILE     the program, default build/outfox
  --peers DIR       where `make` put the origins, default build/bench/peers
  --json FILE       also write the figures there, one JSON object per line
  --seconds N       of each measurement, default $BENCH_SECONDS or 1
  --rounds N        default $BENCH_ROUNDS or 3; a figure is the median of the rounds
  --only WORDS      some of h1,h2,grpc,instructions,memory

The service and the proxy share one core, the client has the other. A round visits all systems, one
right after the other, so that a slow minute of the machine hits all of them. docs/performance.md
says what the figures mean. Exit code 0 whatever they are, 1 when something could not be measured,
2 for a bad command line.
"""
import argparse
import os
import platform
import re
import signal
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from peers import clients, extra, procs, results, systems  # noqa: E402

PARTS = ["h1", "h2", "grpc", "instructions", "memory"]
TOP = Path(__file__).resolve().parent.parent
STARTERS = {"nginx": systems.start_nginx, "haproxy": systems.start_haproxy,
            "nghttpx": systems.start_nghttpx}
BUSY = 0.10  # share of the processors taken by others from which on, over all, times say little

problems = []


def arguments():
    def positive(text):
        if not re.fullmatch(r"[1-9]\d{0,3}", text):
            raise argparse.ArgumentTypeError(f"{text} is not a whole number from 1 to 9999")
        return int(text)

    def parts(text):
        if not set(text.split(",")) <= set(PARTS):
            raise argparse.ArgumentTypeError(f"{text}: choose from {','.join(PARTS)}")
        return text.split(",")

    parser = argparse.ArgumentParser(usage=__doc__, add_help=True)
    parser.add_argument("--outfox", type=Path, default=TOP / "build/outfox")
    parser.add_argument("--peers", type=Path, default=TOP / "build/bench/peers")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--seconds", type=positive, default=os.environ.get("BENCH_SECONDS") or "1")
    parser.add_argument("--rounds", type=positive, default=os.environ.get("BENCH_ROUNDS") or "3")
    parser.add_argument("--only", type=parts, default=PARTS)
    options = parser.parse_args()
    options.outfox, options.peers = options.outfox.resolve(), options.peers.resolve()
    return options


def problem(what):
    if str(what) in problems:
        return
    problems.append(str(what))
    print(f"bench: {what}", file=sys.stderr, flush=True)


def progress(what):
    """What is going on, for someone who watches."""
    if sys.stderr.isatty():
        print(f"\r{what:<40}\r", end="", file=sys.stderr, flush=True)


def attempt(action, *words):
    """The result, or None and one problem more."""
    try:
        return action(*words)
    except (procs.Failure, OSError) as failure:
        problem(failure)
        return None


# ---- the machine ----

def machine(found):
    cpu = re.search(r"model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text())
    release = re.search(r'PRETTY_NAME="(.*)"', Path("/etc/os-release").read_text())
    return {"cpu": cpu[1] if cpu else platform.machine(), "cores": len(procs.cores),
            "kernel": platform.release(), "system": release[1] if release else "unknown",
            "load": round(os.getloadavg()[0], 2), **found}


def machine_lines(known):
    yield (f"{known['cpu']}, {known['cores']} cores, Linux {known['kernel']}, {known['system']}, "
           f"load {known['load']}")
    yield ", ".join(f"{name} {known[name]}" for name in systems.VERSIONS if name in known)
    if known["cores"] < 2:
        yield "Only one core: the client disturbs what it measures."
    yield ""


# ---- throughput and time ----

def check_answer(system, protocol):
    """One request before measuring: is this what is meant to be measured?"""
    seen = clients.probe(system.port, protocol)
    status = "503" if system.fault and protocol != "grpc" else "200"
    grpc = None if protocol != "grpc" else "14" if system.fault else "0"
    body = "" if system.fault else "hello back" if protocol == "grpc" else '{"ok":true}'
    if seen["status"] != status or seen.get("grpc") != grpc or body not in seen["body"]:
        raise procs.Failure(f"{system.name}, {protocol}: answered with status {seen['status']}, "
                            f"grpc-status {seen.get('grpc')}")
    system.requests += 1
    return True


def start_all(options, suite, origin):
    """The systems of a suite that can be started, direct first."""
    started = [attempt(STARTERS[peer], origin.port, suite.protocol) for peer in suite.peers]
    started += [attempt(systems.start_outfox, options.outfox, origin.port, path)
                for path in ("pass", "tracked", "fault")]
    return [origin, *(system for system in started if system)]


def load(options, suite, system, shape):
    connections, streams = shape
    if suite.protocol == "h1":
        return clients.wrk(system.port, connections, options.seconds)
    return clients.h2load(system.port, connections, streams, options.seconds,
                          suite.protocol == "grpc")


def measure(options, suite, system, shape, usage, origin):
    """One sample; refuses one in which not all answers were as meant."""
    watched = {system.child, origin.child} - {None}
    before, cpu, all_cpu = usage.now(), system.cpu_ns(), sum(child.cpu_ns() for child in watched)
    done = load(options, suite, system, shape)
    cpu = system.cpu_ns() - cpu
    all_cpu = sum(child.cpu_ns() for child in watched) - all_cpu
    disturbed = usage.add(before, usage.now(), all_cpu / 1e9)
    system.requests += done.requests
    system.left += shape[0] * shape[1]
    system.read_log()
    wrong = done.good if system.fault and suite.protocol != "grpc" else done.bad
    if done.requests == 0 or done.errors or wrong:
        raise procs.Failure(f"{system.name}, {suite.protocol} {shape}: {done.requests} answers, "
                            f"{wrong} of them not as meant, {done.errors} errors")
    return results.Sample(done.per_s, cpu / done.requests / 1e3, disturbed)


class Patience:
    """Measurements may be repeated because others disturbed them, but not for ever."""

    def __init__(self, most):
        self.left = most

    def measure(self, *what):
        """The least disturbed of up to three samples."""
        samples = [measure(*what)]
        while not samples[-1].calm and len(samples) < 3 and self.left > 0:
            self.left -= 1
            samples.append(measure(*what))
        return min(samples, key=lambda sample: sample.disturbed)


def run_suite(options, suite, running, usage, found):
    """Visits all systems in each round, beginning with another one each time."""
    origin = running[0]
    running = [system for system in running if attempt(check_answer, system, suite.protocol)]
    rounds = options.rounds if suite.judged else options.rounds // 2 + 1
    patience = Patience(rounds * len(running) * len(suite.shapes) // 6)
    for turn in range(rounds):
        for shape in suite.shapes:
            order = running[turn % len(running):] + running[:turn % len(running)]
            progress(f"{suite.protocol} {shape[0]}x{shape[1]}, round {turn + 1} of "
                     f"{rounds}")
            for system in order:
                sample = attempt(patience.measure, options, suite, system, shape, usage, origin)
                if sample:
                    found.add(suite.protocol, system.name, shape, turn, sample)
    progress("")


def check_log(system):
    """Tracking was measured only if every call has its line."""
    system.child.stop()
    system.read_log()
    if not system.requests <= system.logged <= system.requests + system.left:
        raise procs.Failure(f"{system.name}: {system.requests} calls were answered, "
                            f"{system.logged} are in the log")


def stop_all(running):
    for system in running:
        if system.log:
            attempt(check_log, system)
        system.child.kill()


def measure_suites(options, found):
    usage = procs.Usage()
    for origin_name, protocols in (("origin", ["h1"]), ("origin_h2", ["h2", "grpc"])):
        suites = [suite for suite in results.SUITES
                  if suite.protocol in protocols and suite.protocol in options.only]
        origin = suites and attempt(systems.start_origin, options.peers, origin_name)
        if not origin:
            continue
        running = start_all(options, suites[0], origin)
        for suite in suites:
            run_suite(options, suite, running, usage, found)
        stop_all(running)
    return usage


# ---- Outfox alone ----

def measure_instructions(options, found):
    for protocol, origin_name in (("h1", "origin"), ("grpc", "origin_h2")):
        origin = attempt(systems.start_origin, options.peers, origin_name)
        for path in ("pass", "tracked", "fault") if origin else ():
            progress(f"instructions, {protocol} {path}")
            counts = attempt(extra.instructions, options.outfox, origin, protocol, path)
            if counts:
                found.facts[f"instructions_{protocol}_{path}"] = sum(counts) / len(counts)
                found.facts[f"instructions_{protocol}_{path}_differ"] = abs(counts[0] - counts[1])
    progress("")


def measure_memory(options, found):
    origin = attempt(systems.start_origin, options.peers, "origin")
    idle = origin and attempt(extra.idle_memory, options.outfox, origin)
    if idle:
        found.facts["idle_rss"], found.facts["idle_private"] = idle
    calls = origin and attempt(extra.call_memory, options.outfox, origin)
    if calls:
        found.facts["bytes_per_call"], found.facts["bytes_per_name"] = calls


# ---- all of it ----

def note_lines(found, usage):
    differ = [value for name, value in found.facts.items() if name.endswith("_differ")]
    if differ:
        yield (f"Instructions were counted twice; the two counts differ by at most "
               f"{max(differ):,.1f} per request.")
    if "idle_private" in found.facts:
        yield (f"Of the {found.facts['idle_rss'] / 1e6:.1f} MB that 20 idle proxies occupy, "
               f"{found.facts['idle_private'] / 1e6:.1f} MB are private.")
    if usage.elapsed_s:
        others, stolen = usage.shares()
        found.facts["others_share"], found.facts["stolen_share"] = others, stolen
        yield (f"Meanwhile other programs used {others:.0%} of the processors and the hypervisor "
               f"took {stolen:.0%}." + (" That is too much to trust the times."
                                        if others + stolen > BUSY else ""))


def stop_on_signal(number, _):
    raise SystemExit(128 + number)


def stop_late(*_):
    print("bench: took far too long; ended", file=sys.stderr)
    raise SystemExit(1)


def guard(options):
    """Signals end it in order, and nothing goes on for ever; procs.py sees to what was started."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop_on_signal)
    signal.signal(signal.SIGALRM, stop_late)
    signal.alarm(600 + 3 * 60 * options.rounds * (options.seconds + 1))


def main():
    options = arguments()
    guard(options)
    os.environ["PATH"] += ":/usr/local/sbin:/usr/sbin"
    versions = systems.versions()
    missing = [name for name in systems.VERSIONS if name not in versions]
    if missing:
        problem(f"missing: {', '.join(missing)}; run tools/install-deps bench")
    known = machine(versions)
    print("\n".join(machine_lines(known)), flush=True)
    found = results.Results()
    usage = measure_suites(options, found)
    if "instructions" in options.only:
        measure_instructions(options, found)
    if "memory" in options.only:
        measure_memory(options, found)
    notes = list(note_lines(found, usage))
    print("\n".join([*results.text(found, options.only), *notes]), flush=True)
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        lines = results.json_lines(found, options.only, known)
        options.json.write_text("\n".join(lines) + "\n", encoding="utf-8")
    if problems:
        print("\n".join(["", "Not measured:", *("  " + what for what in problems)]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
