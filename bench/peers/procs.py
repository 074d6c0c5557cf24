# SPDX-License-Identifier: Apache-2.0
"""Child processes of the benchmark: pinned to a core, measured, and gone when the benchmark is.

 1. A child leads a session of its own and is killed by the kernel when the benchmark dies, however
    it dies; none of the programs started here forks. So nothing outlives the benchmark.
 2. No threads: the kernel's signal at the parent's death is sent when the *thread* ends.
 3. Every wait has a deadline.
"""
import atexit
import ctypes
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

PR_SET_PDEATHSIG = 1
START_S, STOP_S = 20, 15
TICK_S = 1 / os.sysconf("SC_CLK_TCK")

libc = ctypes.CDLL(None, use_errno=True)
children = []
cores = sorted(os.sched_getaffinity(0))
SERVER_CORE, CLIENT_CORE = cores[0], cores[1 % len(cores)]  # on one core they share it


class Failure(Exception):
    """Something could not be run; the text says what and why."""


def make_folder():
    """A folder in memory where there is one: logs are to cost what writing them costs, no more."""
    shm = Path("/dev/shm")
    base = shm if os.access(shm, os.W_OK) else None
    return Path(tempfile.mkdtemp(prefix="outfox-bench-", dir=base))


folder = make_folder()


class Child:
    """A running program. Its output is in a file, `said()`."""

    def __init__(self, name, argv, core):
        self.name = name
        self.output = folder / f"{len(children)}-{name.replace(' ', '-')}.out"
        parent = os.getpid()

        def prepare():
            libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != parent:
                os._exit(1)
            if core is not None:
                os.sched_setaffinity(0, {core})

        # start_new_session and preexec_fn rather than taskset and setsid: one process less, and
        # its id is that of the program
        with open(self.output, "wb") as out:
            self.process = subprocess.Popen(list(map(str, argv)), stdin=subprocess.DEVNULL,
                                            stdout=out, stderr=subprocess.STDOUT, cwd=folder,
                                            start_new_session=True, preexec_fn=prepare)
        children.append(self)

    def said(self):
        return self.output.read_text(encoding="utf-8", errors="replace")

    def failed(self, what):
        last = " | ".join(self.said().strip().splitlines()[-3:])
        return Failure(f"{self.name}: {what}" + (f": {last}" if last else ""))

    def wait(self, timeout_s):
        """Waits for the end; returns the exit code."""
        try:
            return self.process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self.kill()
            raise self.failed(f"did not end within {timeout_s} s") from None

    def wait_said(self, pattern):
        """Waits until the output matches; returns the match."""
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline:
            found = re.search(pattern, self.said())
            if found:
                return found
            if self.process.poll() is not None:
                raise self.failed(f"ended at once with {self.process.returncode}")
            time.sleep(0.02)
        raise self.failed(f"did not say within {START_S} s that it is ready")

    def wait_port(self, port):
        """Waits until something listens on the port."""
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise self.failed(f"ended at once with {self.process.returncode}")
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    return
            time.sleep(0.02)
        raise self.failed(f"did not listen within {START_S} s")

    def cpu_ns(self):
        """Time that its threads have run so far."""
        tasks = Path(f"/proc/{self.process.pid}/task").glob("*/schedstat")
        return sum(int(task.read_text().split()[0]) for task in tasks)

    def memory(self):
        """Bytes of resident memory: (all, without what is mapped from files)."""
        text = Path(f"/proc/{self.process.pid}/status").read_text()
        fields = dict(re.findall(r"^(VmRSS|RssAnon):\s+(\d+) kB", text, re.MULTILINE))
        return int(fields["VmRSS"]) * 1024, int(fields["RssAnon"]) * 1024

    def stop(self):
        """Asks it to end and waits; returns the exit code."""
        if self.process.poll() is None:
            self.process.terminate()
        return self.wait(STOP_S)

    def kill(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


def run(name, argv, core, timeout_s):
    """Runs a program to its end; returns its output. Its exit code must be 0."""
    child = Child(name, argv, core)
    code = child.wait(timeout_s)
    if code != 0:
        raise child.failed(f"ended with {code}")
    return child.said()


def end_all():
    """Kills what runs and removes the files. May be called at any time and more than once."""
    for child in children:
        child.kill()
    shutil.rmtree(folder, ignore_errors=True)


atexit.register(end_all)


def free_port():
    """A port that nobody listens on, for programs that cannot say which one they were given."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Usage:
    """Who used the processors meanwhile: ours, others, and the hypervisor, as a share of them."""

    def __init__(self):
        self.ours_s = self.busy_s = self.steal_s = self.elapsed_s = 0

    @staticmethod
    def now():
        ticks = list(map(int, Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]))
        user, nice, system, _, _, irq, softirq, steal = ticks
        own = resource.getrusage(resource.RUSAGE_CHILDREN)
        me = resource.getrusage(resource.RUSAGE_SELF)
        ours_s = own.ru_utime + own.ru_stime + me.ru_utime + me.ru_stime
        return (ours_s, (user + nice + system + irq + softirq) * TICK_S, steal * TICK_S,
                time.monotonic())

    def add(self, before, after, servers_s):
        """Adds what lies between two looks; returns the share that was not ours."""
        ours, busy, steal, elapsed = (b - a for a, b in zip(before, after))
        self.ours_s += ours + servers_s
        self.busy_s += busy
        self.steal_s += steal
        self.elapsed_s += elapsed
        others = max(busy - ours - servers_s, 0)
        return (others + steal) / max(elapsed * len(cores), 1e-9)

    def shares(self):
        """(others, hypervisor), each in 0..1."""
        whole = max(self.elapsed_s * len(cores), 1e-9)
        return max(self.busy_s - self.ours_s, 0) / whole, self.steal_s / whole
