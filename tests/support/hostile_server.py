"""A hostile server for the end-to-end specs: prints its port, then answers by the path.

The first part of the path says what it sends (ATTACKS), whatever it is asked. Everything is
bounded in bytes and in time.
"""
import gzip
import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SIZE = 16 * 1024 * 1024 - 4096
EVENTS = [("Content-Type", "text/event-stream")]
JSON = [("Content-Type", "application/json")]
LAST = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'


def event(delta):
    return b"data: " + json.dumps(
        {"choices": [{"index": 0, "delta": delta}]}, separators=(",", ":")).encode() + b"\n\n"


def call(index, **part):
    return event({"tool_calls": [{"index": index, "function": part}]})


def fill(piece):
    """As many copies as fit, with the end of a stream."""
    return piece * ((SIZE - len(LAST)) // len(piece)) + LAST


def zip_often(data, times):
    for _ in range(times):
        data = gzip.compress(data, 9)
    return data


def absurd_usage():
    used = {"prompt_tokens": 900000000000, "completion_tokens": 900000000000}
    return event({"content": "hi"}) + b"data: " + json.dumps(
        {"choices": [], "usage": used}).encode() + b"\n\n" + LAST


# name -> headers, body
ATTACKS = {
    "comments": lambda: (EVENTS, fill(b":\n")),
    "empty_lines": lambda: (EVENTS, fill(b"\n")),
    "unknown_fields": lambda: (EVENTS, fill(b"x:y\n")),
    "empty_events": lambda: (EVENTS, fill(b"data:\n\n")),
    "data_lines": lambda: (EVENTS, fill(b"data:1\n")),
    "one_event": lambda: (EVENTS, b"data:" + b"x" * (SIZE - 100)),
    "small_events": lambda: (EVENTS, fill(b"data:{}\n\n")),
    "words": lambda: (EVENTS, fill(event({"content": "a"}))),
    "tool_names": lambda: (EVENTS, fill(call(0, name="a"))),
    "tool_arguments": lambda: (EVENTS, call(0, name="a") + fill(call(0, arguments="a"))),
    "tool_empty": lambda: (EVENTS, fill(call(0, name="a", arguments=""))),
    "lists_in_event": lambda: (EVENTS, b"data:[" + b"[]," * (7 * 350000) + b"[]]\n\n" + LAST),
    "lists": lambda: (JSON, b"[" + b"[]," * (SIZE // 3 - 10) + b"[]]"),
    "numbers": lambda: (JSON, b"[" + b"1," * (SIZE // 2 - 10) + b"1]"),
    "objects": lambda: (JSON, b'{"choices":[' + b'{"a":1},' * (SIZE // 8 - 10) + b"{}]}"),
    "one_text": lambda: (JSON, b'{"choices":[{"message":{"content":"' + b"\\u0041" * (
        SIZE // 6 - 100) + b'"},"finish_reason":"stop"}]}'),
    "lists_that_fit": lambda: (JSON, b"[" + b" " * (2 << 20) + b"[]," * 99000 + b"[]]"),
    "text_that_fits": lambda: (JSON, b'{"choices":[{"message":{"content":"' + b"\\u0041" * (
        (3 << 20) // 6 - 100) + b'"},"finish_reason":"stop"}]}'),
    "lists_in_event_that_fit": lambda: (EVENTS, b"data:[" + b"[]," * 99000 + b"[]]\n\n" + LAST),
    "nonsense": lambda: (JSON, b"{" * (SIZE - 10)),
    "binary": lambda: ([], b"\xff" * SIZE),
    "control": lambda: ([], b"\x01" * SIZE),
    "gzip": lambda: (EVENTS + [("Content-Encoding", "gzip")], zip_often(fill(b":\n"), 1)),
    "gzips": lambda: (EVENTS + [("Content-Encoding", "gzip, gzip, gzip, gzip")], zip_often(
        b"\n" * (512 << 20), 4)),
    "gzip_headers": lambda: (EVENTS + [("Content-Encoding", "gzip")] * 4, zip_often(
        b"\n" * (512 << 20), 4)),
    "bomb": lambda: (EVENTS + [("Content-Encoding", "gzip")], zip_often(b"\n" * (512 << 20), 1)),
    "usage": lambda: (EVENTS, absurd_usage()),
    "text": lambda: (EVENTS, event({"content": "word " * 100000}) + LAST),
}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def endless(self, line, seconds=5):
        until = time.time() + seconds
        while time.time() < until:
            self.wfile.write(line * (65536 // len(line)))

    def drip(self):
        """One byte at a time, each in a packet of its own."""
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
        for byte in (b":\n" * 2000 + event({"content": "x"}) + LAST):
            self.wfile.write(bytes([byte]))

    def handle_any(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        name = self.path.split("/")[1]
        self.close_connection = True
        try:
            if name == "endless_headers":
                self.wfile.write(b"HTTP/1.1 200 OK\r\n")
                self.endless(b"X-Junk: 1\r\n")
            elif name == "endless_100":
                self.endless(b"HTTP/1.1 100 Continue\r\n\r\n")
            elif name == "endless_redirect":
                self.wfile.write(b"HTTP/1.1 307 Go\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n"
                                 % self.path.encode())
            elif name == "drip":
                self.drip()
            else:
                headers, body = ATTACKS[name]()
                self.send_response(200)
                for header in headers + [("Content-Length", str(len(body)))]:
                    self.send_header(*header)
                self.end_headers()
                self.wfile.write(body)
        except (BrokenPipeError, ConnectionResetError):
            pass

    do_GET = do_POST = handle_any


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
print(server.server_port, flush=True)
server.serve_forever()
