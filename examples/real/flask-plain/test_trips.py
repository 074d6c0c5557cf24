# SPDX-License-Identifier: Apache-2.0
"""A test of the trips, with pytest."""
import os

import requests


def test_a_trip_is_planned_or_we_are_told_that_it_is_not():
    answer = requests.get(os.environ["TRIPS"] + "/trips/oslo", timeout=10)
    assert answer.status_code in (200, 503)
    if answer.status_code == 200:
        assert answer.json()["hotels"], "a trip without a hotel"
