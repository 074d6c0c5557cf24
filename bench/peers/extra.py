# SPDX-License-Identifier: Apache-2.0
"""Instructions per request, and memory: figures of Outfox alone.

Instructions are those that valgrind counts in user space, start to end, of a short and of a long
run; the difference belongs to the requests that the long one had more. They are counted twice: what
differs between the two is what the figure is worth.
"""
import re
import time

from peers import clients, procs, systems

SHORT, LONG = 500, 3000
CALLS, NAMES, WARM = 100000, 20000, 2000
VALGRIND_S = 60


def letters(number):
    """A number as eight letters: a path that nobody takes for an identifier."""
    return "".join(chr(ord("a") + number // 26 ** i % 26) for i in range(8))


def total_of(system, out):
    """Ends a run under valgrind; returns the instructions of all of it."""
    code = system.child.stop()
    total = re.search(r"^(?:summary|totals): (\d+)", out.read_text(), re.MULTILINE) \
        if out.exists() else None
    if code != 0 or not total:
        raise system.child.failed(f"ended with {code} under valgrind")
    return int(total[1])


def count_pair(outfox, origin, protocol, path):
    """Instructions of a short and of a long run, side by side, one on each core."""
    started = []
    try:
        for requests, core in ((SHORT, procs.SERVER_CORE), (LONG, procs.CLIENT_CORE)):
            out = procs.folder / f"callgrind-{len(procs.children)}"
            valgrind = ["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={out}"]
            system = systems.start_outfox(outfox, origin.port, path, valgrind, core)
            started.append((system, requests, out))
        running = [(clients.start_exact(system.port, requests, protocol), requests)
                   for system, requests, _ in started]
        for client, requests in running:
            clients.end_exact(client, requests, VALGRIND_S)
        return [total_of(system, out) for system, _, out in started]
    finally:
        for system, _, _ in started:
            system.child.kill()


def instructions(outfox, origin, protocol, path):
    """Instructions per request, counted twice."""
    counts = []
    for _ in range(2):
        short, long = count_pair(outfox, origin, protocol, path)
        counts.append((long - short) / (LONG - SHORT))
    return counts


def idle_memory(outfox, origin, proxies=20):
    """Resident bytes of one process with so many proxies and no traffic: (all, private)."""
    lines = ["proxies:"]
    for i in range(proxies):
        lines += [f"  - service: service-{i}", "    listen: 127.0.0.1:0",
                  f"    to: 127.0.0.1:{origin.port}"]
    file = systems.write("idle.yaml", "\n".join(lines) + "\n")
    child = procs.Child("outfox idle", [outfox, "proxy", file], procs.SERVER_CORE)
    child.wait_said(rf"service-{proxies - 1}: listening on ")
    time.sleep(0.5)
    memory = child.memory()
    child.stop()
    return memory


def grow(system, requests, paths=None):
    """How the private memory of a system grows with these requests, in bytes per request."""
    before = system.child.memory()[1]
    clients.end_exact(clients.start_exact(system.port, requests, "h1", paths), requests, 60)
    return max(system.child.memory()[1] - before, 0) / requests


def call_memory(outfox, origin):
    """Bytes kept per tracked call: (of a name known before, of a new one)."""
    system = systems.start_outfox(outfox, origin.port, "tracked")
    paths = systems.write("paths", "".join(f"http://127.0.0.1:{system.port}/{letters(i)}\n"
                                           for i in range(NAMES)))
    grow(system, WARM)
    known = grow(system, CALLS)
    new = grow(system, NAMES, paths)
    system.child.stop()
    return known, new
