# SPDX-License-Identifier: Apache-2.0
import os

import requests


def test_order():
    answer = requests.post(os.environ["ORDERS"] + "/orders/7", timeout=10)
    assert answer.status_code in (201, 502)
    if answer.status_code == 201:
        assert answer.json()["receipt"] == "CT7"
