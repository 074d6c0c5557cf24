# SPDX-License-Identifier: Apache-2.0
"""Orders with a queue in memory: `orders.py NAME PORT` starts one of the services.

    orders --+-- payments --- bank   orders waits 1 s and tries twice; payments waits 2 s
             `-- mail                by a worker thread, from a queue: tried three times, then dropped

Correct: the answer does not wait for mail; mail is tried again with growing pauses.
FLAW: a charge is tried again although nobody knows whether the first one was made: no key.
FLAW: orders gives up on payments while payments still waits for the bank.
"""
import logging
import os
import queue
import sys
import threading
import time

import flask
import requests

app = flask.Flask(__name__)
http = requests.Session()  # keeps its connections
mails = queue.Queue()


def post(service, path, body, timeout):
    answer = http.post(os.environ[service] + path, json=body, timeout=timeout)
    answer.raise_for_status()
    return answer.json()


def worker():
    while True:
        order = mails.get()
        for pause in (0.05, 0.1, None):
            try:
                post("MAIL", "/messages", {"order": order}, 1)
                break
            except requests.RequestException:
                if pause:
                    time.sleep(pause)


def charge(order):
    try:
        return post("PAYMENTS", "/charges", {"order": order, "amount": 20}, 1)
    except requests.RequestException:
        time.sleep(0.1)
        return post("PAYMENTS", "/charges", {"order": order, "amount": 20}, 1)


def take_order(order):
    try:
        receipt = charge(order)
    except requests.RequestException:
        return {"error": "the card could not be charged"}, 502
    mails.put(order)
    return {"order": order, "receipt": receipt["id"]}, 201


def charges():
    try:
        transfer = post("BANK", "/transfers", {"amount": flask.request.json["amount"]}, 2)
    except requests.RequestException:
        return {"error": "the bank does not answer"}, 502
    return {"id": "C" + transfer["id"]}


ROUTES = {
    "orders": ("/orders/<order>", take_order),
    "payments": ("/charges", charges),
    "bank": ("/transfers", lambda: {"id": "T7"}),
    "mail": ("/messages", lambda: {"sent": True}),
}

if __name__ == "__main__":
    name, port = sys.argv[1:]
    path, handler = ROUTES[name]
    app.add_url_rule(path, name, handler, methods=["POST"])
    app.add_url_rule("/health", "health", lambda: {"ok": True})
    if name == "orders":
        threading.Thread(target=worker, daemon=True).start()
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    app.run("127.0.0.1", int(port), threaded=True)
