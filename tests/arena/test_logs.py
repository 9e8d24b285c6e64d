"""The log: every record of the parent and of living workers, whatever happens to the disk and to dying workers."""

import logging
import multiprocessing
import os
import resource
import signal
import time

from arena.runner.logs import RunLog, send_to

log = logging.getLogger("arena.test")


def chatter(queue, number):
    send_to(queue)
    for i in range(number):
        logging.getLogger("some.library").info("record %d of a worker %s", i, "x" * 6000)


def start(worker_log, *arguments):
    process = multiprocessing.Process(target=chatter, args=(worker_log.queue, *arguments), name="the-worker")
    process.start()
    worker_log.started()
    return process


def test_importing_configures_nothing():
    assert not logging.getLogger("arena").handlers


def test_records_of_parent_and_worker(tmp_path):
    with RunLog(tmp_path / "log.txt") as run_log:
        worker_log = run_log.worker("the-worker")
        process = start(worker_log, 100)
        log.info("from %s", "here")
        log.debug("not told")
        process.join()
        worker_log.close()
        worker_log.join(10)
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
        closing = []
        for number in range(12):
            worker_log = run_log.worker(f"worker {number}")
            process = start(worker_log, 10**9)
            time.sleep(0.05)
            os.kill(process.pid, signal.SIGKILL)
            process.join()
            log.info("killed number %d.", number)
            worker_log.close()
            closing.append(worker_log)
        for worker_log in closing:
            worker_log.join(10)
        assert time.monotonic() - begin < 20
    text = (tmp_path / "log.txt").read_text()
    assert all(f" killed number {number}." in text for number in range(12))
    assert text.count("some.library: record 0 of") >= 1


def limited(path, told):
    """Log more than the disk takes; in a process of its own, whose limit cannot be raised again."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
    with RunLog(path, told.send) as run_log:
        for i in range(200):
            log.info("record %d %s", i, "x" * 100)
        worker_log = run_log.worker("worker")
        process = start(worker_log, 5)
        process.join()
        worker_log.close()
        worker_log.join(10)
    told.send("over")


def test_a_full_disk_is_told_once_in_words(tmp_path, capfd):
    here, there = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.Process(target=limited, args=(tmp_path / "log.txt", there))
    process.start()
    process.join(30)
    there.close()
    assert here.recv() == f"the log {tmp_path / 'log.txt'} cannot be written: File too large"
    assert here.recv() == "over"
    assert (process.exitcode, (tmp_path / "log.txt").stat().st_size) == (0, 5000)
    assert capfd.readouterr().err == ""
