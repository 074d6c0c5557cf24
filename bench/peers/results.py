# SPDX-License-Identifier: Apache-2.0
"""What was measured, the targets, and how both are shown.

A cell (suite, system, shape) has at most one sample per round. Figures are medians over the rounds;
a ratio of two systems is the median of the ratios within each round, as they ran next to each other
then. Samples that others disturbed count only where there is no calm one.
"""
import json
from statistics import median
from typing import NamedTuple


class Suite(NamedTuple):
    protocol: str
    title: str
    shapes: list  # (connections, streams on each)
    judged: bool  # it has targets, else it gets fewer rounds
    peers: list


class Sample(NamedTuple):
    per_s: float
    cpu_us: float  # of the proxy, per request; of the service where there is no proxy
    disturbed: float  # share of the processors that others took meanwhile

    @property
    def calm(self):
        return self.disturbed <= DISTURBED


H1_SHAPES, H2_SHAPES = [(1, 1), (8, 1), (64, 1)], [(1, 1), (1, 32), (8, 32)]
OURS = ["outfox pass", "outfox tracked", "outfox fault"]
SUITES = [
    Suite("h1", "HTTP/1.1, GET, wrk, 1 / 8 / 64 connections", H1_SHAPES, True,
          ["nginx", "haproxy"]),
    Suite("h2", "h2c, GET, h2load, connections x streams 1x1 / 1x32 / 8x32", H2_SHAPES, False,
          ["nginx", "haproxy", "nghttpx"]),
    Suite("grpc", "gRPC (h2c, unary), h2load, connections x streams 1x1 / 1x32 / 8x32", H2_SHAPES,
          True, ["nginx", "haproxy", "nghttpx"]),
]
MB, KB = 1e6, 1024
DISTURBED = 0.03  # share of the processors taken by others from which on a sample is not calm


class Target(NamedTuple):
    what: str
    figure: str  # a method of Results
    arguments: tuple
    at_most: bool
    limit: float
    unit: str


def at_most(what, figure, arguments, limit, unit):
    return Target(what, figure, arguments, True, limit, unit)


def at_least(what, figure, arguments, limit, unit):
    return Target(what, figure, arguments, False, limit, unit)


def h1_targets():
    for shape, passing, tracked, fault in (((8, 1), 16, 17, 9), ((64, 1), 14, 15, 7.5)):
        at = f"HTTP/1.1, {shape[0]} connections"
        yield at_most(f"{at}: pass-through", "cpu_us", ("h1", "outfox pass", shape), passing,
                      "us CPU per request")
        for peer in ("nginx", "haproxy"):
            yield at_most(f"{at}: pass-through", "cpu_ratio", ("h1", "outfox pass", peer, shape),
                          0.85, f"x CPU of {peer}")
        yield at_most(f"{at}: tracked", "cpu_us", ("h1", "outfox tracked", shape), tracked,
                      "us CPU per request")
        yield at_least(f"{at}: tracked", "speed_ratio",
                       ("h1", "outfox tracked", "outfox pass", shape), 0.95,
                       "x throughput of pass-through")
        yield at_most(f"{at}: fault", "cpu_us", ("h1", "outfox fault", shape), fault,
                      "us CPU per request")
        yield at_least(f"{at}: fault", "speed_ratio", ("h1", "outfox fault", "direct", shape),
                       0.92, "x throughput of direct")


def grpc_targets():
    shape, at = (1, 32), "gRPC, 1x32"
    for path, name in (("outfox pass", "pass-through"), ("outfox tracked", "tracked")):
        yield at_most(f"{at}: {name}", "cpu_us", ("grpc", path, shape), 6.5, "us CPU per request")
        yield at_most(f"{at}: {name}", "cpu_ratio", ("grpc", path, "nghttpx", shape), 1.0,
                      "x CPU of nghttpx")
    yield at_most(f"{at}: fault", "cpu_us", ("grpc", "outfox fault", shape), 3.7,
                  "us CPU per request")
    yield at_least(f"{at}: fault", "speed_ratio", ("grpc", "outfox fault", "direct", shape), 0.8,
                   "x throughput of direct")


def memory_targets():
    yield at_most("idle, 20 proxies", "fact", ("idle_rss",), 10 * MB, "bytes resident")
    yield at_most("tracked call with a new name", "fact", ("bytes_per_name",), KB, "bytes kept")
    yield at_most("tracked call with a known name", "fact", ("bytes_per_call",), KB, "bytes kept")


