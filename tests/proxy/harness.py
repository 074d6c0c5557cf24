# SPDX-License-Identifier: Apache-2.0
"""What the scripts of tests/proxy share: `outfox proxy` as a child, real peers around it, waiting
with deadlines, and reading the log of calls.

A script starts what it needs with `Proxy`, `origin`, `grpc_service` and friends, asks `checks`, and
ends with `end()`, which stops the proxies (each must end well) and prints the count. Everything
listens on loopback, on a port that the system chose. Whatever happens, no child is left behind.
"""
import atexit
import fcntl
import hashlib
import importlib.util
import json
import os
import random
import re
import resource
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import NamedTuple

try:
    import requests
except ImportError:  # the first python3 of the path is not the one that has it
    if sys.executable == "/usr/bin/python3":
        raise
    os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])

sys.dont_write_bytecode = True
sys.stdout.reconfigure(line_buffering=True)
sys.setswitchinterval(0.001)


def load_cli_harness():
    where = Path(os.environ["TOP"], "tests/cli/harness.py")
    spec = importlib.util.spec_from_file_location("cli_harness", where)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


cli = load_cli_harness()
checks, run, OUTFOX, TOP = cli.checks, cli.run, cli.OUTFOX, cli.TOP
SANITIZED, VOLUME = cli.SANITIZED, cli.VOLUME
PEERS = TOP / "tests/proxy/peers"
PATIENCE_S = 60 if SANITIZED else 30  # no wait of a test is longer, unless it says so
HOST = "127.0.0.1"

ENVIRONMENT = dict(os.environ)  # as it was; npm may need to be sent elsewhere, peers must not be
CLEAN = [name for name in os.environ
         if name.lower().endswith("_proxy") or name in ("NODE_OPTIONS", "NODE_PATH", "CURL_HOME")]
for name in CLEAN:
    del os.environ[name]
os.environ["PATH"] += ":/usr/sbin"  # where nginx and haproxy are

children = []


def end_children():
    for child in children:
        child.kill()


atexit.register(end_children)
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, lambda number, frame: sys.exit(128 + number))


def wait_until(true, what, timeout=PATIENCE_S):
    """Waits for true() and returns what it gave; a deadline that passes is a failed check."""
    ends = time.monotonic() + timeout
    pause = 0.002
    while True:
        got = true()
        if got:
            return got
        if time.monotonic() > ends:
            checks.that(False, f"not in {timeout} s: {what}")
            return got
        time.sleep(pause)
        pause = min(pause * 1.5, 0.05)


# ---- children ----

class Child:
    """A process whose lines on standard output and error are kept as they come."""

    def __init__(self, command, env=None, talk=False, cwd=None, limit=None):
        self.command = [str(word) for word in command]
        self.news = threading.Condition()
        self.out, self.err = [], []
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.PIPE if talk else subprocess.DEVNULL, cwd=cwd,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **(env or {})},
            preexec_fn=limit and (lambda: resource.setrlimit(resource.RLIMIT_NOFILE, limit)))
        children.append(self)
        self.readers = [threading.Thread(target=self.keep, args=pair, daemon=True)
                        for pair in ((self.process.stdout, self.out),
                                     (self.process.stderr, self.err))]
        for reader in self.readers:
            reader.start()

    def keep(self, stream, lines):
        for line in stream:
            with self.news:
                lines.append(line.decode(errors="replace").rstrip("\n"))
                self.news.notify_all()
        with self.news:
            self.news.notify_all()

    @property
    def pid(self):
        return self.process.pid

    @property
    def said(self):
        """What it said on standard error."""
        return "\n".join(self.err)

    def match(self, pattern, lines=None, timeout=PATIENCE_S, after=0):
        """The first line that matches, waited for; None when it never comes."""
        lines = self.out if lines is None else lines
        ends = time.monotonic() + timeout
        seen = after
        with self.news:
            while True:
                while seen < len(lines):
                    found = re.search(pattern, lines[seen])
                    if found:
                        return found
                    seen += 1
                left = ends - time.monotonic()
                if left <= 0 or (self.process.poll() is not None
                                 and not any(reader.is_alive() for reader in self.readers)):
                    return None
                self.news.wait(min(left, 0.2))

    def write(self, text):
        self.process.stdin.write(text.encode())
        self.process.stdin.flush()

    def signal(self, number):
        self.process.send_signal(number)

    def wait(self, timeout=PATIENCE_S):
        """The exit code; None when it does not end in time."""
        try:
            code = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            return None
        for reader in self.readers:
            reader.join(5)
        return code

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def stop(self):
        """For peers, whose exit code does not matter."""
        if self.process.poll() is None:
            self.process.terminate()
            if self.wait(10) is None:
                self.kill()

    def status(self, field):
        """A figure of /proc/PID/status, in KiB where it has a unit."""
        text = Path(f"/proc/{self.pid}/status").read_text(encoding="ascii")
        return int(re.search(rf"^{field}:\s+(\d+)", text, re.MULTILINE)[1])

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))


