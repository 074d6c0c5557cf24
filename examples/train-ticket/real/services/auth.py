# SPDX-License-Identifier: Apache-2.0
"""Who is who: POST /token logs a user in, POST /token/validate says whose token that is. A token is the
user's name and a secret: ann.0b7e..."""
import uuid

from common import serve

PASSWORDS = {"ann": "secret-of-ann", "bob": "secret-of-bob"}
tokens = {}  # token: user


def log_in(asked):
    user = asked.body.get("user")
    if user not in PASSWORDS or asked.body.get("password") != PASSWORDS[user]:
        return 401, {"error": "wrong name or password"}
    token = f"{user}.{uuid.uuid4()}"
    tokens[token] = user
    return 200, {"user": user, "token": token}


def whose(asked):
    user = tokens.get(asked.body.get("token"))
    return (200, {"user": user}) if user else (401, {"error": "please log in"})


serve({"POST /token": log_in, "POST /token/validate": whose})
