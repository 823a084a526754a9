"""http_client: sends the requests on stdin, one JSON object per line, and prints the answers.

    {"method": "GET", "path": "/x", "headers": {"Host": "a"}, "body": "…"?}
    {"status": 200, "headers": {"content-type": "…"}, "body": "…"}

Headers are sent as they are; without a Host, none is sent. A stream is left after its head.
Each request has a connection of its own. Usage: http_client.py HOST PORT
"""
import http.client
import json
import sys


def ask(host, port, request):
    connection = http.client.HTTPConnection(host, port, timeout=300)
    connection.putrequest(request["method"], request["path"], skip_host=True,
                          skip_accept_encoding=True)
    body = request.get("body")
    headers = dict(request.get("headers") or {})
    if body is not None:
        headers.setdefault("Content-Length", str(len(body.encode())))
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    try:
        if body is not None:
            connection.send(body.encode())
    except BrokenPipeError:
        pass  # it was answered before it was read
    response = connection.getresponse()
    found = {name.lower(): value for name, value in response.getheaders()}
    is_stream = found.get("content-type", "").startswith("text/event-stream")
    text = "" if is_stream else response.read().decode("utf-8", "replace")
    connection.close()
    return {"status": response.status, "headers": found, "body": text}


def main():
    host, port = sys.argv[1], int(sys.argv[2])
    for line in sys.stdin:
        print(json.dumps(ask(host, port, json.loads(line))), flush=True)


main()
