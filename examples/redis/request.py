"""Asks an agent and prints its reply: request.py PORT AGENT TEXT

A program without a name of its own: it speaks as the guest of the society. It listens on a
channel of its own first, then publishes its question, as any request and reply on Redis.
"""

import json
import socket
import sys
import uuid

from resp import Redis


def request(port, agent, message, seconds=30):
    correlation_id = str(uuid.uuid4())
    channel = "reply:" + correlation_id
    message = dict(message, correlation_id=correlation_id, reply_channel=channel)
    ears, mouth = Redis(port), Redis(port)
    ears.socket.settimeout(seconds)
    ears("SUBSCRIBE", channel)
    mouth("PUBLISH", "agent:%s:inbox" % agent, json.dumps(message))
    while True:
        kind, _, text = ears.read()
        if kind == "message":
            return json.loads(text)


if __name__ == "__main__":
    port, agent, text = sys.argv[1:4]
    try:
        reply = request(port, agent, {"content": text})
    except socket.timeout:
        sys.exit("request.py: %s has not replied in time" % agent)
    print(json.dumps(reply, ensure_ascii=False, sort_keys=True))
    sys.exit(1 if "error" in reply else 0)
