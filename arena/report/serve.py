"""The report of a run while it is played, for a browser on the same machine.

The server is a process of its own, so that drawing never holds up the games: `serving` starts and ends it.  It has two
answers, the page at `/` and the number of games stored at `/stored`, and listens on the loopback interface alone.

It is the standard library's, with bounds: a larger server would be five more packages for two answers, and those that
we know of do not limit the time in which a slow client may send its request, or only where something stands before
them.  Others on this machine, and pages in a browser on it, may ask for anything: a request must name this machine as
its host, so that no other site can read the page under a name of its own (DNS rebinding); connections have a greatest
number and an end, and who is slow to ask makes room for the next.
"""

import os
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import results
from results.store import Store, StoreError

HOST = "127.0.0.1"
NAMES = {HOST, "localhost", "[::1]"}  # of this machine, with any port: it may be forwarded from another machine's
MOST_CONNECTIONS = 32
ASKING, ANSWERING = 5.0, 60.0  # seconds until a request is whole, and until its answer is read
PATIENCE, READING = 0.1, 1.0  # the same where others wait for room
HOME = str(Path(__file__).resolve().parents[2])
IDLE = 2.0  # a page is drawn anew only after so many times the seconds that the last drawing took
NICENESS = 10  # of the process: games come first


@contextmanager
def serving(folder, port: int):
    """A context in which the report of the run in `folder` is served; gives the address.

    port: 0 is any that is free.  OSError: the port cannot be had.
    """
    try:
        listener = socket.create_server((HOST, port))
    except OSError as error:
        raise OSError(error.errno, f"port {port} cannot be served: {os.strerror(error.errno or 0)}") from error
    with listener:
        address = f"http://{HOST}:{listener.getsockname()[1]}/"
        # a `pandas.py` in the current folder is none of ours: our own folder comes last, that folder not at all
        start = f"import sys; sys.path.append({HOME!r}); from arena.report.serve import main; main(*sys.argv[1:])"
        command = [sys.executable, "-P", "-c", start, str(Path(folder).absolute()), str(listener.fileno())]
        # its input ends when this process does, in whatever way; a Ctrl-C in the terminal does not reach it
        server = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            pass_fds=[listener.fileno()],
            start_new_session=True,
        )
    try:
        yield address
    finally:
        server.terminate()
        server.communicate()  # which closes its input too


class Pages:
    """The page of a run, drawn again when there are games that it lacks, but not for every game."""

    def __init__(self, folder):
        self.folder = folder
        self._lock = threading.Lock()
        self._page, self._shown, self._until = b"", -1, 0.0

    def stored(self) -> int:
        """How many games the page would show: while the last page still serves, those of that page."""
        if time.monotonic() < self._until:
            return self._shown
        with Store.open(self.folder) as store:
            return store.select("SELECT COUNT(*) FROM games")[0][0]

    def page(self) -> bytes:
        """The page, as HTML in UTF-8; StoreError if there is no run yet."""
        with self._lock:
            if self.stored() != self._shown:
                start = time.monotonic()
                self._page, self._shown = self._draw()
                self._until = time.monotonic() + IDLE * (time.monotonic() - start)
            return self._page

    def _draw(self):
        from arena.report.figures import draw
        from arena.report.page import render

        tournament = results.load(self.folder)
        return render(tournament, draw(tournament), live=True).encode(), len(tournament.games)


