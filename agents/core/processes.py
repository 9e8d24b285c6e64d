"""Processes that search for a process of this program, and end with it whatever ends it."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable
from multiprocessing import connection as pipes
from typing import Any, NamedTuple


class Helping(NamedTuple):
    """A process, and this side's end of the pipe to it."""

    process: Any  # multiprocessing's, of the context "spawn"
    pipe: Any


def start(target: Callable, *arguments, name: str) -> Helping:
    """Start a process that runs target(its end of a pipe, *arguments); `target` begins with `guard()`."""
    # a fork server cannot be used by a process that was forked from the one that started it
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=target, args=(theirs, *arguments), name=name, daemon=True)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # for the process, until it is on guard
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    theirs.close()
    return Helping(process, ours)


def end(helping: Iterable[Helping]) -> None:
    """End processes in the middle of whatever they do, and wait until they are gone."""
    helping = list(helping)
    for one in helping:
        one.process.kill()
    for one in helping:
        one.process.join()
        one.pipe.close()


def guard() -> None:
    """In such a process: leave Ctrl-C to the parent, and die when the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    threading.Thread(target=_die_with_the_parent, daemon=True).start()


def _die_with_the_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None  # it runs in processes alone that `start` has started
    pipes.wait([parent.sentinel])
    os._exit(1)