class Results:
    def __init__(self):
        self.cells = {}
        self.facts = {}  # single figures by name

    def add(self, suite, system, shape, turn, sample):
        self.cells.setdefault((suite, system, shape), {})[turn] = sample

    def samples(self, suite, system, shape):
        """The samples that count."""
        samples = self.cells.get((suite, system, shape), {}).values()
        return [sample for sample in samples if sample.calm] or list(samples)

    def cpu_us(self, suite, system, shape):
        samples = self.samples(suite, system, shape)
        return median(sample.cpu_us for sample in samples) if samples else None

    def per_s(self, suite, system, shape):
        samples = self.samples(suite, system, shape)
        return median(sample.per_s for sample in samples) if samples else None

    def ratio(self, field, suite, system, other, shape):
        ours, others = (self.cells.get((suite, name, shape), {}) for name in (system, other))
        pairs = [(ours[turn], others[turn]) for turn in ours if turn in others]
        pairs = [pair for pair in pairs if pair[0].calm and pair[1].calm] or pairs
        ratios = [getattr(a, field) / getattr(b, field) for a, b in pairs]
        return median(ratios) if ratios else None

    def cpu_ratio(self, *cell):
        return self.ratio("cpu_us", *cell)

    def speed_ratio(self, *cell):
        return self.ratio("per_s", *cell)

    def fact(self, name):
        return self.facts.get(name)

    def spread(self, cells):
        """The widest range of CPU time within these cells, as a share of the median."""
        rows = [[sample.cpu_us for sample in self.samples(*cell)] for cell in cells]
        return max(((max(row) - min(row)) / median(row) for row in rows if row), default=0)

    def calm(self, cells):
        """How many samples of these cells are calm, of how many."""
        samples = [sample for cell in cells for sample in self.cells.get(cell, {}).values()]
        return f"{sum(sample.calm for sample in samples)}/{len(samples)}"


def judge(results, target):
    """(value, verdict)"""
    value = getattr(results, target.figure)(*target.arguments)
    if value is None:
        return None, "not measured"
    return value, "met" if (value <= target.limit if target.at_most else value >= target.limit) \
        else "MISSED"


def figure(value):
    if value is None:
        return "-"
    return f"{value:,.0f}" if value >= 1000 else f"{value:.0f}" if value >= 100 else f"{value:.2f}"


def triple(values, form):
    return " / ".join("-" if value is None else form.format(value) for value in values)


def suite_lines(results, suite):
    yield f"{suite.title}"
    yield (f"  {'':<15} {'requests/s':>27} {'throughput / direct':>20} {'proxy CPU us/request':>22}"
           f" {'spread':>7} {'calm':>6}")
    for name in ["direct", *suite.peers, *OURS]:
        cells = [(suite.protocol, name, shape) for shape in suite.shapes]
        if not any(cell in results.cells for cell in cells):
            continue
        direct = name == "direct"
        ratios = [results.speed_ratio(suite.protocol, name, "direct", shape)
                  for shape in suite.shapes]
        yield (f"  {name:<15} {triple([results.per_s(*c) for c in cells], '{:,.0f}'):>27}"
               f" {'' if direct else triple(ratios, '{:.2f}'):>20}"
               f" {'' if direct else triple([results.cpu_us(*c) for c in cells], '{:.1f}'):>22}"
               f" {'' if direct else format(results.spread(cells), '.0%'):>7}"
               f" {results.calm(cells):>6}")
    yield ""


def instruction_lines(results):
    yield "Instructions per request, in user space, one connection, one request at a time"
    yield f"  {'':<15} {'pass':>8} {'tracked':>8} {'fault':>8}"
    for suite in SUITES:
        counts = [results.fact(f"instructions_{suite.protocol}_{path}")
                  for path in ("pass", "tracked", "fault")]
        if any(counts):
            yield f"  {suite.title.split(',')[0].split(' ')[0]:<15} " \
                + " ".join(f"{figure(count):>8}" for count in counts)
    yield ""


def target_lines(results, targets):
    if targets:
        yield "Targets"
    for target in targets:
        value, verdict = judge(results, target)
        sign = "<=" if target.at_most else ">="
        yield (f"  {target.what:<39} {figure(value):>11} {sign} {figure(target.limit):<10}"
               f" {target.unit:<29} {verdict}")
    yield ""


def targets_of(parts):
    """The targets of these parts of the benchmark."""
    every = {"h1": h1_targets, "grpc": grpc_targets, "memory": memory_targets}
    return [target for part in every if part in parts for target in every[part]()]


def text(results, parts):
    for suite in SUITES:
        if suite.protocol in parts:
            yield from suite_lines(results, suite)
    if "instructions" in parts:
        yield from instruction_lines(results)
    yield from target_lines(results, targets_of(parts))


def json_lines(results, parts, machine):
    yield json.dumps({"bench": "proxy", "machine": machine})
    for (suite, system, shape), samples in results.cells.items():
        yield json.dumps({
            "bench": "proxy", "suite": suite, "system": system, "connections": shape[0],
            "streams": shape[1], "requests_per_s": round(results.per_s(suite, system, shape), 1),
            "ratio_to_direct": round(results.speed_ratio(suite, system, "direct", shape) or 0, 4),
            "cpu_us": round(results.cpu_us(suite, system, shape), 3),
            "rounds": [[round(figure, 3) for figure in sample]
                       for sample in samples.values()]})
    for name, value in results.facts.items():
        yield json.dumps({"bench": "proxy", "figure": name, "value": round(value, 3)})
    for target in targets_of(parts):
        value, verdict = judge(results, target)
        yield json.dumps({
            "bench": "proxy", "target": target.what, "unit": target.unit,
            "value": value if value is None else round(value, 4),
            "at_most" if target.at_most else "at_least": target.limit, "verdict": verdict.lower()})
