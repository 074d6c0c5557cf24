# SPDX-License-Identifier: Apache-2.0
"""What is compared: a service alone, the same behind other proxies, and behind Outfox.

Each peer gets one thread, keep-alive to the service, no access log and no limit on the requests of
a connection: what its manual recommends for speed. They run as single processes, which changes
nothing on the path of a request and lets none of them stay behind (procs.py).
"""
import ctypes
import os
import re
import shutil
import subprocess

from peers import procs

NEVER = 1000000000
PUNCH_HOLE, KEEP_SIZE = 2, 1
libc = ctypes.CDLL(None, use_errno=True)

NGINX = """daemon off; master_process off; worker_processes 1; pid {folder}/nginx.pid;
error_log stderr error; {user}
events {{ worker_connections 4096; }}
http {{
    access_log off; keepalive_requests {never};
    client_body_temp_path {folder}/nginx-1; proxy_temp_path {folder}/nginx-2;
    fastcgi_temp_path {folder}/nginx-3; uwsgi_temp_path {folder}/nginx-4;
    scgi_temp_path {folder}/nginx-5;
    upstream service {{
        server 127.0.0.1:{to}; keepalive 256; keepalive_requests {never};
    }}
    server {{ listen 127.0.0.1:{port}{http2}; location / {{ {forward} }} }}
}}
"""
NGINX_H1 = 'proxy_pass http://service; proxy_http_version 1.1; proxy_set_header Connection "";'

HAPROXY = """global
    nbthread 1
    maxconn 4096
defaults
    mode http
    http-reuse always
    timeout connect 5s
    timeout client 60s
    timeout server 60s
listen proxy
    bind 127.0.0.1:{port}{proto}
    server service 127.0.0.1:{to}{proto}
"""


class System:
    """One row of a table: where to send requests, and whose time to measure."""

    def __init__(self, name, port, child, log=None):
        self.name, self.port, self.child, self.log = name, port, child, log
        self.fault = name.endswith(" fault")
        self.requests = self.left = 0  # answered so far, and at most so many that nobody waited for
        self.logged = self.read = 0  # lines of the log, and bytes of it that were looked at

    def cpu_ns(self):
        return self.child.cpu_ns() if self.child else 0

    def read_log(self):
        """Counts the lines that came, then frees their memory without the writer noticing."""
        if not self.log:
            return
        with open(self.log, "rb+") as log:
            log.seek(self.read)
            while block := log.read(1 << 20):
                self.logged += block.count(b"\n")
                self.read += len(block)
            libc.fallocate(log.fileno(), PUNCH_HOLE | KEEP_SIZE, ctypes.c_long(0),
                           ctypes.c_long(self.read))


def start_origin(peers, name):
    child = procs.Child(name, [peers / name], procs.SERVER_CORE)
    return System("direct", int(child.wait_said(r"listening on 127\.0\.0\.1:(\d+)\n")[1]), child)


def start_on_free_port(name, command):
    """Starts a program that must be told its port; another may take the port first, so twice."""
    for attempt in range(2):
        port = procs.free_port()
        child = procs.Child(name, command(port), procs.SERVER_CORE)
        try:
            child.wait_port(port)
            return System(name, port, child)
        except procs.Failure:
            if attempt or child.process.poll() is None:
                raise


def write(name, text):
    path = procs.folder / name
    path.write_text(text, encoding="utf-8")
    return path


def start_nginx(to, protocol):
    h1 = protocol == "h1"

    def command(port):
        text = NGINX.format(folder=procs.folder, port=port, to=to, never=NEVER,
                            user="user root;" if os.getuid() == 0 else "",
                            http2="" if h1 else " http2",
                            forward=NGINX_H1 if h1 else "grpc_pass grpc://service;")
        return ["nginx", "-p", procs.folder, "-c", write(f"nginx-{protocol}.conf", text)]
    return start_on_free_port("nginx", command)


def start_haproxy(to, protocol):
    def command(port):
        text = HAPROXY.format(port=port, to=to, proto="" if protocol == "h1" else " proto h2")
        return ["haproxy", "-db", "-f", write(f"haproxy-{protocol}.cfg", text)]
    return start_on_free_port("haproxy", command)


def start_nghttpx(to, protocol):
    def command(port):
        return ["nghttpx", "--conf=/dev/null", "--single-process", "--workers=1",
                f"--frontend=127.0.0.1,{port};no-tls",
                f"--backend=127.0.0.1,{to};;no-tls" + ("" if protocol == "h1" else ";proto=h2")]
    return start_on_free_port("nghttpx", command)


def outfox_words(path, log):
    return {"pass": [], "tracked": ["--log", log], "fault": ["--fault", "* : 503"]}[path]


def start_outfox(outfox, to, path, before=(), core=procs.SERVER_CORE):
    """`path`: pass, tracked or fault; `before`: words in front, to run it under another program."""
    log = procs.folder / f"calls-{len(procs.children)}.jsonl"
    child = procs.Child(f"outfox {path}", [*before, outfox, "proxy", "--listen", "127.0.0.1:0",
                                           "--to", f"127.0.0.1:{to}", *outfox_words(path, log)],
                        core)
    port = child.wait_said(r"listening on http://127\.0\.0\.1:(\d+)")[1]
    return System(f"outfox {path}", int(port), child, log if path == "tracked" else None)


# The versions that matter, and how to ask for them.
VERSIONS = {
    "nginx": (["nginx", "-v"], r"nginx/(\S+)"),
    "haproxy": (["haproxy", "-v"], r"version (\S+)"),
    "nghttpx": (["nghttpx", "-v"], r"nghttp2/(\S+)"),
    "wrk": (["wrk", "-v"], r"wrk \S*?(\d[\d.]*)"),
    "h2load": (["h2load", "--version"], r"nghttp2/(\S+)"),
    "nghttp": (["nghttp", "--version"], r"nghttp2/(\S+)"),
    "valgrind": (["valgrind", "--version"], r"valgrind-(\S+)"),
}


def versions():
    """{program: version}; what is not there is missing."""
    found = {}
    for name, (command, pattern) in VERSIONS.items():
        if not shutil.which(command[0]):
            continue
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=10, check=False)
        version = re.search(pattern, done.stdout.decode(errors="replace"))
        found[name] = version[1] if version else "unknown"
    return found
