"""A server for the end-to-end specs: prints its port, then answers by the path.

/echo says what it was sent; /count how many requests came; /hang never answers.
Requests are appended to the file named by the first argument, one JSON object each.
"""
import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LOCK = threading.Lock()
COUNT = [0]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def answer(self, status, body, headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def note(self):
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length).decode()
        entry = {"method": self.command, "path": self.path, "headers": dict(self.headers),
                 "body": body}
        with LOCK:
            COUNT[0] += 1
            with open(sys.argv[1], "a") as file:
                file.write(json.dumps(entry) + "\n")
        return entry

    def do_any(self):
        entry = self.note()
        if self.path.startswith("/hang") and COUNT[0] == 1:
            time.sleep(60)
        elif self.path.startswith("/echo"):
            self.answer(200, json.dumps(entry).encode(), [("Content-Type", "application/json")])
        else:
            self.answer(200, str(COUNT[0]).encode())

    do_GET = do_POST = do_PUT = do_any


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
print(server.server_port, flush=True)
server.serve_forever()
