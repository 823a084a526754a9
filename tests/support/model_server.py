"""A server for the end-to-end specs: prints its port, then answers by the path.

/echo says what it was sent; /count how many requests came; /hang never answers the first;
/stall stops half-way.
.../chat/completions is a model: the last message says what it does ("hang once", "fail
once", "refuse", "cut", "garbage", "slow", "mirror"), else it says it again, in pieces.
"STATUS once S" answers the first request so, with the key and Retry-After of S seconds;
"STATUS always" every one. "call NAME JSON", as its last line, calls a tool; what that gave
it says again. .../v1/messages is the same model as Anthropic's API has it.
"redirect URL" sends the client on to URL (307), and so does a path of /redirect?URL.
"huge text N" says N letters, "huge calls N" calls N tools, "stall" stops half-way.
"gated WORDS" says each word once the file `go` has one line more.
"leak FORM N" says the key that it was sent, cut behind N letters, in a form of LEAKS;
"leak FORM N S" takes S seconds for each piece, and waits for a line in `go` half-way. "detail STATUS N" answers so with the key as
escapes of JSON, so that an error that is cut to its bytes ends N letters before the key's end.
Requests are appended to the file named by the first argument, one JSON object each. A
second argument names a file with a certificate and its key: then it speaks TLS.
"""
import base64
import json
import ssl
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LOCK = threading.Lock()
COUNT = [0]
ERROR_BYTES_MAX = 600  # message_bytes_max of lua/society/llm/answer.lua


def content(text):
    return {"choices": [{"index": 0, "delta": {"content": text}}]}


