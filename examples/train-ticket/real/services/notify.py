# SPDX-License-Identifier: Apache-2.0
"""Messages to users. They are kept, so that one can see what would have been sent."""
from common import serve

messages = []  # {"user", "text"}


def send(asked):
    messages.append({"user": asked.body["user"], "text": asked.body["text"]})
    return 200, {}


def sent(asked):
    return 200, {"messages": [one["text"] for one in messages if one["user"] == asked.path["user"]]}


def reset(asked):
    messages.clear()
    return 200, {}


serve({"POST /messages": send, "GET /messages/<user>": sent, "POST /reset": reset})