class Proxy(Child):
    """`outfox proxy`, started and listening. Several --to-less words may be given; `file` starts
    it from a configuration file with `count` proxies in it."""

    number = 0

    def __init__(self, *words, to=None, listen=f"{HOST}:0", faults=(), log=True, file=None, count=1,
                 env=None, service=None, limit=None):
        Proxy.number += 1
        self.log = Path(f"calls-{Proxy.number}.jsonl").resolve()
        command = [OUTFOX, "proxy"]
        if file:
            command.append(file)
        if to is not None:
            command += ["--listen", listen, "--to", to]
        if service:
            command += ["--service", service]
        for fault in faults:
            command += ["--fault", fault]
        if log:
            command += ["--log", self.log]
        super().__init__([*command, *words], env=env, limit=limit)
        self.ended = None
        self.urls = {}
        for nth in range(count):
            found = self.match(r"^(\S+): listening on (\S+), to (\S+)$", after=nth)
            if not found:
                print(f"outfox did not start: {' '.join(self.command)}\n{self.said}")
                print("\n".join(self.out))
                checks.that(False, "outfox starts", self.said)
                end()
            self.urls[found[1]] = found[2]
        self.url = next(iter(self.urls.values()))
        self.port = port_of(self.url)

    def calls(self, count=1, where=lambda call: True, timeout=PATIENCE_S):
        """The lines of the log that `where` picks, once there are `count` of them."""
        ends = time.monotonic() + timeout
        while True:
            text = self.log.read_text(encoding="utf-8") if self.log.exists() else ""
            lines = text.split("\n")[:-1]
            found = [call for call in map(json.loads, lines) if where(call)]
            if len(found) >= count or time.monotonic() > ends:
                checks.that(len(found) >= count, f"{count} lines in the log", f"{len(found)} found")
                return found
            time.sleep(0.02)

    def fault(self, name, timeout=PATIENCE_S):
        """The last line of the log about this fault; {} when there is none."""
        found = self.calls(1, lambda call: call["fault"] == name, timeout)
        return found[-1] if found else {}

    def end(self, code=0, how=signal.SIGTERM, timeout=PATIENCE_S):
        """Ends it with a signal and checks its exit code."""
        if self.ended is not None:
            return self.ended
        if self.process.poll() is None:
            self.signal(how)
        self.ended = self.wait(timeout)
        words = " ".join(self.command[1:])
        checks.that(self.ended == code, f"ends with {code}: outfox {words[:300]}",
                    f"got {self.ended}: {self.said[-1500:]}")
        if self.ended is None:
            self.kill()
        return self.ended


def port_of(url):
    found = re.search(r":(\d+)$", url)
    return int(found[1]) if found else None


def each(*parts):
    """Runs the parts of a script; one that breaks off is a failed check, and the next one runs.
    With words on the command line, only the parts whose names contain one of them."""
    for part in parts:
        if sys.argv[1:] and not any(word in part.__name__ for word in sys.argv[1:]):
            continue
        started = time.monotonic()
        try:
            part()
        except Exception:
            checks.that(False, f"{part.__name__} ran to its end", traceback.format_exc()[-1800:])
        print(f"{part.__name__}: {time.monotonic() - started:.2f} s")


def end():
    """Stops the proxies that still run, and says how many checks there were."""
    for child in list(children):
        if isinstance(child, Proxy) and child.ended is None:
            child.end()
    for child in children:
        if isinstance(child, Node) and child.process.poll() not in (None, -signal.SIGKILL):
            checks.that(False, f"{child.command[1]} did not end by itself", child.said[-1500:])
    end_children()
    checks.end()


# ---- peers ----

