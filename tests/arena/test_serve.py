"""The report while games are played: what the server answers, and when it ends."""

import base64
import hashlib
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from functools import partial
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

import results
from arena.cli import app
from arena.report import serve
from arena.report.page import content_policy
from results.store import Store
from tests.arena.browser import document, dump, usable_browser
from tests.arena.stored import CONFIG, store_run


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    return store_run(tmp_path_factory.mktemp("serve") / "full")


def get(address, seconds=60):
    """Status and text of an answer; waits for the server to begin."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            with urllib.request.urlopen(address, timeout=30) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except OSError:
            assert time.monotonic() < deadline
            time.sleep(0.1)


def test_the_page_grows_with_the_run(full, tmp_path):
    with Store.open(full) as source:
        records, meta, agents = list(source.records()), source.meta, source.agents
    with serve.serving(tmp_path / "run", 0) as address:
        assert get(address)[0] == 503 and "no tournament in" in get(address)[1]
        with Store.create(tmp_path / "run", meta, agents) as store:
            store.add_all(records[:4])
            assert get(address + "stored") == (200, "4")
            status, text = get(address)
            assert status == 200 and 'data-stored="4"' in text and "4 of 18 games so far" in text
            store.add_all(records[4:])
            deadline = time.monotonic() + 60
            while get(address + "stored")[1] != "18":  # the last page serves for a while
                assert time.monotonic() < deadline
                time.sleep(0.2)
        assert 'data-stored="18"' in get(address)[1]
        assert get(address + "tournament.sqlite")[0] == get(address + "../x")[0] == 404
    with pytest.raises(OSError):
        urllib.request.urlopen(address, timeout=5)


def test_a_page_is_not_drawn_for_every_game(full, monkeypatch):
    drawn = []
    monkeypatch.setattr(serve.Pages, "_draw", lambda self: drawn.append(1) or (b"page", 18))
    pages = serve.Pages(full)
    assert [pages.page() for _ in range(5)] == [b"page"] * 5 and len(drawn) == 1


def test_an_open_page_renews_itself(full, tmp_path):
    """A page with 4 games, whose server then says that there are 18: it asks, and shows them."""
    with Store.open(full) as source, Store.create(tmp_path, source.meta, source.agents) as store:
        store.add_all(list(source.records())[:4])
    old, new = (serve.Pages(folder)._draw()[0] for folder in (tmp_path, full))
    asked = []

    class Pages:
        def page(self):
            asked.append("/")
            return old if asked.count("/") == 1 else new

        def stored(self):
            asked.append("/stored")
            return 18

    server = serve.Server(socket.create_server((serve.HOST, 0)), Pages())
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        text = document(f"http://{serve.HOST}:{server.socket.getsockname()[1]}/", "--virtual-time-budget=12000")
    finally:
        server.shutdown()
        server.server_close()
    assert b"4 of 18 games so far" in old and "so far" not in text
    assert 'data-stored="18"' in text and asked.count("/") == 2 and asked.count("/stored") >= 2


def test_the_policy_lets_in_all_that_the_page_is_made_of(full):
    """By its hashes, and by a browser, which would complain of what it blocks; it does complain of what is not ours."""
    page = serve.Pages(full)._draw()[0]
    for tag, count in (("script", 2), ("style", 1)):
        own = [
            body
            for kind, body in re.findall(rf"<{tag}( type=[^>]*)?>(.*?)</{tag}>", page.decode(), re.DOTALL)
            if not kind
        ]
        assert len(own) == count
        for body in own:
            assert base64.b64encode(hashlib.sha256(body.encode()).digest()).decode() in content_policy()
    program, reason = usable_browser()
    if program is None:
        pytest.skip(reason)
    for shown, blocked in ((page, False), (page.replace(b"</body>", b"<script>1</script></body>"), True)):
        server = serve.Server(
            socket.create_server((serve.HOST, 0)), SimpleNamespace(page=partial(bytes, shown), stored=lambda: 18)
        )
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://localhost:{server.socket.getsockname()[1]}/"
        try:
            done = dump(program, address, "--enable-logging=stderr", "--virtual-time-budget=12000")
        finally:
            server.shutdown()
            server.server_close()
        assert ">Ply" in done.stdout or "The beginning." in done.stdout  # which its script has written
        assert ("CONSOLE" in done.stderr) == blocked, done.stderr


def test_it_listens_on_this_machine_alone(full):
    with serve.serving(full, 0) as address:
        port = int(address.rsplit(":", 1)[1].strip("/"))
        get(address + "stored")
        with pytest.raises(OSError), socket.create_connection(("127.0.0.2", port), timeout=5):
            pass  # another address of this machine, which a server on all of them would answer at


def test_a_port_that_is_taken():
    with socket.create_server((serve.HOST, 0)) as taken:
        port = taken.getsockname()[1]
        arguments = ["run", "--game", "tictactoe", "--agent", "random", "--agent", "flat(playouts=2)"]
        result = CliRunner().invoke(app, [*arguments, "--serve", str(port)])
    assert result.exit_code == 2 and f"port {port} cannot be served: Address already in use" in result.stderr


def test_a_run_is_served_and_its_server_ends_with_it(tmp_path):
    """Also when the run is killed."""
    command = [
        sys.executable,
        "-m",
        "arena.cli",
        "run",
        "--game",
        CONFIG["game"],
        "--agent",
        "random",
        "--agent",
        "uct(playouts=3000)",
        "--games",
        "4000",
        "--out",
        str(tmp_path / "run"),
        "--serve",
        "0",
    ]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)}
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, env=environment)
    address = next(line for line in process.stderr if "shown at" in line).split("shown at ")[1].split()[0]
    deadline = time.monotonic() + 100
    while get(address + "stored")[0] == 503 or get(address + "stored")[1] == "0":
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.2)
    assert "of 4,000" in get(address)[1]
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stderr.close()
    assert len(results.load(tmp_path / "run").games) > 0
    while True:
        try:
            socket.create_connection((serve.HOST, int(address.split(":")[2].strip("/"))), timeout=5).close()
        except OSError:
            break
        assert time.monotonic() < deadline
        time.sleep(0.1)
