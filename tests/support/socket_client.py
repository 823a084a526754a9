"""Sends lines to the control socket of a society and prints the answers in their order.

    socket_client.py SOCKET < requests > answers

Each request is an object with an id of its own. One that waits for a reply may be
answered late, so the answers are sorted by their ids.
"""

import json
import socket
import sys

requests = sys.stdin.buffer.read()
count = requests.count(b"\n")
with socket.socket(socket.AF_UNIX) as connection:
    connection.connect(sys.argv[1])
    connection.sendall(requests)
    connection.shutdown(socket.SHUT_WR)
    with connection.makefile("rb") as answers:
        lines = answers.readlines()
lines.sort(key=lambda line: json.loads(line)["id"])
assert len(lines) == count, (len(lines), count)
sys.stdout.buffer.writelines(lines)
