# SPDX-License-Identifier: Apache-2.0
"""Who may do what."""


def test_wrong_password_is_refused(anybody):
    status, _ = anybody.ask("POST", "/login", {"user": "ann", "password": "guessed"})
    assert status in (401, 503)


def test_forged_token_opens_nothing(ann, stranger):
    ann.has_ticket("G1234")
    status, answer = stranger.ask("GET", "/orders")
    assert status in (401, 503), f"a stranger sees {answer}"


def test_tickets_of_others_cannot_be_cancelled(ann, bob):
    ticket = ann.has_ticket("G1234")
    status, _ = bob.ask("DELETE", f"/orders/{ticket}")
    assert status in (404, 503)
    assert ann.tickets()[0]["state"] == "paid"
