"""Redis' protocol in a few lines, so that the examples need nothing but Python."""

import socket


class Redis:
    """A connection. Texts are str; nil is None; an error raises."""

    def __init__(self, port, host="127.0.0.1"):
        self.socket = socket.create_connection((host, int(port)))
        self.file = self.socket.makefile("rwb")

    def send(self, *words):
        words = [str(word).encode() for word in words]
        self.file.write(b"*%d\r\n" % len(words))
        for word in words:
            self.file.write(b"$%d\r\n%s\r\n" % (len(word), word))
        self.file.flush()

    def read(self):
        line = self.file.readline()
        if not line:
            raise ConnectionError("Redis has closed the connection")
        kind, rest = line[:1], line[1:-2]
        if kind == b"+":
            return rest.decode()
        if kind == b"-":
            raise RuntimeError(rest.decode())
        if kind == b":":
            return int(rest)
        count = int(rest)
        if count < 0:
            return None
        if kind == b"$":
            return self.file.read(count + 2)[:-2].decode()
        return [self.read() for _ in range(count)]

    def __call__(self, *words):
        self.send(*words)
        return self.read()
