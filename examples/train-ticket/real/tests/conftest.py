# SPDX-License-Identifier: Apache-2.0
"""What the tests of the ticket office share: users who talk to it, and somebody who looks into the books.

The addresses come from the environment. Under Outfox something may be made to fail; then, and only
then, it is fine to be told to come back later.
"""
import contextlib
import json
import os
import urllib.error
import urllib.request

import pytest

PATIENCE_S = 90
RUN = os.environ.get("OUTFOX_RUN") and "{OUTFOX_CONTROL}/runs/{OUTFOX_RUN}".format(**os.environ)


def ask(method, url, body=None, headers=None):
    """(status, answer) of a request."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"content-type": "application/json", **(headers or {})}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


@contextlib.contextmanager
def no_faults():
    """What a test prepares must work: Outfox injects nothing meanwhile."""
    if RUN:
        ask("POST", f"{RUN}/no-faults")
    yield
    if RUN:
        ask("DELETE", f"{RUN}/no-faults")


class User:
    """Somebody at the ticket office."""

    def __init__(self, name=None, password=None, token=""):
        self.name, self.token = name, token
        if password:
            with no_faults():
                status, answer = self.ask("POST", "/login", {"user": name, "password": password})
            assert status == 200
            self.token = answer["token"]

    def ask(self, method, path, body=None):
        status, answer = ask(method, f"{os.environ['WEB']}/api{path}", body, {"authorization": self.token})
        if status == 503:
            assert RUN and ask("GET", f"{RUN}/injected")[1]["injected"], "sorry, although nothing has failed"
            assert answer["error"], "it is said that something went wrong"
        return status, answer

    def book(self, train):
        return self.ask("POST", "/orders", {"train": train})

    def has_ticket(self, train):
        """A ticket that was there before the test."""
        with no_faults():
            status, ticket = self.book(train)
        assert status == 200
        return ticket["id"]

    def tickets(self):
        with no_faults():
            return self.ask("GET", "/orders")[1]["orders"]

    def spent(self):
        """What the user has paid, from the bank account and from the wallet."""
        books = [ask("GET", f"{os.environ[where]}/accounts/{self.name}")[1] for where in ("BANK", "WALLET")]
        return sum(book["spent"] for book in books)

    def messages(self):
        return ask("GET", f"{os.environ['NOTIFY']}/messages/{self.name}")[1]["messages"]


def seats_left(train):
    return ask("GET", f"{os.environ['SEAT']}/trains/{train}/seats")[1]["left"]


@pytest.fixture
def anybody():
    return User()


@pytest.fixture
def ann():
    return User("ann", "secret-of-ann")


@pytest.fixture
def bob():
    return User("bob", "secret-of-bob")


@pytest.fixture
def stranger():
    """Knows ann's name, and nothing else."""
    return User(token="ann.00000000-0000-0000-0000-000000000000")
