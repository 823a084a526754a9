"""raw_client: sends bytes and prints what comes back until the connection is closed.

    {"send": ["GET / HTTP/1.1\\r\\n", "…"], "shut": true?}     one connection, on stdin
    {"statuses": [200, 400], "text": "…", "left": false}

The parts are sent one by one. `shut` ends our side after them. `left`: the server had not
closed the connection when nothing came for a long time. Text is Latin-1: byte for byte.
Usage: raw_client.py HOST PORT
"""
import json
import re
import socket
import sys

PATIENCE_S = 100


def ask(host, port, request):
    connection = socket.create_connection((host, port), timeout=PATIENCE_S)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    got, left = b"", False
    try:
        for part in request["send"]:
            connection.sendall(part.encode("latin-1"))
        if request.get("shut"):
            connection.shutdown(socket.SHUT_WR)
    except OSError:
        pass  # it was answered and closed before all was sent
    try:
        while True:
            data = connection.recv(65536)
            if not data:
                break
            got += data
    except socket.timeout:
        left = True
    except OSError:
        pass
    connection.close()
    text = got.decode("latin-1")
    statuses = [int(s) for s in re.findall(r"(?:^|[\n}])HTTP/1\.1 (\d{3}) ", text)]
    return {"statuses": statuses, "text": text, "left": left}


def main():
    host, port = sys.argv[1], int(sys.argv[2])
    for line in sys.stdin:
        print(json.dumps(ask(host, port, json.loads(line))), flush=True)


main()
