# SPDX-License-Identifier: Apache-2.0
"""etcd by its HTTP gateway: as little as clients, roles and checks of these plans need."""
import base64
import http.client
import json
import os

NODES = ("etcd1", "etcd2", "etcd3")
GONE = (OSError, http.client.HTTPException, ValueError, KeyError)  # all that is no answer
REGISTER = "register"


def text64(text):
    return base64.b64encode(text.encode()).decode()


def plain(text):
    return base64.b64decode(text).decode()


class Node:
    """One node, over a connection that is made anew when it breaks."""

    def __init__(self, name, timeout=1.0):
        self.name, self.timeout, self.connection = name, timeout, None

    def ask(self, path, **body):
        """The answer; raises one of GONE."""
        try:
            if self.connection is None:
                self.connection = http.client.HTTPConnection(os.environ["OUTFOX_IP_" + self.name], 2379, timeout=self.timeout)
            self.connection.request("POST", "/v3/" + path, json.dumps(body), {"Content-Type": "application/json"})
            reply = self.connection.getresponse()
            answer = json.loads(reply.read())
            if reply.status != 200:
                raise ValueError(answer.get("error", reply.status))
            return answer
        except GONE:
            if self.connection:
                self.connection.close()
            self.connection = None
            raise
