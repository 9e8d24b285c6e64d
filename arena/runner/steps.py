"""Plays a study: step after step, each the run grown by some games, until results ask for no more."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from arena.config.config import Config
from arena.results.database.store import FILE_NAME, Store
from arena.runner.running import OVER, Playing, StudyStep
from arena.runner.study_kinds import is_study
from arena.workers.crew import Crew


class Grown(NamedTuple):
    """The run of a step: the games of all steps before, and more; and what a person is told of it."""

    config: Config
    words: str = ""


def play_steps(steps: Iterator[Grown], folder: Path, playing: Playing) -> None:
    """Play each step of a study; what yields them goes on once the games of the last one are stored.

    Until there is none, the run of a study says that it is not over, though all that was asked for may be stored.  A
    pool is over when its games are, whoever may yet join.
    """
    of_study = is_study(folder)
    about = {OVER: False} if of_study else {}
    with Crew() as crew:
        for number, grown in enumerate(steps):
            if grown.words:
                playing.tell(grown.words)
            playing.play(grown.config, folder, StudyStep(crew, about, checked=number > 0))
    if of_study and (folder / FILE_NAME).exists():
        with Store.open(folder, write=True) as store:
            store.set_meta(OVER, True)
