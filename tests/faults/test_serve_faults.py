"""The page server among slow clients and many at once, and asked for what it should not answer.

Everything is on the loopback interface, bounded in number, and ends by itself.
"""

import http.client
import os
import re
import resource
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace

import pytest

from arena.report import serve
from arena.results.database.store import StoreError

PAGE = b"<p>" + b"page " * 2_400_000  # 12 MB, which do not fit the buffers of a connection that nobody reads


class Pages:
    """Stands for a run's, without drawing."""

    def __init__(self, fault=None):
        self.fault = fault

    def page(self):
        if self.fault:
            raise self.fault
        return PAGE

    def stored(self):
        return "7"

    now = stored

    def run(self, name):
        return self if name == "known one" else None


@contextmanager
def served(fault=None):
    """A server in this process; gives its port."""
    server = serve.Server(socket.create_server((serve.HOST, 0), backlog=256), Pages(fault))
    port = server.socket.getsockname()[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield port
    finally:
        server.shutdown()
        server.server_close()
        thread.join(30)


def ask(port, path="/stored", method="GET", timeout=120, **headers):
    connection = http.client.HTTPConnection(serve.HOST, port, timeout=timeout)
    try:
        connection.putrequest(method, path, skip_host="Host" in headers)
        for name, value in headers.items():
            for one in [value] if isinstance(value, str) else value:
                connection.putheader(name, one)
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, answer.read(), dict(answer.getheaders())
    finally:
        connection.close()


@pytest.mark.parametrize("host, status", [
    ("127.0.0.1", 200), ("localhost:9", 200), ("LOCALHOST", 200), ("[::1]:80", 200), ("evil.example", 403),
    ("evil.example:80", 403), ("127.0.0.1.evil.example", 403), ("localhost@evil.example", 403), ("", 403),
    ("localhost:x", 403), (["localhost", "evil.example"], 403), ([], 403),
])  # fmt: skip
def test_the_host_must_be_this_machine(host, status):
    with served() as port:
        assert ask(port, Host=host)[0] == status


def test_only_the_page_and_its_data():
    with served() as port:
        for method, path, status in [
            ("GET", "/", 200), ("HEAD", "/", 200), ("GET", "/stored?x=1", 404), ("GET", "//x", 404),
            ("GET", "/../x", 404), ("GET", "/run/known%20one/stored", 200), ("GET", "/run/known%20one/", 200),
            ("GET", "/run/known%20one", 404), ("GET", "/run/../stored", 404),
            ("GET", "/run//stored", 404),
            ("GET", "/run/%2e%2e%2fetc/", 404), ("HEAD", "/events", 200), ("POST", "/events", 501),
            ("GET", "stored", 404), ("GET", "http://evil.example/", 403), ("GET", "http://localhost/", 404),
            ("POST", "/", 501), ("DELETE", "/", 501), ("OPTIONS", "*", 501), ("GET", "/" + "x" * 70_000, 414),
        ]:  # fmt: skip
            with suppress(BrokenPipeError):
                found, body, headers = ask(port, path, method)
                assert found == status and (method != "HEAD" or not body), (method, path)
                assert headers["X-Content-Type-Options"] == "nosniff" and "default-src 'none'" in str(headers)


def test_what_fails_in_drawing_is_told(capfd):
    with served(RuntimeError("no colours")) as port:
        assert ask(port, "/")[:2] == (500, b"the page cannot be drawn: RuntimeError: no colours")
    assert not capfd.readouterr().err


def test_readers_who_leave_leave_no_trace(capfd):
    with served() as port:
        for text in (b"", b"GET", b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", b"\xff\x00\r\n\r\n", b"GET /\r\n\r\n"):
            for _ in range(5):
                with socket.create_connection((serve.HOST, port)) as client, suppress(OSError):
                    client.sendall(text)
                    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # a reset, not an end
        assert ask(port)[1] == b"7"
    assert not capfd.readouterr().err


def usage():
    """(descriptors, threads, MB in memory) of this process."""
    memory = int(re.search(r"VmRSS:\s+(\d+)", Path("/proc/self/status").read_text())[1]) / 1024
    return len(os.listdir("/proc/self/fd")), threading.active_count(), memory


def drip(port, stack, begin):
    """A client that has begun to ask, and does not end."""
    client = stack.enter_context(socket.socket())
    client.setblocking(False)
    client.connect_ex((serve.HOST, port))
    with suppress(OSError):
        client.send(begin)
    return client


@pytest.mark.parametrize("clients", [40, pytest.param(1000, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "begin", [b"", b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ", b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"]
)
def test_slow_clients_hold_nobody_up(clients, begin):
    """Those who ask for the page and do not read it are slow, too.  Who is sent away comes back."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)  # the clients are in this process, too
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 4096)), hard))
    with served() as port, ExitStack() as stack:
        stack.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        before, peak, waits, sent_away = usage(), (0, 0, 0.0), [], 0
        slow = [drip(port, stack, begin) for _ in range(clients)]
        for number in range(40):
            for i in range(number % 10, len(slow), 10):  # a tenth of them drips on, or comes back
                try:
                    if slow[i].send(b"x") == 0:
                        raise OSError
                except BlockingIOError:
                    continue
                except OSError:
                    slow[i].close()
                    slow[i] = drip(port, stack, begin)
            start = time.monotonic()
            while True:
                try:
                    assert ask(port, timeout=120)[1] == b"7"
                    break
                except ConnectionError:  # where the machine stalls, we are slow ourselves
                    sent_away += 1
            waits.append(time.monotonic() - start)
            now = usage()
            peak = tuple(map(max, peak, now))
        # descriptors of the clients are this process's own, too
        assert (
            peak[1] <= before[1] + serve.MOST_CONNECTIONS
            and peak[0] <= before[0] + clients + 2 * serve.MOST_CONNECTIONS
        )
        assert peak[2] < before[2] + 100
        print(f"{clients} slow clients: worst {max(waits):.2f} s, mean {sum(waits) / 40:.3f} s, {peak} after {before}")
        assert sorted(waits)[len(waits) // 2] < 5 and sent_away < 10


@pytest.mark.parametrize("requests", [100, pytest.param(1000, marks=pytest.mark.slow)])
def test_many_requests_at_once_are_all_answered(requests, monkeypatch):
    for name in ("PATIENCE", "READING", "ASKING", "ANSWERING"):
        monkeypatch.setattr(serve, name, 300.0)  # nobody here is slow, but the machine may be
    monkeypatch.setattr(serve.Handler, "timeout", 300.0)
    with served() as port:
        before = usage()
        with ThreadPoolExecutor(100) as pool:
            start = time.monotonic()
            right = list(pool.map(lambda number: is_right(port, number % 10 == 0), range(requests)))
            print(f"{requests} requests in {time.monotonic() - start:.2f} s")
            peak = usage()
        assert right == [True] * requests
        assert peak[1] <= before[1] + serve.MOST_CONNECTIONS + 100


def is_right(port, whole):
    status, body, _ = ask(port, "/" if whole else "/stored")
    return status == 200 and body == (PAGE if whole else b"7")


@contextmanager
def streaming(port, path="/events"):
    """A reader of events: what it is told, after the head of the answer."""
    with socket.create_connection((serve.HOST, port), timeout=120) as client:
        client.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        with client.makefile("rb") as stream:
            yield stream


def told(stream, lines=1):
    """The next lines of a stream that are data or signs of life."""
    found = []
    while len(found) < lines and (line := stream.readline()):
        if line.startswith((b"data: ", b": ")):
            found.append(line.strip().decode())
    return found


def threads_after(number, seconds=120):
    """How many threads there are, once there are no more than a number of them, or after some seconds."""
    deadline = time.monotonic() + seconds
    while threading.active_count() > number and time.monotonic() < deadline:
        time.sleep(0.05)
    return threading.active_count()


def test_streams_are_few_and_hold_nobody_up():
    """The ninth is refused in words; the page is there all the while, and room again when a reader leaves."""
    with served() as port:
        before = threading.active_count()
        with ExitStack() as stack:
            streams = [stack.enter_context(streaming(port)) for _ in range(serve.MOST_STREAMS)]
            assert [told(stream) for stream in streams] == [["data: 7"]] * serve.MOST_STREAMS
            status, body, headers = ask(port, "/events")
            assert status == 503 and b"stored" in body and headers["X-Content-Type-Options"] == "nosniff"
            most = before + serve.MOST_STREAMS + 1
            assert ask(port)[1] == b"7" and threads_after(most) <= most
        assert threads_after(before + 1) <= before + 1  # the last thread is joined when the next request comes
        with streaming(port) as stream:
            assert told(stream) == ["data: 7"]


def test_streams_make_room_for_others(monkeypatch):
    """Where slow clients take all other connections, who asks for the page gets it at the cost of a stream."""
    monkeypatch.setattr(serve, "ASKING", 100.0)  # the slow ones' time is not over before
    monkeypatch.setattr(serve.Handler, "timeout", 100.0)
    with served() as port, ExitStack() as stack:
        streams = [stack.enter_context(streaming(port)) for _ in range(serve.MOST_STREAMS)]
        assert all(told(stream) == ["data: 7"] for stream in streams)
        for _ in range(serve.MOST_CONNECTIONS):
            drip(port, stack, b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ")
        start = time.monotonic()
        assert ask(port)[1] == b"7" and time.monotonic() - start < 80
        assert streams[0].read().strip() == b""  # the oldest, which is at its end


def test_streams_tell_what_changes_and_end(monkeypatch):
    """With signs of life in between.  By the server's clock, each look takes a second."""
    monkeypatch.setattr(serve, "STREAMING", 20.0)
    monkeypatch.setattr(serve, "HEARTBEAT", 0.1)
    monkeypatch.setattr(serve, "LOOKING", 0.05)
    numbers, looks = iter("778"), []

    def now(self):
        looks.append(1)
        if len(looks) > 100:
            raise OSError("the stream does not end")
        return next(numbers, "8")

    monkeypatch.setattr(Pages, "now", now)
    monkeypatch.setattr(serve, "time", SimpleNamespace(monotonic=lambda: float(len(looks))))
    with served() as port, streaming(port) as stream:
        lines = stream.read().split(b"\r\n\r\n")[1].decode().split("\n\n")
    assert len(looks) == 20
    assert lines[0].startswith("retry: ") and [line for line in lines if "data" in line] == ["data: 7", "data: 8"]
    assert 2 <= lines.count(": still here") <= 10


def test_a_stream_waits_for_the_first_result(monkeypatch):
    monkeypatch.setattr(serve, "LOOKING", 0.05)
    answers = iter([StoreError("nothing yet"), StoreError("nothing yet")])

    def now(self):
        for error in answers:
            raise error
        return "1"

    monkeypatch.setattr(Pages, "now", now)
    with served() as port, streaming(port) as stream:
        assert told(stream) == ["data: 1"]
