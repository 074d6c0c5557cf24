# SPDX-License-Identifier: Apache-2.0
"""Accounts from which users pay: the bank, and once more as the wallet. A transfer that is given back
is gone from the books."""
from common import serve

transfers = []  # {"user", "order", "euros"}


def pay(asked):
    transfers.append({name: asked.body[name] for name in ("user", "order", "euros")})
    return 200, {}


def give_back(asked):
    user, order = asked.path["user"], asked.path["order"]
    transfers[:] = [one for one in transfers if (one["user"], one["order"]) != (user, order)]
    return 200, {}


def books(asked):
    own = [one for one in transfers if one["user"] == asked.path["user"]]
    return 200, {"spent": sum(one["euros"] for one in own), "transfers": own}


def reset(asked):
    transfers.clear()
    return 200, {}


serve({
    "POST /transfers": pay,
    "DELETE /transfers/<user>/<order>": give_back,
    "GET /accounts/<user>": books,
    "POST /reset": reset,
})
