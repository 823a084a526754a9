"""Plays a service manager: notify_socket.py NAME FILE

Listens on the datagram socket NAME (a path, or @NAME in the abstract space) and appends each
line it is told to FILE. An empty FILE says that it listens.
"""
import socket
import sys

name, path = sys.argv[1:]
listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
listener.bind("\0" + name[1:] if name.startswith("@") else name)
with open(path, "a", encoding="utf-8") as heard:
    while True:
        heard.write(listener.recv(4096).decode() + "\n")
        heard.flush()
