"""The log: every record of the parent and of living workers, whatever happens to the disk and to dying workers."""

import logging
import multiprocessing
import os
import resource
import signal
import socket
import time
from multiprocessing import connection as pipes

from arena.workers import logs
from arena.workers.logs import RunLog, send_by
from arena.workers.messages import SupervisorsEnd, WorkersEnd

log = logging.getLogger("arena.test")


def chatter(end, number):
    send_by(WorkersEnd(end))
    for i in range(number):
        logging.getLogger("some.library").info("record %d of a worker %s", i, "x" * 6000)


def start(*arguments):
    """A process that logs, and the end at which its records arrive."""
    ours, theirs = socket.socketpair()
    process = multiprocessing.Process(target=chatter, args=(theirs, *arguments), name="the-worker")
    process.start()
    theirs.close()
    return process, SupervisorsEnd(ours)


def relay(run_log, end, open_=True):
    """Hand what has arrived to the log; whether more may come."""
    messages, open_ = end.receive()
    for message in messages:
        run_log.of_worker("the-worker", message.name, message.level, message.text)
    return open_


def relay_all(run_log, end):
    while relay(run_log, end):
        pipes.wait([end], 100)


def test_importing_configures_nothing():
    assert not logging.getLogger("arena").handlers


def test_records_of_parent_and_worker(tmp_path):
    with RunLog(tmp_path / "log.txt") as run_log:
        process, end = start(100)
        log.info("from %s", "here")
        log.debug("not told")
        relay_all(run_log, end)
        process.join()
    lines = (tmp_path / "log.txt").read_text().splitlines()
    assert len(lines) == 101
    assert any(line.endswith("INFO MainProcess arena.test: from here") for line in lines)
    assert [n for n in range(100) if not any(f"the-worker some.library: record {n} of" in line for line in lines)] == []


def test_an_exception_of_a_worker_has_its_traceback(tmp_path):
    with RunLog(tmp_path / "log.txt"):
        try:
            raise ZeroDivisionError("division by zero")
        except ZeroDivisionError:
            log.exception("oh")
    assert "ZeroDivisionError: division by zero" in (tmp_path / "log.txt").read_text()


def test_workers_killed_while_they_log_stop_nothing(tmp_path):
    with RunLog(tmp_path / "log.txt") as run_log:
        begin = time.monotonic()
        for number in range(12):
            process, end = start(10**9)
            relay(run_log, end, pipes.wait([end], 100))
            time.sleep(0.02)
            os.kill(process.pid, signal.SIGKILL)
            relay_all(run_log, end)  # the last record may be half a one
            process.join()
            log.info("killed number %d.", number)
        assert time.monotonic() - begin < 100
    text = (tmp_path / "log.txt").read_text()
    assert all(f" killed number {number}." in text for number in range(12))
    assert text.count("some.library: record 0 of") == 12


def test_what_workers_write_is_bounded_and_what_the_run_writes_is_not(tmp_path, monkeypatch):
    monkeypatch.setattr(logs, "WORKERS_LIMIT", 2000)
    with RunLog(tmp_path / "log.txt") as run_log:
        for i in range(1000):
            run_log.of_worker("w", "printed", logging.INFO, f"line {i}")
        log.info("the end")
    lines = (tmp_path / "log.txt").read_text().splitlines()
    assert len(lines) < 60 and lines[-1].endswith("the end")
    full = "the log is full of what workers log and print; the rest is left out"
    assert lines[-2].endswith(full)
    monkeypatch.setattr(logs, "WORKERS_LIMIT", 1000)
    with RunLog(tmp_path / "log.txt") as run_log:  # the run is resumed
        run_log.of_worker("w", "printed", logging.INFO, "one more")
    assert [line.partition(": ")[2] for line in (tmp_path / "log.txt").read_text().splitlines()[len(lines) :]] == [full]


def limited(path, told):
    """Log more than the disk takes; in a process of its own, whose limit cannot be raised again."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
    with RunLog(path, told.send) as run_log:
        for i in range(200):
            log.info("record %d %s", i, "x" * 100)
        process, end = start(5)
        relay_all(run_log, end)
        process.join()
    told.send("over")


def test_a_full_disk_is_told_once_in_words(tmp_path, capfd):
    here, there = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.Process(target=limited, args=(tmp_path / "log.txt", there))
    process.start()
    process.join(300)
    there.close()
    assert here.recv() == f"the log {tmp_path / 'log.txt'} cannot be written: File too large"
    assert here.recv() == "over"
    assert (process.exitcode, (tmp_path / "log.txt").stat().st_size) == (0, 5000)
    assert capfd.readouterr().err == ""
