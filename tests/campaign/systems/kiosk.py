# SPDX-License-Identifier: Apache-2.0
"""A kiosk with a page: `kiosk.py PORT ROLE`.

  web     the page and its files
  api     what the page asks, from another origin: GET /offers and GET /news ask stock ($STOCK),
          POST /orders asks till ($TILL). Without offers the list is empty; else it answers 503
  other   answers whatever it is asked

Requests with `?beside` are made in pairs: neither goes on before both are there. The answer to an
order begins at once, and ends when the page has gone on. With $LOSES that is not so, and the trace
context is not passed on.
"""
import http.client
import http.server
import json
import os
import sys
import threading
import urllib.parse

PASSED = () if os.environ.get("LOSES") else ("traceparent", "tracestate", "baggage")
PAGE = """<!doctype html>
<title>Kiosk</title>
<link rel="stylesheet" href="kiosk.css">
<img src="logo.svg" alt="">
<p id="says"></p><button id="buy">Buy</button>
<script src="kiosk.js"></script>
"""
# Without news the page stops with an error; and it says that something was bought whatever the answer.
SCRIPT = """
const asked = new URLSearchParams(location.search), api = asked.get('api');
const say = (text) => { document.getElementById('says').textContent = text; };
const get = async (what) => (await fetch(api + what)).json();

async function load() {
    let offers, news;
    if (asked.has('calmly')) {
        offers = await get('/offers');
        news = await get('/news');
    } else if (Math.random() < 0.5) {
        [offers, news] = await Promise.all([get('/offers?beside'), get('/news?beside')]);
    } else {
        [news, offers] = await Promise.all([get('/news?beside'), get('/offers?beside')]);
    }
    say(`${offers.length} offers, ${news.lines.length} lines of news`);
}

document.getElementById('buy').onclick = async () => {
    const headers = { 'content-type': 'application/json' };
    await fetch(api + '/orders', { method: 'POST', headers, body: '{"what": "tea"}' });
    await get('/offers');
    say('Bought');
};
void load();
"""
FILES = {
    "/": ("text/html", PAGE), "/kiosk.js": ("text/javascript", SCRIPT),
    "/kiosk.css": ("text/css", "@font-face { font-family: k; src: url(kiosk.woff2) } p { font: 1em k }"),
    "/logo.svg": ("image/svg+xml", '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'),
}
pair = threading.Barrier(2, timeout=30)
gone_on = threading.Event()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, text="", until=None, kind="application/json"):
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Access-Control-Allow-Origin", "*")
        self.send_header("Access-Control-Allow-Headers", "*")
        self.end_headers()
        if until:
            until.wait(30)
        self.wfile.write(body)

    def ask(self, name, method, path):
        link = http.client.HTTPConnection(urllib.parse.urlsplit(os.environ[name]).netloc, timeout=30)
        try:
            link.request(method, path, headers={key: self.headers[key] for key in PASSED if self.headers[key]})
            answer = link.getresponse()
            answer.read()
            return answer.status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            link.close()

    def web(self, path):
        kind, text = FILES.get(path, ("text/plain", "no such file"))
        self.answer(200 if path in FILES else 404, text, kind=kind)

    def api(self, path):
        if self.command == "OPTIONS":
            self.answer(204)
        elif path == "/offers":
            gone_on.set()
            self.answer(200, json.dumps(["tea"] if self.ask("STOCK", "GET", "/offers") else []))
        elif path == "/news":
            told = self.ask("STOCK", "GET", "/news")
            self.answer(*((200, '{"lines": ["tea"]}') if told else (503, "{}")))
        else:
            gone_on.clear()
            self.answer(200 if self.ask("TILL", "POST", "/charges") else 503, "{}", gone_on if PASSED else None)

    def other(self, path):
        self.answer(200, "{}")

    def serve(self):
        self.rfile.read(int(self.headers["Content-Length"] or 0))
        path, _, query = self.path.partition("?")
        if path == "/health":
            return self.answer(200, "{}")
        if query == "beside":
            pair.wait()
        return getattr(self, sys.argv[2])(path)

    do_GET = do_POST = do_OPTIONS = serve

    def log_message(self, *words):
        pass


if __name__ == "__main__":
    http.server.ThreadingHTTPServer.daemon_threads = True
    http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
