"""Serves the report of a run while it is played, or of all runs in a folder, to browsers on this machine.

A separate process, so that drawing never delays the games.  It answers, for each run of a list at `/run/NAME/`,

    .../         the page
    .../stored   a word that changes when the page does: the number of games, or when runs were written to
    .../events   that word as server-sent events, whenever it changes; a stream ends after some minutes

Anybody here, and any page in a browser, may ask: requests must name this machine as their host (DNS rebinding);
connections are few and short, and slow clients are dropped when others wait.
"""

import hashlib
import os
import select
import socket
import subprocess
import sys
import threading
import time
from collections import OrderedDict
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote

from arena import results
from arena.results.database.store import FILE_NAME, Store, StoreError

HOST = "127.0.0.1"
NAMES = {HOST, "localhost", "[::1]"}  # and any port: it may be forwarded from another machine
MOST_CONNECTIONS = 32
ASKING, ANSWERING = 5.0, 60.0  # seconds for a request, and for reading its answer
PATIENCE, READING = 0.1, 1.0  # the same while others wait
MOST_STREAMS = 8  # of events
# seconds: of a stream, between signs of life, between looks at the store, before the next stream
STREAMING, HEARTBEAT, LOOKING, AGAIN = 300.0, 15.0, 0.5, 2.0
MOST_PAGES = 16  # kept, of the runs in a folder
HOME = str(Path(__file__).resolve().parents[2])
IDLE = 2.0  # pause between drawings, over the last one's seconds
NICENESS = 10  # games come first


@contextmanager
def serving(folder, port: int, many: bool = False):
    """A context with a server of the report of the run in `folder`, or of all runs in it; gives the address.

    port: 0 is any free one; many: `folder` holds folders of runs.  OSError if the port is not available.
    """
    try:
        listener = socket.create_server((HOST, port))
    except OSError as error:
        raise OSError(error.errno, f"port {port} cannot be served: {os.strerror(error.errno or 0)}") from error
    with listener:
        address = f"http://{HOST}:{listener.getsockname()[1]}/"
        # without the current folder, which may hold a `pandas.py`; our own comes last
        start = f"import sys; sys.path.append({HOME!r}); from arena.report.serve import main; main(*sys.argv[1:])"
        command = [sys.executable, "-P", "-c", start, str(Path(folder).absolute()), str(listener.fileno())]
        command += ["many"] if many else []
        # its input ends when this process does, in any way; Ctrl-C does not reach it
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
        server.communicate()  # also closes its input


class Pages:
    """The page of a run; redrawn when it lacks games, but not for every game."""

    def __init__(self, folder, home: str = ""):
        self.folder, self.home = Path(folder), home  # home: the address of the page of all runs
        self._lock = threading.Lock()
        self._page, self._shown, self._until = b"", "", 0.0

    def run(self, name: str) -> "Pages | None":
        """The pages of the run of that name in this folder; None if there is none."""
        return None

    def stored(self) -> str:
        """The word for what the page would show."""
        return self._shown if time.monotonic() < self._until else self.now()

    def page(self) -> bytes:
        """The page, as HTML in UTF-8; StoreError if there is no run yet."""
        with self._lock:
            if self.stored() != self._shown:
                start = time.monotonic()
                self._page, self._shown = self._draw()
                self._until = time.monotonic() + IDLE * (time.monotonic() - start)
            return self._page

    def now(self) -> str:
        """The number of games stored."""
        with Store.open(self.folder) as store:
            return str(store.select("SELECT COUNT(*) FROM games")[0][0])

    def _draw(self) -> tuple[bytes, str]:
        from arena.report.figures import draw
        from arena.report.page import render

        tournament = results.load(self.folder)
        return render(tournament, draw(tournament), live=True, home=self.home).encode(), str(len(tournament))


class Index(Pages):
    """The runs in a folder, and the pages of those requested last."""

    def __init__(self, folder):
        super().__init__(folder)
        self._runs: OrderedDict[str, Pages] = OrderedDict()
        self._known: dict = {}  # of `runs_in`
        self._digest, self._look_again = "", 0.0

    def run(self, name):
        """Looks among existing runs; the requested name never becomes a path."""
        with self._lock:
            if name not in self._runs:
                found = {path.parent.relative_to(self.folder).as_posix(): path for path in self._stores()}
                if name not in found:
                    return None
                self._runs[name] = Pages(found[name].parent, home="/")
            self._runs.move_to_end(name)
            while len(self._runs) > MOST_PAGES:
                self._runs.popitem(last=False)
            return self._runs[name]

    def _stores(self) -> list[Path]:
        return sorted(self.folder.rglob(FILE_NAME))

    def now(self):
        """A digest of the runs, their last writes, and whether they are played; takes at most a tenth of the time."""
        from arena.report.listing import stamp

        if (start := time.monotonic()) >= self._look_again:
            runs = [(str(path), stamp(path)) for path in self._stores()]
            self._digest = hashlib.sha256(repr(runs).encode()).hexdigest()[:16]
            self._look_again = time.monotonic() + 9 * (time.monotonic() - start)
        return self._digest

    def _draw(self):
        from arena.report.overview import render_index

        now = self.now()
        return render_index(self.folder, now, self._known).encode(), now


