"""`arena learn`: an evaluation or a policy from a game's rules, or an evaluation from a run's games."""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from arena.commands.application import INTERRUPTED, Panel, command
from arena.commands.completion import complete_learner
from arena.commands.options import Force, Game, OutputFile, at_least, positive, resume_option
from arena.commands.output import check_free, check_writable, say, tell, write_whole
from arena.commands.progress import progress_line

POINTS = (1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1)  # shares of the games after which a match is played
CHECKPOINT = ".checkpoint"  # added to the file's name


LearnerArgument = Annotated[
    str,
    typer.Argument(
        help='A learner such as "td(plies=2)"; see arena list learners.',
        metavar="LEARNER",
        autocompletion=complete_learner,
    ),
]
Games = Annotated[
    int | None,
    typer.Option(
        "--games",
        "-n",
        callback=at_least(1),
        help="Games to learn from; for run, positions to draw. Default: 200000, or 5000 for visits.",
    ),
]
Seed = Annotated[int, typer.Option(help="The random seed.")]
Match = Annotated[int, typer.Option(callback=at_least(0), help="Measure progress by N games, six times. 0: never.")]
Player = Annotated[
    str | None,
    typer.Option(
        "--agent",
        "-a",
        help="The agent that plays these matches, with what was learned against without it. Default: "
        "alphabeta(seconds=0.01), or uct(playouts=1000) for visits.",
    ),
]
Every = Annotated[float, typer.Option("--checkpoint", callback=positive, help="Seconds from save to save.")]
Resume = Annotated[bool, resume_option("Go on from the checkpoint beside the file.")]


@command(
    Panel.STUDY,
    examples="arena learn connect4 --output c4.eval --games 500000\n"
    'arena learn "breakthrough(rows=6, columns=6)" --output bt.eval --match 100\n'
    'arena learn connect4 "td(plies=2, decay=0.7)" --output c4.eval --force\n'
    'arena learn "breakthrough(rows=6, columns=6)" visits --output bt.policy\n'
    "arena learn connect4 \"run(folder='runs/first')\" --output run.eval\n"
    "arena play connect4 \"alphabeta(depth=4, evaluation='file:c4.eval')\"",
)
def learn(
    game: Game,
    output: OutputFile,
    learner: LearnerArgument = "td",
    games: Games = None,
    seed: Seed = 1,
    match: Match = 0,
    agent: Player = None,
    every: Every = 60.0,
    resume: Resume = False,
    force: Force = False,
) -> None:
    """Learn an evaluation or a policy from the rules of a game.

    An n-tuple network learns in one process, by self-play or from a run's games.  Agents use an evaluation as
    evaluation='file:PATH'.  A policy, which the learner visits makes, guides uct(methods="puct(prior='file:PATH')").
    The file, and a checkpoint beside it, are saved every --checkpoint seconds and on Ctrl-C; --resume continues as if
    the command had never stopped.
    """
    if agent and not match:
        raise typer.BadParameter("--agent has no meaning without --match")
    files = output, _check_files(output, resume or force)
    from arena import games as registry
    from arena.agents.learning.learner import registry as learners
    from arena.study.learning import begin

    learning = begin(registry.make(game), learners.make(learner), seed)
    games, agent = games or learning.learner.usual_games, agent or learning.learner.usual_agent
    if match:
        learning.check_match(agent)
    if resume:
        _resume(learning, files[1], games)
    done = _learn(learning, games, files, every, (match, agent))
    _tell(learning, games, output)
    if not done:
        tell("interrupted; to go on, the same command with --resume")
        raise typer.Exit(INTERRUPTED)
    for row in learning.curve:
        say(_described(row, learning.learner.unit))


def _resume(learning, saved: Path, games: int) -> None:
    """Go on from a checkpoint; BadParameter if it has learned from more games than are asked for."""
    learning.resume(saved)
    if learning.games > games:
        raise typer.BadParameter(
            f"{saved} has learned from {learning.games:,} {learning.learner.unit}, and --games {games} is fewer"
        )


def _tell(learning, games: int, output: Path) -> None:
    card = learning.card()
    positions = f", {card['positions']:,} positions" if learning.learner.unit == "games" else ""
    done, time = f"{card['games']:,} of {games:,}", f"{card['seconds']:.0f} s of processor time"
    say(f"{output}: {done} {learning.learner.unit}{positions}, {time}, weights {card['weights']}")
    if learning.losses():
        say(
            f"cross-entropy {card['loss']:.3f} in the last positions before learning them; "
            f"the visits' entropy {card['least']:.3f}, equal probabilities {card['uniform']:.3f}"
        )


def _check_files(output: Path, replace: bool) -> Path:
    """The checkpoint of a file; BadParameter, before any learning, if one of them cannot be written."""
    check_writable(output, "--output")
    saved = output.with_name(output.name + CHECKPOINT)
    check_free(saved, replace)
    check_free(output, replace)
    return saved


def _learn(learning, games: int, files: tuple[Path, Path], every: float, contest: tuple[int, str]) -> bool:
    """Learn, with matches on the way; False if interrupted.  Writes the files in any case, and before each match."""
    count, agent = contest
    points = [max(int(games * share), 1) for share in POINTS] if count else [games]
    saved = time.monotonic()
    with _interrupts() as interrupted, progress_line(f"learning {learning.game}") as show:

        def going_on(text: str) -> bool:
            nonlocal saved
            show(text)
            if time.monotonic() - saved >= every:
                _save(learning, files)
                saved = time.monotonic()
            return not interrupted

        try:
            for point in points:
                if learning.games > point:
                    continue
                if not learning.go_on(point, lambda: going_on(_progress(learning, games))):
                    return False
                if count and all(row["games"] != point for row in learning.curve):
                    _save(learning, files)
                    if not _measured(learning, (count, agent), files[0], going_on):
                        return False
        finally:
            _save(learning, files)
    return True


def _measured(learning, contest: tuple[int, str], output: Path, going_on: Callable[[str], bool]) -> bool:
    """Add a match to the curve; if interrupted, add nothing and return False."""
    from arena.study.learning import match

    count, agent = contest
    text = f"a match after {learning.games:,} {learning.learner.unit}"
    going_on(text)
    players = partial(learning.players, agent, output)
    found = match(learning.game, players, count, learning.about["seed"], lambda: going_on(text))
    if found is None:
        return False
    row = {"games": learning.games, "seconds": round(learning.seconds, 1), "agent": agent}
    learning.curve.append(row | found)
    return True


def _save(learning, files: tuple[Path, Path]) -> None:
    """Write the file and its checkpoint, each in full or not at all."""
    output, saved = files
    write_whole(saved, learning.checkpoint(), force=True)
    write_whole(output, learning.contents(), force=True)


def _progress(learning, games: int) -> str:
    left = learning.seconds * (games - learning.games) / max(learning.games, 1)
    return f"{learning.games:,} of {games:,} {learning.learner.unit}, about {left:,.0f} s of processor time left"


def _described(row: dict, unit: str) -> str:
    elo = "" if row["elo"] is None else f", Elo {row['elo']:+.0f}" + (f" ± {row['error']:.0f}" if row["error"] else "")
    return f"after {row['games']:,} {unit}, {row['seconds']:.0f} s: {100 * row['score']:.1f} % of {row['match']}{elo}"


@contextmanager
def _interrupts() -> Iterator[list[int]]:
    """A context in which Ctrl-C and SIGTERM only add to a list, so that nothing is left half done."""
    caught: list[int] = []
    handlers = {
        number: signal.signal(number, lambda number, _: caught.append(number))
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield caught
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
