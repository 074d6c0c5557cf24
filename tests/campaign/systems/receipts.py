# SPDX-License-Identifier: Apache-2.0
"""A shop whose every answer has a new id and the time in it: `receipts.py PORT [FORM]`.

Without a form it is a service that answers GET /value with a number. With one it asks the services
$STOCK and $TIPS, and answers GET /receipt: as JSON in which what is not known is null or empty
(`quiet`), or is told (`told`), as a line of text (`text`), or with nothing that stays the same
(`wild`). `numbered` counts its orders, and needs nobody. `shuffled` is JSON with its list in any order, and fails when something does."""
import json
import os
import random
import sys
import time
import uuid
from http.server import ThreadingHTTPServer

from fragile import Handler, ask


def receipt(stock, tips):
    tips = [{"id": str(uuid.uuid4()), "text": text} for text in ("eat", "sleep")] if tips else []
    return {"request": str(uuid.uuid4()), "at": time.time(), "day": time.strftime("%FT%TZ", time.gmtime()),
            "stock": stock, "tips": tips}


class Shop(Handler):
    form = None
    number = 0

    def do_GET(self):
        if self.path == "/health" or not self.form:
            return self.answer(200, value=7)
        if self.form == "numbered":
            Shop.number += 1
            ask(os.environ["STOCK"])
            return self.answer(200, order=Shop.number, state="paid")
        stock, tips = ask(os.environ["STOCK"]), ask(os.environ["TIPS"])
        if self.form == "text":
            return self.say(f"order {uuid.uuid4()}: {stock or 'some'} pieces")
        if self.form == "wild":
            return self.say(uuid.uuid4().hex + ("" if stock else " "))
        if self.form == "shuffled":
            answer = receipt(stock, tips)
            random.shuffle(answer["tips"])
            return self.answer(200 if stock and tips else 503, **answer)
        told = {} if self.form == "quiet" else {"complete": bool(stock and tips)}
        return self.answer(200, **receipt(stock, tips), **told)

    def say(self, text):
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())


Shop.form = sys.argv[2] if len(sys.argv) > 2 else None
ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Shop).serve_forever()