class Handler(BaseHTTPRequestHandler):
    """Answers of the server, whose `pages` are a run's."""

    server_version, sys_version = "arena", ""
    timeout = ASKING  # for each wait; `Server` limits the sum
    server: "Server"

    def do_GET(self):
        self.server.asked(self.connection)
        hosts = self.headers.get_all("Host", [])
        try:
            if len(hosts) != 1 or _without_port(hosts[0]) not in NAMES:
                self._answer(403, "text/plain", b"This page is for this machine: ask for localhost.")
            elif self.path == "/":
                self._answer(200, "text/html; charset=utf-8", self.server.pages.page())
            elif self.path == "/stored":
                self._answer(200, "text/plain", str(self.server.pages.stored()).encode())
            else:
                self._answer(404, "text/plain", b"There are / and /stored here.")
        except StoreError as error:
            self._answer(503, "text/plain; charset=utf-8", f"{error}\nTry again when the run has begun.".encode())
        except OSError:
            raise  # the reader has left
        except Exception as error:  # whatever drawing raises: the reader is told, and the next one may have luck
            told = f"the page cannot be drawn: {type(error).__name__}: {error}"
            self._answer(500, "text/plain; charset=utf-8", told.encode(errors="replace"))

    do_HEAD = do_GET

    def _answer(self, status, kind, body):
        self.server.answers(self.connection)
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def end_headers(self):
        """Every answer, of errors too, says what a browser may do with it."""
        from arena.report.page import content_policy

        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Security-Policy", content_policy())
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("X-Content-Type-Options", "nosniff")
        super().end_headers()

    def log_message(self, *_):
        """Requests are not logged."""


def _without_port(host: str) -> str:
    name, colon, port = host.strip().lower().rpartition(":")
    return name if colon and port.isdigit() else host.strip().lower()


class Server(ThreadingHTTPServer):
    """A thread for each connection, of MOST_CONNECTIONS at most, each of which ends."""

    def __init__(self, listener: socket.socket, pages):
        super().__init__((HOST, 0), Handler, bind_and_activate=False)
        self.socket.close()
        self.socket, self.pages = listener, pages
        self._changed = threading.Condition(threading.RLock())
        self._ends: dict[socket.socket, float] = {}  # when a connection ends by itself
        self._spared: dict[socket.socket, float] = {}  # until when, of those that we wait for, though others want room
        self._leaving: list[threading.Thread] = []  # whose connections are closed

    def process_request(self, request, client_address):
        """Answer in a thread of its own, as soon as there is room."""
        with self._changed:
            while len(self._ends) >= MOST_CONNECTIONS:
                self._make_room()
                self._changed.wait(PATIENCE / 4)
            now = time.monotonic()
            self._spared[request], self._ends[request] = now + PATIENCE, now + ASKING
            leaving, self._leaving = self._leaving, []
        for thread in leaving:
            if thread is not threading.current_thread():  # which closes what it could not start a thread for
                thread.join()
        super().process_request(request, client_address)

    def asked(self, request):
        """The request is whole: its answer has time of its own."""
        with self._changed:
            if self._spared.pop(request, None) is not None:
                self._ends[request] = time.monotonic() + ANSWERING
            request.settimeout(ANSWERING)

    def answers(self, request):
        """The answer is there: the reader has to take it."""
        with self._changed:
            if request in self._ends:
                self._spared[request] = time.monotonic() + READING

    def service_actions(self):
        """Twice a second: end the connections whose time is over."""
        with self._changed:
            for request in [request for request, end in self._ends.items() if end < time.monotonic()]:
                _end(request)

    def shutdown_request(self, request):
        """Close a connection; then its room is free."""
        try:
            super().shutdown_request(request)
        finally:
            with self._changed:
                self._spared.pop(request, None)
                self._ends.pop(request, None)
                self._leaving.append(threading.current_thread())
                self._changed.notify_all()

    def handle_error(self, request, client_address):
        """A reader who leaves, or is made to, is no error; nothing else comes here, for `Handler` answers with it."""

    def _make_room(self):
        """End one connection that we have waited for long enough, and all whose time is over."""
        now = time.monotonic()
        slow = next((request for request, until in self._spared.items() if until < now), None)
        if slow is not None:
            del self._spared[slow]
            _end(slow)
        self.service_actions()


def _end(request: socket.socket) -> None:
    """Wake the thread of a connection, which then closes it."""
    with suppress(OSError):
        request.shutdown(socket.SHUT_RDWR)


def main(folder, descriptor):
    """Serve until the input ends."""
    os.nice(NICENESS)
    server = Server(socket.socket(fileno=int(descriptor)), Pages(folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()


if __name__ == "__main__":
    main(*sys.argv[1:])
