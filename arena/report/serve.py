"""The report of a run while it is played, for a browser on the same machine.

The server is a process of its own, so that drawing never holds up the games: `serving` starts and ends it.  It has two
answers, the page at `/` and the number of games stored at `/stored`, and listens on the loopback interface alone.
"""

import os
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import results
from results.store import Store, StoreError

HOST = "127.0.0.1"
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
        command = [sys.executable, "-m", "arena.report.serve", str(folder), str(listener.fileno())]
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

    def do_GET(self):
        try:
            if self.path == "/":
                self._answer(200, "text/html; charset=utf-8", self.server.pages.page())
            elif self.path == "/stored":
                self._answer(200, "text/plain", str(self.server.pages.stored()).encode())
            else:
                self._answer(404, "text/plain", b"There are / and /stored here.")
        except StoreError as error:
            self._answer(503, "text/plain; charset=utf-8", f"{error}\nTry again when the run has begun.".encode())

    def _answer(self, status, kind, body):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Requests are not logged."""


def main(folder, descriptor):
    """Serve until the input ends."""
    os.nice(NICENESS)
    server = ThreadingHTTPServer((HOST, 0), Handler, bind_and_activate=False)
    server.socket.close()
    server.socket = socket.socket(fileno=int(descriptor))
    server.pages = Pages(folder)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()


if __name__ == "__main__":
    main(*sys.argv[1:])
