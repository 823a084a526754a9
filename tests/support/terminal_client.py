"""Types into a program on a terminal of its own: terminal_client.py WAIT=TEXT... -- COMMAND

For each WAIT=TEXT it waits until the terminal shows WAIT after what was waited for before,
and types TEXT (both with escapes as in Python). At last it waits for the end, prints all that was shown
and ends with the code of the command.
"""
import os
import pty
import select
import sys
import time

at = sys.argv.index("--")
steps = [[part.encode().decode("unicode_escape").encode("latin-1") for part in step.split("=", 1)]
         for step in sys.argv[1:at]]
pid, terminal = pty.fork()
if pid == 0:
    os.environ["TERM"] = "xterm"
    os.execvp(sys.argv[at + 1], sys.argv[at + 1:])
shown, seen, deadline = b"", 0, time.monotonic() + 120
while time.monotonic() < deadline:
    while steps and steps[0][0] in shown[seen:]:
        wait, text = steps.pop(0)
        seen += shown[seen:].index(wait) + len(wait)
        os.write(terminal, text)
    if select.select([terminal], [], [], 1)[0]:
        try:
            data = os.read(terminal, 65536)
        except OSError:
            break
        if not data:
            break
        shown += data
else:
    os.kill(pid, 9)
sys.stdout.buffer.write(shown)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