def npm_modules():
    """The folder with the Node packages of the tests, installed once per build folder."""
    folder = TOP / "build/npm"
    folder.mkdir(parents=True, exist_ok=True)
    files = [PEERS / name for name in ("package.json", "package-lock.json")]
    stamp = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
    with open(folder / "lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = folder / "installed"
        if not done.exists() or done.read_text(encoding="ascii") != stamp:
            for file in files:
                shutil.copy(file, folder)
            made = subprocess.run(
                ["npm", "ci", "--no-audit", "--no-fund", "--omit=dev", "--ignore-scripts",
                 "--loglevel=error"], cwd=folder, env=ENVIRONMENT, check=False, timeout=300,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            if made.returncode:
                print(made.stdout.decode(errors="replace"))
                checks.that(False, "npm installs the packages of tests/proxy/peers")
                end()
            done.write_text(stamp, encoding="ascii")
    return folder / "node_modules"


class Node(Child):
    """A script of peers/, with the packages of npm_modules() at hand."""

    def __init__(self, script, *words, packages=False, **more):
        env = {"NODE_PATH": str(npm_modules())} if packages else {}
        super().__init__(["node", PEERS / script, *words], env=env, **more)

    def listening(self):
        found = self.match(r"^listening (\S+)$")
        if not found:
            print(f"{' '.join(self.command)}: {self.said}")
            checks.that(False, "a peer starts", self.said)
            end()
        return found[1]


class Service:
    """A Node peer that listens: `to` for --to, `port`, and `seen`, what it counts."""

    def __init__(self, script, *words, packages=False):
        self.node = Node(script, *words, packages=packages)
        self.to = self.node.listening()
        self.port = port_of(self.to)
        self.control = int(self.node.match(r"^control (\d+)$")[1])

    def ask(self, path="/"):
        with socket.create_connection((HOST, self.control), timeout=PATIENCE_S) as link:
            link.sendall(f"GET {path} HTTP/1.0\r\n\r\n".encode())
            text = b"".join(iter(lambda: link.recv(65536), b""))
        return json.loads(text.split(b"\r\n\r\n", 1)[1])

    @property
    def seen(self):
        """Counters by name; one that is missing is 0."""
        return Counters(self.ask())

    def stop(self):
        self.node.kill()


class Counters(dict):
    def __missing__(self, key):
        return 0


def origin(*words):
    """The HTTP service of peers/origin.js, see there."""
    return Service("origin.js", *words)


def grpc_service(*words):
    return Service("grpc_service.js", *words, packages=True)


class Client:
    """peers/client.js: real client libraries of Node, driven by lines of JSON."""

    def __init__(self):
        self.node = Node("client.js", packages=True, talk=True)
        self.next = 0

    def start(self, kind, **what):
        self.next += 1
        self.node.write(json.dumps({"id": self.next, "kind": kind, **what}) + "\n")
        return self.next

    def result(self, number, patience=PATIENCE_S):
        found = self.node.match(rf'^{{"id":{number},.*$', timeout=patience)
        if not found:
            checks.that(False, f"the client answers in {patience} s", self.node.said[-1000:])
            return Counters()
        return json.loads(found[0])

    def do(self, kind, patience=PATIENCE_S, **what):
        return self.result(self.start(kind, **what), patience)


def free_ports(count):
    """Ports that nobody uses just now, for peers that cannot be given port 0, or that are started
    again. The system gives no connection such a port, a campaign gives none of them to a service,
    and no client refuses to call them."""
    found = []
    while len(found) < count:
        one = socket.socket()
        try:
            one.bind((HOST, random.randrange(7000, 10000)))
            found.append(one)
        except OSError:
            one.close()
    ports = [one.getsockname()[1] for one in found]
    for one in found:
        one.close()
    return ports


def is_open(port):
    try:
        socket.create_connection((HOST, port), timeout=1).close()
        return True
    except OSError:
        return False


def start_on_ports(count, make):
    """The child that make(ports) starts, and the ports, on which it listens by then. Tried again
    should someone take one of the ports in between."""
    for _ in range(5):
        ports = free_ports(count)
        child = make(ports)
        ends = time.monotonic() + 10
        while child.process.poll() is None and time.monotonic() < ends:
            if all(map(is_open, ports)):
                return child, ports
            time.sleep(0.02)
        child.kill()
    checks.that(False, f"{child.command[0]} starts", child.said)
    return end()


def nginx(servers, options=""):
    """nginx with these servers: texts in which PORT stands for the port of each."""
    def make(ports):
        folder = Path(f"nginx-{ports[0]}").resolve()
        folder.mkdir()
        parts = [text.replace("PORT", f"{HOST}:{port}") for text, port in zip(servers, ports)]
        parts += [f"{name}_temp_path {folder}/{name};"
                  for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")]
        (folder / "nginx.conf").write_text("\n".join([
            "daemon off; master_process off; error_log stderr;", f"pid {folder}/pid;",
            "worker_rlimit_nofile 8192; events { worker_connections 4096; }",
            "http { access_log off;", options, *parts, "}\n"]), encoding="ascii")
        return Child(["nginx", "-p", folder, "-c", folder / "nginx.conf", "-e", "stderr"])
    return start_on_ports(len(servers), make)


class RawService:
    """A service in this process: handler(connection, self) is run in a thread per connection."""

    def __init__(self, handler, family=socket.AF_INET, address=None):
        self.handler, self.connections = handler, 0
        self.received = bytearray()  # for handlers that keep it
        self.lock = threading.Lock()
        self.socket = socket.socket(family, socket.SOCK_STREAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(address or (HOST, 0))
        self.socket.listen(1024)
        self.open = True
        if family == socket.AF_INET:
            self.port = self.socket.getsockname()[1]
            self.to = f"{HOST}:{self.port}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while self.open:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            with self.lock:
                self.connections += 1
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        with connection:
            try:
                self.handler(connection, self)
            except OSError:
                pass

    def close(self):
        self.open = False
        try:
            self.socket.shutdown(socket.SHUT_RDWR)  # wakes the thread that accepts
        except OSError:
            pass
        self.socket.close()


def read_head(connection, kept=b""):
    """(head, what came behind it) of one message; head is b'' at the end of the connection."""
    while b"\r\n\r\n" not in kept:
        got = connection.recv(65536)
        if not got:
            return b"", kept
        kept += got
    head, rest = kept.split(b"\r\n\r\n", 1)
    return head + b"\r\n\r\n", rest


def reset(connection):
    """Closes it with RST."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


# ---- clients ----

class Curl(NamedTuple):
    code: int
    body: bytes
    err: str
    head: str    # all heads, as received
    status: int  # of the last answer
    version: str
    seconds: float


def curl(*words, timeout=PATIENCE_S, stdin=b""):
    """curl with these words: exit code, what it received and how long it took."""
    count = threading.get_ident()
    base = Path(f"curl-{count}").resolve()
    head, note = base.with_suffix(".head"), base.with_suffix(".note")
    head.write_bytes(b"")
    output = [] if {"-o", "-I", "--head"} & set(words) else ["-o", base.with_suffix(".body")]
    base.with_suffix(".body").write_bytes(b"")
    if {"-I", "--head"} & set(words):
        output = ["-o", os.devnull]
    started = time.monotonic()
    done = subprocess.run(
        ["curl", "-q", "-sS", "--max-time", str(timeout), "-D", head, *output,
         "-w", "%{stderr}\n@ %{http_code} %{http_version}\n", *map(str, words)],
        input=stdin, capture_output=True, check=False, timeout=timeout + 10)
    seconds = time.monotonic() - started
    note = done.stderr.decode(errors="replace")
    found = re.search(r"@ (\d+) (\S+)\s*$", note)
    return Curl(done.returncode, base.with_suffix(".body").read_bytes(), note,
                head.read_text(encoding="latin-1"), int(found[1]) if found else 0,
                found[2] if found else "", seconds)


class Load(NamedTuple):
    good: int    # answers of 2xx and 3xx
    failed: int  # other answers, and none
    errored: int
    timeout: int
    answers: int


def h2load(*words):
    """h2load with these words; its text instead, where it did not come to an end."""
    done = subprocess.run(["h2load", *map(str, words)], capture_output=True, check=False, text=True,
                          timeout=300)
    counts = re.search(r"(\d+) succeeded, (\d+) failed, (\d+) errored, (\d+) timeout", done.stdout)
    codes = re.search(r"codes: (\d+) 2xx, (\d+) 3xx, (\d+) 4xx, (\d+) 5xx", done.stdout)
    if not counts or not codes:
        return done.stdout + done.stderr
    return Load(*map(int, counts.groups()), sum(map(int, codes.groups())))


def all_well(count):
    """What h2load reports of so many calls when all is well."""
    return Load(count, 0, 0, 0, count)


class Session(requests.Session):
    def request(self, *words, **more):
        return super().request(*words, **{"timeout": PATIENCE_S, **more})


def session():
    made = Session()
    made.trust_env = False
    return made


def talk(port, data, timeout=PATIENCE_S, shut=False, pieces=None):
    """Sends bytes on a raw connection and reads until its end: (received, how it ended)."""
    received = b""
    with socket.create_connection((HOST, port), timeout=timeout) as link:
        link.settimeout(timeout)
        try:
            for piece in pieces or [data]:
                link.sendall(piece)
                if pieces:
                    time.sleep(0.01)
            if shut:
                link.shutdown(socket.SHUT_WR)
            while True:
                got = link.recv(65536)
                if not got:
                    return received, "closed"
                received += got
        except ConnectionResetError:
            return received, "reset"
        except BrokenPipeError:
            return received, "reset"
        except socket.timeout:
            return received, "timeout"


def need(*programs):
    """Skips the script where one of them is missing."""
    for program in programs:
        if not shutil.which(program):
            print(f"no {program}")
            sys.exit(77)
