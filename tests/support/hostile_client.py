"""A hostile client of the control socket: hostile_client.py SOCKET ATTACK.

It ends with 0 when it has sent what it has to send and was answered or cut off.
"""
import json
import socket
import sys
import threading

MEGABYTE = 1 << 20


def connect():
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(sys.argv[1])
    connection.settimeout(120)
    return connection


def drain(connection):
    try:
        while connection.recv(MEGABYTE):
            pass
    except (ConnectionResetError, BrokenPipeError):
        pass


def give(data, reads=True):
    """Sends it and reads until the society closes the connection."""
    with connect() as connection:
        reader = threading.Thread(target=drain, args=(connection,))
        if reads:
            reader.start()
        try:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
        except (ConnectionResetError, BrokenPipeError, socket.timeout, OSError):
            pass
        if reads:
            reader.join()


def line(value):
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def send(payload):
    return line({"op": "send", "id": 1, "to": "root", "payload": payload})


def large(value, count):
    body = (value + ",") * (count - 1) + value
    return b'{"op":"send","id":1,"to":"root","payload":{"a":[' + body.encode() + b"]}}\n"


def many(data, count):
    threads = [threading.Thread(target=give, args=(data,)) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


ATTACKS = {
    "large_send": lambda: give((large("1", MEGABYTE - 100) + large('"\\u0001"', MEGABYTE // 5)) * 5),
    "large_junk": lambda: give((b"x" * (15 * MEGABYTE) + b"\n") * 3),
    "endless_line": lambda: give(b"x" * (40 * MEGABYTE)),
    "brackets": lambda: give(b"[" * (15 * MEGABYTE) + b"\n"),
    "pipelined": lambda: give(send("x") * 50000),
    "tiny_lines": lambda: give(b"x\n" * 500000),
    "empty_lines": lambda: give(b"\n" * (20 * MEGABYTE)),
    "many_clients": lambda: many(send("x") * 100, 100),
    "inspects": lambda: many(line({"op": "agents", "id": 1}) * 500, 20),
    "silent_reader": lambda: give(b"x\n" * 300000, reads=False),
}
ATTACKS[sys.argv[2]]()
