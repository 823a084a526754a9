"""A collector of OTLP over HTTP on loopback, for the end-to-end specs.

    otlp_collector.py REQUESTS

Prints its port and appends each request to the file REQUESTS, as a line of JSON. The file
`mode` of its directory says how it answers: `ok`, `busy N` (503 with Retry-After to the first
N requests), `refuse`, `hang` (never) or `flood` (100 MB).
"""
import http.server
import json
import sys
import time


class Collector(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    seen = 0

    def answer(self, status, body=b"{}", headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        with open("mode") as file:
            mode = file.read().split()
        Collector.seen += 1
        line = {"path": self.path, "headers": dict(self.headers), "body": body}
        with open(sys.argv[1], "a") as file:
            file.write(json.dumps(line) + "\n")
        if mode[0] == "busy" and Collector.seen <= int(mode[1]):
            status = 429 if Collector.seen % 2 else 503
            self.answer(status, headers=[("Retry-After", "0")])
        elif mode[0] == "refuse":
            echo = "no: " + " ".join(str(value) for value in self.headers.values())
            self.answer(400, echo.encode())
        elif mode[0] == "hang":
            time.sleep(3600)
        elif mode[0] == "flood":
            self.send_response(200)
            self.send_header("Content-Length", "100000000")
            self.end_headers()
            try:
                for _ in range(100):
                    self.wfile.write(b"x" * 1000000)
            except OSError:
                self.close_connection = True
        else:
            self.answer(200)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
server.daemon_threads = True
print(server.server_address[1], flush=True)
server.serve_forever()
