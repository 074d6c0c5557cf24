# SPDX-License-Identifier: Apache-2.0
"""The programs that make load, and what they say came of it.

What is counted as a request has an answer with a status, and every client run is held against what
it was meant to see: a benchmark of errors would be a fast one.
"""
import http.client
import re
from typing import NamedTuple

from peers import procs

GRPC_PATH, PATH = "/bench.Echo/Say", "/bench"
GRPC_MESSAGE = b"\0\0\0\0\x0c\x0a\x0ahello you!"
MORE_S = 20  # beyond the time of the run itself


class Load(NamedTuple):
    requests: int
    per_s: float
    good: int  # answers with status 2xx; h2load also counts those that began but did not end
    bad: int  # answers with another status
    errors: int  # requests without an answer


def number(pattern, text, default=None):
    found = re.search(pattern, text)
    if not found and default is None:
        raise procs.Failure(f"a client did not say {pattern}: {text.strip()[-300:]}")
    return float(found[1]) if found else default


def wrk(port, connections, seconds):
    text = procs.run("wrk", ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "5s",
                             f"http://127.0.0.1:{port}{PATH}"], procs.CLIENT_CORE,
                     seconds + MORE_S)
    requests = int(number(r"(\d+) requests in", text))
    bad = int(number(r"Non-2xx or 3xx responses: (\d+)", text, 0))
    errors = re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)",
                       text)
    return Load(requests, number(r"Requests/sec:\s+([\d.]+)", text), requests - bad, bad,
                sum(map(int, errors.groups())) if errors else 0)


def grpc_words():
    body = procs.folder / "message"
    if not body.exists():
        body.write_bytes(GRPC_MESSAGE)
    return ["-d", body, "-H", "content-type: application/grpc", "-H", "te: trailers"]


def h2load_words(port, grpc):
    words = grpc_words() if grpc else []
    return [*words, f"http://127.0.0.1:{port}{GRPC_PATH if grpc else PATH}"]


def h2load_result(text):
    counts = re.search(r"requests: \d+ total, \d+ started, (\d+) done, \d+ succeeded, \d+ failed, "
                       r"(\d+) errored, (\d+) timeout", text)
    statuses = re.search(r"status codes: (\d+) 2xx, (\d+) 3xx, (\d+) 4xx, (\d+) 5xx", text)
    if not counts or not statuses:
        raise procs.Failure(f"h2load did not say what it did: {text.strip()[-300:]}")
    done, errored, late = map(int, counts.groups())
    good, *bad = map(int, statuses.groups())
    return Load(done, number(r"finished in [^,]*, ([\d.]+) req/s", text), good, sum(bad),
                errored + late)


def h2load(port, connections, streams, seconds, grpc):
    """As many requests as fit into the time."""
    return h2load_result(procs.run(
        "h2load", ["h2load", "-t1", f"-c{connections}", f"-m{streams}", f"-D{seconds}",
                   *h2load_words(port, grpc)], procs.CLIENT_CORE, seconds + MORE_S))


def start_exact(port, requests, protocol, paths=None):
    """Starts a client that makes exactly so many requests, one after the other on one connection;
    `paths` is a file of addresses to use in turn."""
    words = ["-i", paths] if paths else h2load_words(port, protocol == "grpc")
    version = ["--h1"] if protocol == "h1" else []
    return procs.Child(f"h2load, {protocol}", ["h2load", "-t1", "-c1", "-m1", f"-n{requests}",
                                               *version, *words], procs.CLIENT_CORE)


def end_exact(client, requests, timeout_s):
    if client.wait(timeout_s) != 0:
        raise client.failed("ended with an error")
    load = h2load_result(client.said())
    if load.requests != requests or load.errors:
        raise client.failed(f"{load.requests} of {requests} requests were answered")


def probe_h1(port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", PATH)
        answer = connection.getresponse()
        return {"status": str(answer.status), "body": answer.read().decode("latin-1")}
    finally:
        connection.close()


def probe_h2(port, grpc):
    text = procs.run("nghttp", ["nghttp", "-v", "--timeout=5s", *h2load_words(port, grpc)],
                     procs.CLIENT_CORE, MORE_S)
    fields = dict(re.findall(r"recv \(stream_id=\d+\) :?([\w-]+): (.*)", text))
    return {"status": fields.get("status"), "grpc": fields.get("grpc-status"), "body": text}


def probe(port, protocol):
    """One request: what is answered?"""
    try:
        return probe_h1(port) if protocol == "h1" else probe_h2(port, protocol == "grpc")
    except (OSError, http.client.HTTPException) as error:
        raise procs.Failure(f"no answer on port {port}: {error}") from None
