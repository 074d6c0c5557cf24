# SPDX-License-Identifier: Apache-2.0
"""Looking for a train, and for something to eat."""


def test_search_shows_trains_with_prices(anybody):
    status, answer = anybody.ask("GET", "/trips?from=shanghai&to=suzhou")
    if status == 200:
        assert [trip["train"] for trip in answer["trips"]] == ["G1234", "D1345"]
        assert all(trip.get("euros") for trip in answer["trips"]), "every train has a price"


def test_search_where_no_train_goes_is_empty(anybody):
    status, answer = anybody.ask("GET", "/trips?from=suzhou&to=nanjing")
    assert status == 503 or answer["trips"] == []


def test_search_for_an_unknown_station_is_refused(anybody):
    status, answer = anybody.ask("GET", "/trips?from=atlantis&to=suzhou")
    assert status in (404, 503) or answer["trips"] == []


def test_menu_of_a_train_or_of_the_station(anybody):
    status, answer = anybody.ask("GET", "/menu?train=G1234&from=shanghai")
    assert status == 200, "nobody need starve for an error"
    assert isinstance(answer["dishes"], list)
