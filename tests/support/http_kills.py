"""http_kills: posts under keys and listens to a society that is killed again and again.

Usage: http_kills.py PROGRAM APP STATE KILLS SEED

Clients post intakes, each under a key of its own, until it is answered; a listener collects
the events and resumes at the last line after every kill. Prints, as JSON, the ids that were
answered by key, the lines that were heard, and how often it was killed.
"""
import http.client
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time

PROGRAM, APP, STATE, KILLS, SEED = (sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]),
                                    int(sys.argv[5]))
POSTERS = 4


class Society:
    def __init__(self):
        self.port, self.token, self.is_over = None, None, False

    def start(self):
        url = os.path.join(STATE, "http.url")
        if os.path.exists(url):
            os.remove(url)
        self.process = subprocess.Popen(
            [PROGRAM, "run", APP, "--state", STATE, "--http", "0", "--log", "none"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        while not os.path.exists(url):
            assert self.process.poll() is None, "it has ended by itself"
            time.sleep(0.005)
        with open(url) as file:
            self.port = int(file.read().strip().rsplit(":", 1)[1])
        with open(os.path.join(STATE, "http.token")) as file:
            self.token = file.read().strip()

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=100)

    def headers(self, **more):
        return {"Authorization": "Bearer " + self.token, **more}


class Poster(threading.Thread):
    def __init__(self, society, number):
        super().__init__(daemon=True)
        self.society, self.number, self.answers = society, number, {}

    def post(self, key):
        body = json.dumps({"payload": {"text": key}})
        while True:
            try:
                connection = self.society.connect()
                connection.request("POST", "/api/v1/intake", body, self.society.headers(
                    **{"Content-Type": "application/json", "Idempotency-Key": key}))
                response = connection.getresponse()
                answer = json.loads(response.read())
                connection.close()
                if response.status == 202:
                    return answer["messageId"]
                assert response.status in (401, 503), (response.status, answer)
            except (OSError, http.client.HTTPException, ValueError):
                pass
            time.sleep(0.01)

    def run(self):
        count = 0
        while not self.society.is_over:
            count += 1
            key = "key-%d-%d" % (self.number, count)
            self.answers[key] = self.post(key)


class Listener(threading.Thread):
    def __init__(self, society):
        super().__init__(daemon=True)
        self.society, self.lines, self.last, self.is_over = society, [], 0, False

    def listen(self):
        connection = self.society.connect()
        path = "/api/v1/events?after=0" if self.last == 0 else "/api/v1/events"
        more = {} if self.last == 0 else {"Last-Event-ID": str(self.last)}
        connection.request("GET", path, headers=self.society.headers(**more))
        response = connection.getresponse()
        event = {}
        while response.status == 200:
            line = response.readline().decode().rstrip("\n")
            if line == "" and "data" in event and "id" in event:
                self.lines.append(json.loads(event["data"]))
                self.last = int(event["id"])
                event = {}
            elif line == "" and event == {} and response.isclosed():
                break
            elif ": " in line:
                name, value = line.split(": ", 1)
                event[name] = value
            elif line == "":
                event = {}

    def run(self):
        while not self.is_over:
            try:
                self.listen()
            except (OSError, http.client.HTTPException, ValueError):
                pass
            time.sleep(0.01)


def main():
    chance = random.Random(SEED)
    society = Society()
    society.start()
    posters = [Poster(society, number) for number in range(POSTERS)]
    listener = Listener(society)
    for thread in posters + [listener]:
        thread.start()
    for kill in range(KILLS):
        time.sleep(chance.uniform(0.05, 0.5))
        while sum(len(poster.answers) for poster in posters) < kill + 2:
            time.sleep(0.01)  # a slow machine still answers between kills
        society.process.kill()
        society.process.wait()
        society.start()
    society.is_over = True
    for poster in posters:
        poster.join()
    # All that was sent is handled; then the log stands still.
    connection = society.connect()
    last = None
    while True:
        connection.request("GET", "/api/v1/stats", headers=society.headers())
        stats = json.loads(connection.getresponse().read())
        connection.request("GET", "/api/v1/activity?limit=1", headers=society.headers())
        page = json.loads(connection.getresponse().read())
        if stats["pending"] == 0 and page["items"] and page["items"][-1]["line"] == last:
            break
        last = page["items"][-1]["line"] if page["items"] else None
        time.sleep(0.05)
    while listener.last < last:
        time.sleep(0.01)
    listener.is_over = True
    society.process.send_signal(signal.SIGTERM)
    society.process.wait()
    answers = {}
    for poster in posters:
        answers.update(poster.answers)
    print(json.dumps({"answers": answers, "lines": listener.lines, "kills": KILLS}))


main()
