"""slow_clients: many clients that hold a connection without using it, and one honest one.

Usage: slow_clients.py PORT TOKEN CROWD REQUESTS

The crowd connects and says nothing, or sends its head a byte at a time, or announces a body
that never comes; who is cut off connects again. Meanwhile the honest client sends requests,
every tenth on a new connection. Prints the times of those in ms, sorted, as a JSON list.

The society cuts off whoever has gone longest without a token. So while the honest client opens
a connection, no more than ROOM others do: a machine that lets it wait between its connection
and its first request must not make it one of the crowd.
"""
import http.client
import json
import resource
import selectors
import socket
import sys
import threading
import time

ROOM = 150  # less than web.connections

HEADS = [
    b"",
    b"GET /api/v1/stats HTTP/1.1\r\nHost: x\r\nX-Slow: ",
    b"POST /api/v1/intake HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{",
    b"G",
]


class Crowd(threading.Thread):
    def __init__(self, port, size):
        super().__init__(daemon=True)
        self.port, self.size, self.is_over = port, size, False
        self.opened = 0
        self.mark = None  # how many had come when the honest client began to connect
        self.selector = selectors.DefaultSelector()
        self.clients = set()

    def join_in(self):
        client = socket.socket()
        client.setblocking(False)
        client.connect_ex(("127.0.0.1", self.port))
        self.clients.add(client)
        self.opened += 1
        self.selector.register(client, selectors.EVENT_READ)
        head = HEADS[self.opened % len(HEADS)]
        try:
            client.send(head)
        except OSError:
            pass

    def drop(self, client):
        self.selector.unregister(client)
        self.clients.discard(client)
        client.close()

    def run(self):
        while not self.is_over:
            for _ in range(min(200, self.size - len(self.clients))):
                mark = self.mark
                if mark is not None and self.opened - mark >= ROOM:
                    break
                self.join_in()
            for key, _ in self.selector.select(0.01):
                try:
                    if not key.fileobj.recv(4096):
                        self.drop(key.fileobj)
                except BlockingIOError:
                    pass
                except OSError:
                    self.drop(key.fileobj)


def main():
    port, token, size, count = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    crowd = Crowd(port, size)
    crowd.start()
    while crowd.opened < size:
        time.sleep(0.01)
    times, client = [], None
    for index in range(count):
        if client is None or index % 10 == 0:
            crowd.mark = crowd.opened
            client = http.client.HTTPConnection("127.0.0.1", port, timeout=100)
        begin = time.monotonic()
        client.request("GET", "/api/v1/stats", headers={"Authorization": "Bearer " + token})
        response = client.getresponse()
        text = response.read()
        times.append((time.monotonic() - begin) * 1000)
        crowd.mark = None
        assert response.status == 200, (response.status, text)
    crowd.is_over = True
    crowd.join()
    print(json.dumps({"times": sorted(times), "opened": crowd.opened}))


main()
