"""A proxy on loopback that cuts connections, between hosts and Redis.

    cutting_proxy.py PORT FILE

FILE says `TO BYTES SEED`: connections go to the port TO, and each is cut after a random number
of bytes, at most BYTES; 0: none is. On SIGHUP it reads FILE again and cuts all connections.
"""
import random
import signal
import socket
import sys
import threading


class Proxy:
    def __init__(self, path):
        self.path = path
        self.open = set()
        self.lock = threading.Lock()
        self.read()

    def read(self):
        with open(self.path, encoding="ascii") as file:
            self.to, self.bytes, seed = (int(word) for word in file.read().split())
        self.random = random.Random(seed)

    def again(self, *_):
        self.read()
        with self.lock:
            sockets = list(self.open)
        for one in sockets:
            cut(one)

    def serve(self, client):
        limit = self.random.randint(1, self.bytes) if self.bytes > 0 else None
        try:
            server = socket.create_connection(("127.0.0.1", self.to))
        except OSError:
            client.close()
            return
        for one in (client, server):
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with self.lock:
            self.open |= {client, server}
        left = [limit]
        back = threading.Thread(target=self.pass_on, args=(server, client, left), daemon=True)
        back.start()
        self.pass_on(client, server, left)
        back.join()
        with self.lock:
            self.open -= {client, server}
        client.close()
        server.close()

    def pass_on(self, source, target, left):
        try:
            while True:
                data = source.recv(65536)
                if left[0] is not None:
                    data = data[:left[0]]  # a part of it arrives, perhaps
                    left[0] -= len(data)
                if not data:
                    break
                target.sendall(data)
        except OSError:
            pass
        cut(source)
        cut(target)


def cut(one):
    try:
        one.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass


def main():
    proxy = Proxy(sys.argv[2])
    signal.signal(signal.SIGHUP, proxy.again)
    listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
    print("ready", flush=True)
    while True:
        client, _ = listener.accept()
        threading.Thread(target=proxy.serve, args=(client,), daemon=True).start()


main()
