"""The report while games are played: what the server answers, and when it ends."""

import base64
import hashlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest
from typer.testing import CliRunner

from arena import results
from arena.cli import app
from arena.report import listing, serve
from arena.report.listing import runs_in
from arena.report.page import content_policy
from arena.results.database.store import Store
from tests.arena.stored import CONFIG, store_run


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    return store_run(tmp_path_factory.mktemp("serve") / "full")


def get(address, seconds=300):
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


@pytest.mark.slow
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
            deadline = time.monotonic() + 300
            while get(address + "stored")[1] != "18":  # the last page serves for a while
                assert time.monotonic() < deadline
                time.sleep(0.2)
        assert 'data-stored="18"' in get(address)[1]
        assert get(address + "tournament.sqlite")[0] == get(address + "../x")[0] == 404
    with pytest.raises(OSError):
        urllib.request.urlopen(address, timeout=5)


def test_a_page_is_not_drawn_for_every_game(full, monkeypatch):
    drawn = []
    monkeypatch.setattr(serve.Pages, "_draw", lambda self: drawn.append(1) or (b"page", "18"))
    pages = serve.Pages(full)
    assert [pages.page() for _ in range(5)] == [b"page"] * 5 and len(drawn) == 1


def test_the_policy_lets_in_all_that_the_page_is_made_of(full):
    """By its hashes; in test_browser.py a browser says so, too.  The list of runs has one script."""
    pages = [(serve.Pages(full).page(), 2), (serve.Index(full.parent).page(), 1)]
    for page, tag, count in [
        (page, tag, count) for page, scripts in pages for tag, count in (("script", scripts), ("style", 1))
    ]:
        own = [
            body
            for kind, body in re.findall(rf"<{tag}( type=[^>]*)?>(.*?)</{tag}>", page.decode(), re.DOTALL)
            if not kind
        ]
        assert len(own) == count
        for body in own:
            assert base64.b64encode(hashlib.sha256(body.encode()).digest()).decode() in content_policy()


def test_a_folder_of_many_runs(full, tmp_path, monkeypatch):
    """A row for each run with its date, games, agents, leader, how far it is and a link; others are told of."""
    with Store.open(full) as source:
        records, meta, agents = list(source.records()), source.meta, source.agents
    for name, stored in (("a & b/ö", 4), ("whole", 18), ("none", 0)):
        with Store.create(tmp_path / name, meta, agents) as store:
            store.add_all(records[:stored])
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "tournament.sqlite").write_bytes(b"no database" * 100)
    pages = serve.Index(tmp_path)
    text = pages.page().decode()
    assert set(re.findall(r'href="(run/[^"]*)">([^<]*)</a>', text)) == {
        ("run/none/", "none"), ("run/whole/", "whole"), ("run/a%20%26%20b/%C3%B6/", "a &amp; b/ö")
    }  # fmt: skip
    leader = results.load(full).standings()["agent"][0]
    assert leader in text and "4 of 18" in text and "connect4" in text and "bad cannot be read" in text
    assert re.search(r"\d{4}-\d\d-\d\d \d\d:\d\d</td>", text) and text.count(">stopped<") == 2
    assert pages.run("a & b/ö").folder == tmp_path / "a & b/ö" and 'href="/"' in pages.run("none").page().decode()
    assert pages.run("..") is pages.run("") is pages.run(".") is pages.run("bad/../whole") is None
    known = {}
    rows = runs_in(tmp_path, known)
    with monkeypatch.context() as patch:
        read = []
        patch.setattr(listing, "_row", lambda folder, path: read.append(folder.name) or int("no number"))
        assert runs_in(tmp_path, known)[0] == rows[0] and read == ["bad"]  # the others have not changed
    old = pages.now()
    with Store.open(tmp_path / "none", write=True) as store:
        store.add(records[0])
    time.sleep(max(0.0, pages._look_again - time.monotonic()))
    assert pages.now() != old and runs_in(tmp_path, known)[0] != rows[0]


def test_few_pages_are_kept(full, tmp_path, monkeypatch):
    monkeypatch.setattr(serve, "MOST_PAGES", 2)
    for name in "abc":
        (tmp_path / name).mkdir()
        (tmp_path / name / "tournament.sqlite").write_bytes((full / "tournament.sqlite").read_bytes())
    pages = serve.Index(tmp_path)
    first = pages.run("a")
    assert pages.run("b") and pages.run("a") is first and pages.run("c") and list(pages._runs) == ["a", "c"]


def test_the_command_shows_runs_until_it_is_ended(full):
    command = [sys.executable, "-m", "arena", "report", str(full.parent), "--serve", "0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    try:
        told = process.stderr.readline()
        assert told.startswith("The runs in ")
        assert get(told.split(" at ")[1].split()[0] + "run/full/stored") == (200, "18")
    finally:
        process.send_signal(signal.SIGINT)
    assert process.wait(300) == 0 and process.stderr.read() == ""
    process.stderr.close()


def test_what_cannot_be_shown(full, tmp_path):
    for arguments, message in (
        ([tmp_path / "none"], "none is not a folder"),
        ([full, "--output", tmp_path / "x.html"], "--serve writes no file"),
    ):
        result = CliRunner().invoke(app, ["report", *map(str, arguments), "--serve", "0"])
        assert result.exit_code == 2 and message in " ".join(result.stderr.split()), result.stderr


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


@pytest.mark.slow
def test_a_run_is_served_and_its_server_ends_with_it(tmp_path):
    """Also when the run is killed."""
    command = [
        sys.executable,
        "-m",
        "arena",
        "run",
        "--game",
        CONFIG["game"],
        "--agent",
        "random",
        "--agent",
        "uct(playouts=3000)",
        "--games",
        "40000",
        "--out",
        str(tmp_path / "run"),
        "--serve",
        "0",
    ]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)}
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, env=environment)
    address = next(line for line in process.stderr if "shown at" in line).split("shown at ")[1].split()[0]
    deadline = time.monotonic() + 600
    while get(address + "stored")[0] == 503 or get(address + "stored")[1] == "0":
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.2)
    assert "of 40,000" in get(address)[1]
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
