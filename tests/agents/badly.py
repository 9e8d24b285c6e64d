"""A program that speaks JSON lines and misbehaves as its first argument says: `python badly.py MODE TOKEN`.

TOKEN is not used: by it, a test finds what is left of the program.  With the mode "notes" it behaves, plays the first
legal move, and writes what it is sent to its error stream.  This file imports nothing of the project.
"""

import json
import os
import resource
import signal
import sys
import time


def say(text):
    os.write(1, text if isinstance(text, bytes) else (text + "\n").encode("utf-8", "surrogatepass"))


def flood(stream, piece):
    while True:
        os.write(stream, piece)


def hang():
    while True:
        time.sleep(60)


def fork(count=1, new_session=False, then=hang):
    """Children that hang, and hold the standard streams."""
    for _ in range(count):
        if os.fork() == 0:
            if new_session:
                os.setsid()
                if os.fork():
                    os._exit(0)
            then()


def end_by(number):
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.kill(os.getpid(), number)


def stubborn():
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    hang()


def hog():
    kept = []
    while True:
        kept.append(bytearray(1 << 24))


def crash():
    raise ValueError("the engine's own mistake")


def harm_guards(number, most):
    """Send a signal to at most so many of the guards above this process, the outer one first."""
    fork(2, new_session=True)
    guards, above = [], os.getppid()
    while len(guards) < most and "guard.py" in read(f"/proc/{above}/cmdline"):
        guards.append(above)
        above = int(read(f"/proc/{above}/stat").rpartition(")")[2].split()[1])
    for pid in reversed(guards):
        os.kill(pid, number)
    hang()


def read(path):
    with open(path) as file:
        return file.read()


AT_ONCE = {
    "deaf": hang,
    "dies at once": lambda: os._exit(3),
    "banner": lambda: say("Welcome to my engine"),
    "closes its output": lambda: (os.close(1), hang()),
}
AT_HELLO = {
    "silent": hang,
    "dies at hello": lambda: os._exit(4),
    "no JSON": lambda: say("hello"),
    "nameless": lambda: say("{}"),
    "floods at hello": lambda: flood(1, b"x" * 65536),
}
AT_MOVE = {
    "slow": lambda: time.sleep(30),
    "ends": lambda: os._exit(0),
    "crashes": crash,
    "segmentation fault": lambda: end_by(signal.SIGSEGV),
    "kills itself": lambda: end_by(signal.SIGKILL),
    "stops itself": lambda: end_by(signal.SIGSTOP),
    "ignores signals": stubborn,
    "half a line": lambda: (say(b'{"move": "a'), hang()),
    "half a line and ends": lambda: (say(b'{"move": "a'), os._exit(0)),
    "binary": lambda: say(bytes(range(256)) + b"\n"),
    "zeros": lambda: say(b"\0" * 100 + b"\n"),
    "a line of 10 MB": lambda: say(b"[" + b" " * 10_000_000 + b"]\n"),
    "a line without end": lambda: flood(1, b" " * 65536),
    "lines without end": lambda: flood(1, b'{"note": 1}\n' * 5000),
    "floods its errors": lambda: flood(2, b"warning: this and that\n" * 3000),
    "null": lambda: say("null"),
    "a list": lambda: say('["a1"]'),
    "deep": lambda: say("[" * 100_000),
    "no move": lambda: say('{"value": 0.5}'),
    "takes all memory": hog,
    "leaves a child": lambda: (fork(), os._exit(0)),
    "many children": lambda: (fork(20), hang()),
    "children of a new session": lambda: (fork(3, new_session=True), hang()),
    "kills its guard": lambda: harm_guards(signal.SIGKILL, 1),
    "kills both guards": lambda: harm_guards(signal.SIGKILL, 2),
    "stops its guard": lambda: harm_guards(signal.SIGSTOP, 1),
    "stops both guards": lambda: harm_guards(signal.SIGSTOP, 2),
    "children that flood": lambda: (fork(2, then=lambda: flood(1, b"x" * 9000)), hang()),
}
ANSWERS = {  # instead of, or besides, a legal move
    "illegal": {"move": "z9"},
    "an odd name": {"move": "\ud800\x1b[2J"},
    "a number": {"move": 4},
    "a blank": {"move": "a1 "},
    "another id": {"id": 10**6},
}
MODES = [*AT_ONCE, *AT_HELLO, *AT_MOVE, *ANSWERS, "echo", "answers twice"]


def answer(mode, request):
    """What is written in answer to a request."""
    kind = request["type"]
    if kind == "hello":
        return {"name": f"badly {mode}", "version": "0"}
    if kind != "move":
        return {}
    if mode == "echo":
        return request
    return {"move": request["legal"][0]} | ANSWERS.get(mode, {})


def main(mode):
    AT_ONCE.get(mode, int)()
    for line in iter(sys.stdin.readline, ""):
        request = json.loads(line)
        if mode == "notes":
            os.write(2, line.encode())
        if request["type"] == "hello":
            AT_HELLO.get(mode, int)()
        if request["type"] == "move":
            AT_MOVE.get(mode, int)()
        told = json.dumps(answer(mode, request))
        say(f"{told}\n{told}" if mode == "answers twice" and request["type"] == "move" else told)  # in one piece


if __name__ == "__main__":
    main(sys.argv[1])
