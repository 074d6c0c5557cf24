# SPDX-License-Identifier: Apache-2.0
"""The seats of each train. A seat that is taken twice for one order is the same seat."""
import threading

from common import serve

SEATS = {"G1234": 5, "D1345": 5, "Z999": 0}
lock = threading.Lock()
taken = {train: [] for train in SEATS}  # the orders that have a seat in it


def seats(asked):
    train = asked.path["train"]
    if train not in SEATS:
        return 404, {"error": "no such train"}
    return 200, {"train": train, "left": SEATS[train] - len(taken[train])}


def take(asked):
    train, order = asked.path["train"], asked.body["order"]
    with lock:
        if order not in taken[train]:
            if len(taken[train]) >= SEATS[train]:
                return 409, {"error": "sold out"}
            taken[train].append(order)
    return 200, {"train": train, "seat": f"{1 + taken[train].index(order)}A"}


def release(asked):
    train, order = asked.path["train"], asked.path["order"]
    with lock:
        if order in taken[train]:
            taken[train].remove(order)
    return 200, {"train": train}


def reset(asked):
    with lock:
        for orders in taken.values():
            orders.clear()
    return 200, {}


serve({
    "GET /trains/<train>/seats": seats,
    "POST /trains/<train>/seats": take,
    "DELETE /trains/<train>/seats/<order>": release,
    "POST /reset": reset,
})
