# SPDX-License-Identifier: Apache-2.0
"""A service with a memory: `vouchers.py PORT`. POST /redeem/CODE takes each voucher once, and keeps
those that were taken in the file $TAKEN; the value of a voucher is asked from $BACK."""
import os
import sys
from http.server import ThreadingHTTPServer
from pathlib import Path

from fragile import Handler, ask


class Vouchers(Handler):
    def do_POST(self):
        taken = Path(os.environ["TAKEN"])
        code = self.path.rpartition("/")[2]
        if taken.exists() and code in taken.read_text(encoding="ascii").split():
            return self.answer(409, error="this voucher was redeemed before")
        value = ask(os.environ["BACK"])
        if value is None:
            return self.answer(503, error="please try again")
        with taken.open("a", encoding="ascii") as file:
            print(code, file=file)
        return self.answer(200, value=value)


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Vouchers).serve_forever()