class Handler(BaseHTTPRequestHandler):
    """Answers requests for the server's `pages`."""

    server_version, sys_version = "arena", ""
    timeout = ASKING  # for each wait; `Server` limits the sum
    server: "Server"

    def do_GET(self):
        self.server.asked(self.connection)
        hosts = self.headers.get_all("Host", [])
        try:
            if len(hosts) != 1 or _without_port(hosts[0]) not in NAMES:
                self._answer(403, "text/plain", b"This page is for this machine: ask for localhost.")
            else:
                self._answer_from(*self._asked_for())
        except StoreError as error:
            self._answer(503, "text/plain; charset=utf-8", f"{error}\nTry again when the run has begun.".encode())
        except OSError:
            raise  # the reader has left
        except Exception as error:  # shown to the reader; the next request may succeed
            text = f"the page cannot be drawn: {type(error).__name__}: {error}"
            self._answer(500, "text/plain; charset=utf-8", text.encode(errors="replace"))

    do_HEAD = do_GET

    def _asked_for(self) -> tuple[Pages | None, str]:
        place, _, leaf = self.path.rpartition("/")
        if not place and self.path.startswith("/"):
            return self.server.pages, leaf
        return self.server.pages.run(unquote(place.removeprefix("/run/"))) if place.startswith("/run/") else None, leaf

    def _answer_from(self, pages, leaf):
        if pages is None or leaf not in ("", "stored", "events"):
            self._answer(404, "text/plain", b"There is no such page here.")
        elif leaf == "":
            self._answer(200, "text/html; charset=utf-8", pages.page())
        elif leaf == "stored":
            self._answer(200, "text/plain", pages.stored().encode())
        elif not self.server.streams(self.connection):
            self._answer(503, "text/plain", b"There are readers enough: ask for `stored` from time to time.")
        else:
            self._stream(pages)

    def _stream(self, pages):
        """Send the word when it changes, until the reader leaves or time is over."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        if self.command == "HEAD":
            return
        self.wfile.write(b"retry: %d\n\n" % (1000 * AGAIN))
        sent, silent, end = None, 0.0, time.monotonic() + STREAMING
        while time.monotonic() < end:
            try:
                now = pages.now()
            except StoreError:
                now = sent  # no run yet, or unreadable at the moment
            if now != sent or silent >= HEARTBEAT:
                self.wfile.write(f"data: {now}\n\n".encode() if now != sent else b": still here\n\n")
                sent, silent = now, 0.0
            if select.select([self.connection], [], [], LOOKING)[0]:
                return  # it has left, or was dropped
            silent += LOOKING

    def _answer(self, status, kind, body):
        self.server.answers(self.connection)
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def end_headers(self):
        """Add restrictions for browsers to every answer, errors included."""
        from arena.report.page import content_policy

        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Security-Policy", content_policy())
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("X-Content-Type-Options", "nosniff")
        super().end_headers()

    def log_message(self, *_):
        """Log nothing."""


def _without_port(host: str) -> str:
    name, colon, port = host.strip().lower().rpartition(":")
    return name if colon and port.isdigit() else host.strip().lower()


class Server(ThreadingHTTPServer):
    """A thread for each of up to MOST_CONNECTIONS connections."""

    def __init__(self, listener: socket.socket, pages):
        super().__init__((HOST, 0), Handler, bind_and_activate=False)
        self.socket.close()
        self.socket, self.pages = listener, pages
        self._changed = threading.Condition(threading.RLock())
        self._ends: dict[socket.socket, float] = {}  # when a connection's time is over
        self._spared: dict[socket.socket, float] = {}  # until when a waiting connection keeps its room
        self._streams: set[socket.socket] = set()
        self._leaving: list[threading.Thread] = []  # of closed connections

    def process_request(self, request, client_address):
        """Answer in a new thread, once there is room."""
        with self._changed:
            while len(self._ends) >= MOST_CONNECTIONS:
                self._make_room()
                self._changed.wait(PATIENCE / 4)
            now = time.monotonic()
            self._spared[request], self._ends[request] = now + PATIENCE, now + ASKING
            leaving, self._leaving = self._leaving, []
        for thread in leaving:
            if thread is not threading.current_thread():  # it closes a connection without a thread
                thread.join()
        super().process_request(request, client_address)

    def asked(self, request):
        """Note that the request is whole; the answer's time begins."""
        with self._changed:
            if self._spared.pop(request, None) is not None:
                self._ends[request] = time.monotonic() + ANSWERING
            request.settimeout(ANSWERING)

    def answers(self, request):
        """Note that the answer is ready; the reader must take it."""
        with self._changed:
            if request in self._ends:
                self._spared[request] = time.monotonic() + READING

    def streams(self, request) -> bool:
        """Whether there is room for a stream, which is then the first to make room."""
        with self._changed:
            if len(self._streams) >= MOST_STREAMS or request not in self._ends:
                return False
            self._streams.add(request)
            now = time.monotonic()
            self._spared[request], self._ends[request] = now, now + STREAMING + ANSWERING
            return True

    def service_actions(self):
        """Called twice a second: end the connections whose time is over."""
        with self._changed:
            for request in [request for request, end in self._ends.items() if end < time.monotonic()]:
                _end(request)

    def shutdown_request(self, request):
        """Close a connection, which frees its room."""
        try:
            super().shutdown_request(request)
        finally:
            with self._changed:
                self._spared.pop(request, None)
                self._ends.pop(request, None)
                self._streams.discard(request)
                self._leaving.append(threading.current_thread())
                self._changed.notify_all()

    def server_close(self):
        """Stop listening, and end all connections and streams."""
        super().server_close()
        with self._changed:
            for request in self._ends:
                _end(request)

    def handle_error(self, request, client_address):
        """Only readers who leave or are dropped end up here; `Handler` answers other errors."""

    def _make_room(self):
        """End one connection that has waited long enough, and all whose time is over."""
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


def main(folder, descriptor, many=""):
    """Serve until the input ends."""
    os.nice(NICENESS)
    server = Server(socket.socket(fileno=int(descriptor)), Index(folder) if many else Pages(folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()


if __name__ == "__main__":
    main(*sys.argv[1:])