def arguments(text):
    call = {"index": 0, "function": {"arguments": text}}
    return {"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}


def name(text):
    call = {"index": 0, "id": "c", "function": {"name": text}}
    return {"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}


def escaped(text):
    return "".join("\\u%04x" % ord(letter) for letter in text)


# A key as lines of a stream: each a value, or the text of one.
LEAKS = {
    "content": lambda key, cut: [content(key[:cut]), content(key[cut:])],
    "letters": lambda key, cut: [content(letter) for letter in key],
    "base64_letters": lambda key, cut: [content(letter) for letter in base64.b64encode(
        b"x" * (cut % 3) + key.encode()).decode()],
    "percent_letters": lambda key, cut: [content(letter) for letter in "".join(
        "%%%02x" % ord(letter) for letter in key)],
    "escaped": lambda key, cut: [json.dumps(content("@")).replace(
        "@", escaped(key[:cut]) + key[cut:])],
    "arguments": lambda key, cut: [arguments('{"a":"' + key[:cut]), arguments(key[cut:] + '"}')],
    "deep": lambda key, cut: [arguments('{"a":"' + escaped(key[:cut])), arguments(key[cut:] + '"}')],
    "name": lambda key, cut: [name(key[:cut]), name(key[cut:])],
    "model": lambda key, cut: [json.dumps(dict(content("x"), model="@")).replace(
        "@", escaped(key[:1]) + key[1:])],
    "base64": lambda key, cut: [content(base64.b64encode(b"x" * cut + key.encode()).decode())],
    "percent": lambda key, cut: [content("".join("%%%02x" % ord(letter) for letter in key))],
    "error": lambda key, cut: [json.dumps({"error": {"message": "@"}}).replace(
        "@", escaped(key[:cut]) + key[cut:])],
    "nonsense": lambda key, cut: ["{" + escaped(key)],
}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

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
                 "body": body, "time": time.time()}
        with LOCK:
            COUNT[0] += 1
            with open(sys.argv[1], "a") as file:
                file.write(json.dumps(entry) + "\n")
        return entry

    @staticmethod
    def wait_for_line(number):
        """Waits until the file `go` has so many lines: a spec opens the gate."""
        while True:
            try:
                with open("go") as file:
                    if len(file.readlines()) >= number:
                        return
            except FileNotFoundError:
                pass
            time.sleep(0.01)

    def stream(self, text, pause=0, is_gated=False):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for number, word in enumerate(text.split(" ")):
            if is_gated:
                self.wait_for_line(number)
            delta = {"choices": [{"index": 0, "delta": {"content": word + " "}}]}
            self.wfile.write(b"data: " + json.dumps(delta).encode() + b"\n\n")
            self.wfile.flush()
            time.sleep(pause)
        last = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 9, "completion_tokens": 3}}
        self.wfile.write(b"data: " + json.dumps(last).encode() + b"\n\ndata: [DONE]\n\n")
        self.close_connection = True

    def key(self):
        return str(self.headers.get("Authorization") or self.headers.get("x-api-key")).split(
            " ")[-1]

    def leak(self, form, cut, pause=0.0):
        """The body comes in chunks that end wherever they like."""
        key = self.key()
        lines = LEAKS[form](key, cut)
        lines.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        text = "".join("data: %s\n\n" % (
            line if isinstance(line, str) else json.dumps(line)) for line in lines)
        data = (text + "data: [DONE]\n\n").encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        size = 3 + cut
        is_gated = pause > 0
        for at in range(0, len(data), size):
            if is_gated and at > len(data) // 2:
                self.wait_for_line(1)
                is_gated = False
            piece = data[at:at + size]
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.wfile.flush()
            time.sleep(pause)
        self.wfile.write(b"0\r\n\r\n")

    def detail(self, status, cut):
        key = self.key()
        said = "the model's server says %d: " % status
        head = '{"detail":"'
        filling = "x" * (ERROR_BYTES_MAX - len(said + head) - len(escaped(key[:-cut])))
        # Long enough to be cut, too, when the key is taken out.
        tail = "x" * ERROR_BYTES_MAX + '"}'
        self.answer(status, (head + filling + escaped(key) + tail).encode())

    def huge(self, what, count):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        size = 10000
        for at in range(0, count, size if what == "text" else 1):
            call = {"index": at, "id": "c%d" % at, "function": {"name": "f", "arguments": "{}"}}
            delta = {"content": "x" * size} if what == "text" else {"tool_calls": [call]}
            line = json.dumps({"choices": [{"index": 0, "delta": delta}]}).encode()
            try:
                self.wfile.write(b"data: " + line + b"\n\n")
            except OSError:
                return
        self.wfile.write(b"data: [DONE]\n\n")

    def stall(self):
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                         b"Content-Length: 999\r\n\r\ndata: {")
        self.wfile.flush()
        time.sleep(60)

    def say_events(self, events):
        """Events of either API, a line each; they come in pieces of odd sizes."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        data = "".join(("event: %s\n" % event["type"] if "type" in event else "") + "data: %s\n\n"
                       % json.dumps(event) for event in events).encode()
        for at in range(0, len(data), 37):
            self.wfile.write(data[at:at + 37])
            self.wfile.flush()

    def call_tool(self, name, given):
        half = len(given) // 2
        calls = [{"index": 0, "id": "c1", "function": {"name": name, "arguments": given[:half]}},
                 {"index": 0, "function": {"arguments": given[half:]}}]
        self.say_events([{"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}
                         for call in calls]
                        + [{"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}])

    def fail(self, wish):
        """Whether it has failed as it was wished to: "STATUS once S" or "STATUS always"."""
        words = wish.split(" ")
        if not words[0].isdigit() or (words[1] == "once" and COUNT[0] > 1):
            return False
        headers = [("Retry-After", words[2])] if len(words) > 2 else []
        body = {"error": {"message": "you sent " + self.key(), "type": "a_test",
                          "param": escaped(self.key())}}
        self.answer(int(words[0]), json.dumps(body).encode(), headers)
        return True

    def messages(self, entry):
        last = json.loads(entry["body"])["messages"][-1]["content"][-1]
        wish = last.get("text") or last["content"]
        if self.fail(wish):
            return
        if wish == "mirror":
            wish = "you sent " + self.key()
        block = {"type": "text", "text": ""}
        deltas = [{"type": "content_block_delta", "index": 0,
                   "delta": {"type": "text_delta", "text": letter}} for letter in wish]
        if wish.split("\n")[-1].startswith("call "):
            _, name, given = wish.split("\n")[-1].split(" ", 2)
            block = {"type": "tool_use", "id": "t1", "name": name, "input": {}}
            deltas = [{"type": "content_block_delta", "index": 0, "delta": {
                "type": "input_json_delta", "partial_json": letter}} for letter in given]
        stop = "tool_use" if block["type"] == "tool_use" else "end_turn"
        self.say_events(
            [{"type": "message_start", "message": {"model": "m", "usage": {"input_tokens": 9}}},
             {"type": "content_block_start", "index": 0, "content_block": block}] + deltas
            + [{"type": "message_delta", "delta": {"stop_reason": stop},
                "usage": {"output_tokens": 3}}, {"type": "message_stop"}])

    def chat(self, entry):
        wish = json.loads(entry["body"])["messages"][-1]["content"]
        if self.fail(wish):
            return
        if wish.split("\n")[-1].startswith("call "):
            self.call_tool(*wish.split("\n")[-1].split(" ", 2)[1:])
        elif wish == "hang once" and COUNT[0] == 1:
            time.sleep(60)
        elif wish == "fail once" and COUNT[0] == 1:
            self.answer(503, b'{"error":{"message":"busy"}}', [("Retry-After", "0.1")])
        elif wish == "refuse":
            self.answer(401, json.dumps({"error": {"message": "bad key: " + str(
                self.headers.get("Authorization"))}}).encode(),
                [("X-Mirror", str(self.headers.get("Authorization")))])
        elif wish == "cut":
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                             b"Content-Length: 999\r\n\r\ndata: {")
            self.close_connection = True
        elif wish == "garbage":
            self.wfile.write(b"\x00\x01garbage\r\n\r\n")
            self.close_connection = True
        elif wish == "stall":
            self.stall()
        elif wish.startswith("redirect "):
            self.answer(307, b"", [("Location", wish.split(" ")[1])])
        elif wish.startswith("huge "):
            _, what, count = wish.split(" ")
            self.huge(what, int(count))
        elif wish.startswith("leak "):
            _, form, cut, *pause = wish.split(" ")
            self.leak(form, int(cut), *map(float, pause))
        elif wish.startswith("detail "):
            _, status, cut = wish.split(" ")
            self.detail(int(status), int(cut))
        elif wish == "mirror":
            self.stream("you sent " + str(self.headers.get("Authorization")))
        else:
            self.stream(wish, 0.05 if wish.startswith("slow") else 0, wish.startswith("gated"))

    def do_any(self):
        entry = self.note()
        if self.path.endswith("/chat/completions"):
            self.chat(entry)
            return
        if self.path.endswith("/v1/messages"):
            self.messages(entry)
        elif self.path.startswith("/hang") and COUNT[0] == 1:
            time.sleep(60)
        elif self.path.startswith("/redirect?"):
            self.answer(307, b"", [("Location", self.path.split("?", 1)[1])])
        elif self.path.startswith("/stall"):
            self.stall()
        elif self.path.startswith("/echo"):
            self.answer(200, json.dumps(entry).encode(), [("Content-Type", "application/json")])
        else:
            self.answer(200, str(COUNT[0]).encode())

    do_GET = do_POST = do_PUT = do_any


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
if len(sys.argv) > 2:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2])
    server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_port, flush=True)
server.serve_forever()
