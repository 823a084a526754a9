#!/usr/bin/env python3
"""A worker that knows only files: python3 worker.py DIRECTORY ID

Nothing of society is used here. It may be killed at any moment and started again: what it
has handled is what it has acked."""

import datetime
import json
import os
import sys
import time

POLL_SECONDS, POLL_SECONDS_MAX, BACKOFF = 0.05, 1.0, 1.5
HEARTBEAT_SECONDS = 10


class Tail:
    """The lines of a file that others append to; begins anew when the file is another."""

    def __init__(self, path):
        self.path, self.offset, self.inode, self.rest = path, 0, None, b""
        self.is_gone = False

    def lines(self):
        try:
            with open(self.path, "rb") as file:
                info = os.fstat(file.fileno())
                if info.st_ino != self.inode or info.st_size < self.offset:
                    self.offset, self.inode, self.rest = 0, info.st_ino, b""
                file.seek(self.offset)
                data = file.read()
        except FileNotFoundError:
            self.is_gone = self.inode is not None
            return
        self.offset += len(data)
        *whole, self.rest = (self.rest + data).split(b"\n")
        for line in whole:
            try:
                message = json.loads(line)
            except ValueError:
                continue  # what a crash has left of a line
            if isinstance(message, dict):
                yield message


class Worker:
    def __init__(self, directory, name):
        channel = os.path.join(directory, "channel")
        self.name = name
        self.acks = os.path.join(channel, "agents", name + ".ack")
        self.out = os.path.join(channel, "agents", name + ".out.jsonl")
        self.heartbeat = os.path.join(directory, "state", "heartbeat", name + ".ts")
        self.files = [
            Tail(os.path.join(channel, "agents", name + ".jsonl")),
            Tail(os.path.join(channel, "broadcast.jsonl")),
        ]
        self.registry = os.path.join(directory, "state", "agents.json")
        self.born = self.wait_for_birth()
        self.end_torn_lines()
        self.handled = {
            ack.get("msg_id") for ack in Tail(self.acks).lines() if ack.get("status") == "processed"
        }
        self.is_over = False

    def read_entry(self):
        """What agents.json says of us; {} if it is not there or does not know us."""
        try:
            with open(self.registry, encoding="utf-8") as file:
                return json.load(file)["agents"][self.name]
        except (FileNotFoundError, ValueError, KeyError):
            return {}

    def wait_for_birth(self):
        """Waits to be registered; broadcasts with ids below this came before us. An entry that
        says stopped is of an earlier workflow."""
        entry = self.read_entry()
        while entry.get("status", "stopped") == "stopped":
            time.sleep(POLL_SECONDS)
            entry = self.read_entry()
        return entry["broadcasts_from"]

    def is_for_others(self, message):
        return message.get("to") == "All" and (
            message["id"] < self.born or message["from"] == self.name
        )

    def end_torn_lines(self):
        """What a kill may have left without its end is ended first."""
        for path in (self.acks, self.out):
            if os.path.exists(path) and os.path.getsize(path) > 0:
                with open(path, "rb+") as file:
                    file.seek(-1, os.SEEK_END)
                    if file.read() != b"\n":
                        file.write(b"\n")

    def append(self, path, message):
        line = json.dumps(message, ensure_ascii=False) + "\n"
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(file, line.encode())  # one call: the line is there whole
        finally:
            os.close(file)

    def ack(self, message, status):
        self.append(self.acks, {"msg_id": message["id"], "status": status, "at": now()})

    def say(self, cause, **message):
        # Its id follows from what it answers, so that it counts once.
        self.append(self.out, {"id": f"{self.name}-{cause['id']}", "timestamp": now(), **message})

    def handle(self, message):
        if "ack_for" in message:  # an answer of ours has arrived
            return
        payload = message.get("payload") or {}
        kind = message.get("type")
        if kind == "task_assign":
            self.ack(message, "received")
            done = {"task_id": payload["task_id"], "status": "done"}
            done["output"] = f"{payload.get('topic')} must be easy to remember"
            self.say(message, type="task_complete", payload=done)
        elif kind == "checkpoint_request":
            answer = {"checkpoint_id": payload["checkpoint_id"], "text": "ready"}
            self.say(message, type="checkpoint_response", payload=answer)
        elif kind == "broadcast":
            self.is_over = payload.get("text") == "goodbye"
        elif kind != "abort":
            self.say(message, reply_to=message["id"], payload="yes, I am here")
        self.ack(message, "processed")

    def run(self):
        wait, next_beat = POLL_SECONDS, 0.0
        while not self.is_over:
            if time.monotonic() >= next_beat:
                with open(self.heartbeat + ".new", "w", encoding="ascii") as file:
                    file.write(now() + "\n")
                os.replace(self.heartbeat + ".new", self.heartbeat)
                next_beat = time.monotonic() + HEARTBEAT_SECONDS
            found = False
            for file in self.files:
                for message in file.lines():
                    if message.get("id") in self.handled or self.is_for_others(message):
                        continue
                    self.handled.add(message.get("id"))
                    self.handle(message)
                    found = True
            # When the workflow is over its files go to the archive; when we are, agents.json says.
            is_stopped = not found and self.read_entry().get("status") == "stopped"
            self.is_over = self.is_over or self.files[0].is_gone or is_stopped
            wait = POLL_SECONDS if found else min(wait * BACKOFF, POLL_SECONDS_MAX)
            time.sleep(wait)


def now():
    time_now = datetime.datetime.now(datetime.timezone.utc)
    return time_now.isoformat(timespec="milliseconds").replace("+00:00", "Z")


if __name__ == "__main__":
    Worker(sys.argv[1], sys.argv[2]).run()
