# SPDX-License-Identifier: Apache-2.0
"""Stations: their full names, and the shops where one can buy food."""
from common import serve

STATIONS = {
    "shanghai": {"name": "Shanghai Hongqiao", "shops": ["noodles", "dumplings"]},
    "suzhou": {"name": "Suzhou North", "shops": ["tea"]},
    "nanjing": {"name": "Nanjing South", "shops": ["duck"]},
}


def station(asked):
    found = STATIONS.get(asked.path["id"])
    return (200, {"id": asked.path["id"], "name": found["name"]}) if found else (404, {"error": "no such station"})


def shops(asked):
    found = STATIONS.get(asked.path["id"])
    return (200, {"dishes": found["shops"]}) if found else (404, {"error": "no such station"})


serve({"GET /stations/<id>": station, "GET /stations/<id>/shops": shops})
