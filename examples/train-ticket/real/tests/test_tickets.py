# SPDX-License-Identifier: Apache-2.0
"""Buying a ticket, changing it, giving it back."""
from conftest import seats_left


def test_a_ticket_is_bought_or_nothing_happens(ann):
    status, ticket = ann.book("G1234")
    if status == 200:
        assert ann.spent() == ticket["euros"]
        assert seats_left("G1234") == 4
    else:
        assert status == 503
        assert (ann.spent(), seats_left("G1234"), ann.tickets()) == (0, 5, [])


def test_whoever_pays_has_a_ticket(ann):
    ann.book("D1345")
    assert bool(ann.spent()) == bool(ann.tickets())


def test_sold_out_costs_nothing(ann):
    status, _ = ann.book("Z999")
    assert status in (409, 503)
    assert ann.spent() == 0


def test_cancelled_means_refunded(ann):
    ticket = ann.has_ticket("G1234")
    ann.ask("DELETE", f"/orders/{ticket}")
    cancelled = ann.tickets()[0]["state"] == "cancelled"
    assert ann.spent() == (0 if cancelled else 50)


def test_changing_the_train_keeps_a_seat(ann):
    ticket = ann.has_ticket("G1234")
    status, changed = ann.ask("PUT", f"/orders/{ticket}", {"train": "D1345"})
    assert status == 503 or changed["train"] == "D1345"
    assert (seats_left("G1234"), seats_left("D1345")) in ((4, 5), (5, 4)), "one seat, in one train"
