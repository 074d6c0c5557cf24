# SPDX-License-Identifier: Apache-2.0
"""Five services that plan a trip, in one file: `trips.py NAME PORT` starts one of them.

    trips --+-- weather           today's forecast; without it
            +-- archive           what the weather is like in this month
            `-- hotels --- rates  tried twice

THE BUG: a trip is planned without the forecast, and without the archive, but not without both.
`climate` then gives nothing, which `advice` does not expect.
"""
import logging
import os
import sys

import flask
import requests

app = flask.Flask(__name__)
TIMEOUT_S = 5


def get(service, path):
    """The answer of another service; None when there is none, or it is not well."""
    try:
        answer = requests.get(os.environ[service] + path, timeout=TIMEOUT_S)
        return answer.json() if answer.ok else None
    except requests.RequestException:
        return None


def climate(city):
    return get("WEATHER", f"/forecast/{city}") or get("ARCHIVE", f"/climate/{city}")


def advice(weather):
    return "take an umbrella" if weather["rain"] else "take sunglasses"


def trips(city):
    hotels = get("HOTELS", f"/hotels/{city}") or get("HOTELS", f"/hotels/{city}")
    if not hotels:
        return {"error": "no hotels now, please come back"}, 503
    return {"city": city, "advice": advice(climate(city)), "hotels": hotels["hotels"]}


def hotels(city):
    rates = get("RATES", f"/rates/{city}")
    if not rates:
        return {"error": "no rates"}, 502
    return {"hotels": [{"name": "Grand", "price": rates["double"]}]}


ROUTES = {
    "trips": ("/trips/<city>", trips),
    "hotels": ("/hotels/<city>", hotels),
    "weather": ("/forecast/<city>", lambda city: {"rain": True}),
    "archive": ("/climate/<city>", lambda city: {"rain": False}),
    "rates": ("/rates/<city>", lambda city: {"double": 90}),
}

if __name__ == "__main__":
    name, port = sys.argv[1:]
    path, handler = ROUTES[name]
    app.add_url_rule(path, name, handler)
    app.add_url_rule("/health", "health", lambda: {"ok": True})
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    app.run("127.0.0.1", int(port))
