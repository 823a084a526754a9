"""Listeners that stop reading: deaf_listeners.py PORT TOKEN QUERY COUNT KIND…

Of each KIND (`sse`, `ws`) it opens COUNT streams with small buffers, reads no more than their
heads and prints `open`. Once the file `go` is there it reads on until each stream has sent
the last line of the file `log`, which has rows of the activity log, and prints for each
stream, as JSON, its kind, the first line it was sent, whether what came was exactly the rows
from there on, and how many words of models came.
"""
import json
import os
import socket
import struct
import sys
import time

PORT, TOKEN, QUERY = int(sys.argv[1]), sys.argv[2], sys.argv[3]
COUNT, KINDS = int(sys.argv[4]), sys.argv[5:]
PATHS = {"sse": "/api/v1/events", "ws": "/ws"}
UPGRADE = ("Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
           "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n")


class Listener:
    def __init__(self, kind):
        self.kind, self.data, self.at = kind, bytearray(), 0
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.socket.connect(("127.0.0.1", PORT))
        self.socket.sendall((
            "GET %s HTTP/1.1\r\nHost: localhost:%d\r\nAuthorization: Bearer %s\r\n%s\r\n" % (
                PATHS[kind] + QUERY, PORT, TOKEN, UPGRADE if kind == "ws" else "")).encode())
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            byte = self.socket.recv(1)
            assert byte, head
            head += byte
        assert head.startswith(b"HTTP/1.1 200" if kind == "sse" else b"HTTP/1.1 101"), head

    def read(self, count):
        while len(self.data) - self.at < count:
            piece = self.socket.recv(1 << 16)
            assert piece, "the stream has ended"
            self.data += piece
        piece = bytes(self.data[self.at:self.at + count])
        self.at += count
        if self.at > 1 << 20:
            del self.data[:self.at]
            self.at = 0
        return piece

    def read_line(self):
        line = bytearray()
        while not line.endswith(b"\r\n"):
            line += self.read(1)
        return line[:-2]

    def frames(self):
        while True:
            head, length = self.read(2)
            if length >= 126:
                length = struct.unpack("!H" if length == 126 else "!Q",
                                       self.read(2 if length == 126 else 8))[0]
            text = self.read(length)
            if head & 15 == 1:
                event = json.loads(text)
                yield event["type"], event.get("id"), event["data"]

    def blocks(self):
        text = b""
        while True:
            size = int(self.read_line(), 16)  # a chunk
            assert size > 0, "the stream has ended"
            text += self.read(size)
            self.read(2)
            *blocks, text = text.split(b"\n\n")
            for block in blocks:
                fields = dict(line.split(": ", 1) for line in block.decode().split("\n")
                              if not line.startswith(":"))
                if fields:
                    yield (fields["event"], int(fields["id"]) if "id" in fields else None,
                           json.loads(fields["data"]))

    def hear(self, rows):
        first, place, words, same = None, None, 0, True
        for name, line, data in self.frames() if self.kind == "ws" else self.blocks():
            if name == "model.delta":
                words += 1
                continue
            if place is None:
                first = line
                place = next(i for i, row in enumerate(rows) if row["line"] == line)
            same = same and rows[place] == data and line == data["line"]
            place += 1
            if place == len(rows):
                break
        print(json.dumps({"kind": self.kind, "first": first, "same": same, "words": words}),
              flush=True)


listeners = [Listener(kind) for kind in KINDS for _ in range(COUNT)]
print("open", flush=True)
while not os.path.exists("go"):
    time.sleep(0.01)
with open("log") as file:
    ROWS = [json.loads(line) for line in file]
for listener in listeners:
    listener.hear(ROWS)
