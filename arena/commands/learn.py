"""`arena learn`: an evaluation or a policy from a game's rules, or an evaluation from a run's games."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from arena.commands.application import INTERRUPTED, Panel, command
from arena.commands.completion import complete_run
from arena.commands.options import Force, Game, OutputFile, at_least, positive
from arena.commands.output import check_free, say, tell, write_whole
from arena.commands.progress import progress_line

Method = StrEnum("Method", ["td", "tdleaf", "descent", "visits"])
TD = Method("td")
POINTS = (1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1)  # of the games, when there is a match
CHECKPOINT = ".checkpoint"  # after the name of the file
WITHOUT_MEANING = {  # parameters that a way to learn does not have
    "td": ("descents", "teacher"),
    "tdleaf": ("descents", "teacher"),
    "descent": ("plies", "decay", "foresee", "teacher"),
    "visits": ("plies", "decay", "foresee", "descents"),
    "run": ("method", "plies", "decay", "explore", "opening", "foresee", "descents", "teacher"),
}
USUAL = {"td": (200_000, "alphabeta(seconds=0.01)"), "visits": (5_000, "uct(playouts=1000)")}  # --games and --agent
FLAGS = {"decay": "--lambda", "foresee": "--foresee/--no-foresee"}  # that are not called as the parameter


Games = Annotated[
    int | None,
    typer.Option(
        "--games",
        "-n",
        callback=at_least(1),
        help="Games to play in all; with --from, positions to draw. Default: 200000, or 5000 for visits.",
    ),
]
HowToLearn = Annotated[Method, typer.Option(help="How to learn from self-play.")]
FromRun = Annotated[
    Path | None,
    typer.Option(
        "--from", metavar="DIR", help="Learn from a run's games instead of self-play.", autocompletion=complete_run
    ),
]
Seed = Annotated[int, typer.Option(help="The seed of everything random.")]
Tuples = Annotated[
    str, typer.Option(help="Shapes of tuples, such as '3x3 2x4 lines'. Default: those that suit the board.")
]
Stages = Annotated[int, typer.Option(help="Phases of the game, by stones on the board, each with tables of its own.")]
Step = Annotated[float, typer.Option(help="Scales the changes of weights. At 1, the first ones overshoot.")]
Plies = Annotated[int, typer.Option(help="For td and tdleaf: the depth of their searches.")]
Decay = Annotated[float, typer.Option("--lambda", help="For td and tdleaf: 0 trusts searches, 1 trusts results.")]
Explore = Annotated[float, typer.Option(help="The share of random moves.")]
Opening = Annotated[int, typer.Option(help="The most random moves at the start of a game.")]
Foresee = Annotated[
    bool, typer.Option("--foresee/--no-foresee", help="For td and tdleaf: whether to use ends that the game foresees.")
]
Descents = Annotated[int, typer.Option(help="For descent: descents before each move.")]
Teacher = Annotated[str, typer.Option(help="For visits: the search to learn from. Default: uct(playouts=300).")]
Match = Annotated[int, typer.Option(callback=at_least(0), help="Measure progress six times by N games. 0: never.")]
Player = Annotated[
    str | None,
    typer.Option(
        "--agent",
        "-a",
        help="Who plays these games, with what was learned against without. Default: alphabeta(seconds=0.01), or "
        "uct(playouts=1000) for visits.",
    ),
]
Every = Annotated[float, typer.Option("--checkpoint", callback=positive, help="Seconds from save to save.")]
Resume = Annotated[bool, typer.Option("--resume", help="Go on from the checkpoint beside the file.")]


@command(
    Panel.STUDY,
    examples="arena learn connect4 --output c4.eval --games 500000\n"
    'arena learn "breakthrough(rows=6, columns=6)" --output bt.eval --match 100\n'
    'arena learn "breakthrough(rows=6, columns=6)" --method visits --output bt.policy\n'
    "arena learn connect4 --output run.eval --from runs/first\n"
    "arena play connect4 \"alphabeta(depth=4, evaluation='file:c4.eval')\"",
)
def learn(
    context: typer.Context,
    game: Game,
    output: OutputFile,
    games: Games = None,
    method: HowToLearn = TD,
    run: FromRun = None,
    seed: Seed = 1,
    tuples: Tuples = "",
    stages: Stages = 1,
    step: Step = 1.0,
    plies: Plies = 1,
    decay: Decay = 0.5,
    explore: Explore = 0.1,
    opening: Opening = 6,
    foresee: Foresee = True,
    descents: Descents = 10,
    teacher: Teacher = "",
    match: Match = 0,
    agent: Player = None,
    every: Every = 60.0,
    resume: Resume = False,
    force: Force = False,
) -> None:
    """Learn an evaluation or a policy from the rules of a game.

    An n-tuple network learns by self-play in one process.  Agents use an evaluation as evaluation='file:PATH'.  A
    policy, which --method visits learns, guides uct(methods="puct(prior='file:PATH')").  Every --checkpoint seconds,
    and on Ctrl-C, the file and a checkpoint beside it are saved; --resume goes on as if nothing had happened.
    """
    way = "run" if run else method.value
    _check_options(context, way, bool(match))
    files = output, _check_files(output, resume or force)
    learner = _new_learner(context, game, way, run)
    usual_games, usual_agent = USUAL.get(way, USUAL["td"])
    games, agent = games or usual_games, agent or usual_agent
    if match:
        learner.check_match(agent)
    if resume:
        _resume(learner, files[1], games)
    done = _learn(learner, games, files, every, (match, agent))
    _tell(learner, games, output)
    if not done:
        tell("interrupted; to go on, the same command with --resume")
        raise typer.Exit(INTERRUPTED)
    for row in learner.curve:
        say(_described(row, _unit(learner)))


def _new_learner(context: typer.Context, game: str, way: str, run: Path | None):
    """The learner of what the options say; BadParameter if one is out of range."""
    import games as registry
    from arena.study.learning import Lesson, new_learner

    options = {name: value for name, value in context.params.items() if name in Lesson.__dataclass_fields__}
    try:
        lesson = Lesson(**{**options, "method": way})
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    return new_learner(registry.make(game), lesson, run)


def _resume(learner, saved: Path, games: int) -> None:
    """Go on from a checkpoint; BadParameter if it is further than that."""
    learner.resume(saved)
    if learner.games > games:
        raise typer.BadParameter(
            f"{saved} has learned from {learner.games:,} {_unit(learner)}, and --games {games} is fewer"
        )


def _tell(learner, games: int, output: Path) -> None:
    """Say what has been learned."""
    card = learner.card()
    positions = "" if learner.lesson.method == "run" else f", {card['positions']:,} positions"
    time = f"{card['seconds']:.0f} s of processor time"
    say(f"{output}: {card['games']:,} of {games:,} {_unit(learner)}{positions}, {time}, weights {card['weights']}")
    if learner.losses():
        say(
            f"cross-entropy {card['loss']:.3f} in the last positions before they were learned; "
            f"the visits' entropy {card['least']:.3f}, equal probabilities {card['uniform']:.3f}"
        )


def _check_options(context: typer.Context, way: str, match: bool) -> None:
    """BadParameter if an option is given that this way to learn would not heed."""
    idle = [(name, "with --from" if way == "run" else f"with --method {way}") for name in WITHOUT_MEANING[way]]
    for name, when in [*idle, *([] if match else [("agent", "without --match")])]:
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            raise typer.BadParameter(f"{FLAGS.get(name, f'--{name}')} has no meaning {when}")


def _check_files(output: Path, replace: bool) -> Path:
    """The checkpoint beside a file; BadParameter if they cannot be written, told before learning."""
    if not output.parent.is_dir():
        raise typer.BadParameter(f"--output {output}: there is no folder {output.parent}")
    if output.is_dir() or not os.access(output if output.exists() else output.parent, os.W_OK):
        raise typer.BadParameter(f"--output {output}: cannot be written")
    saved = output.with_name(output.name + CHECKPOINT)
    check_free(saved, replace)
    check_free(output, replace)
    return saved


def _learn(learner, games: int, files: tuple[Path, Path], every: float, contest: tuple[int, str]) -> bool:
    """Learn, with matches on the way; returns whether that was not interrupted.  The files are written in any case,
    and before each match."""
    count, agent = contest
    points = [max(int(games * share), 1) for share in POINTS] if count else [games]
    saved = time.monotonic()
    with _interrupts() as interrupted, progress_line(f"learning {learner.game}") as show:

        def told(text: str) -> bool:
            nonlocal saved
            show(text)
            if time.monotonic() - saved >= every:
                _save(learner, files)
                saved = time.monotonic()
            return not interrupted

        try:
            for point in points:
                if learner.games > point:
                    continue
                if not learner.go_on(point, lambda: told(_progress(learner, games))):
                    return False
                if count and all(row["games"] != point for row in learner.curve):
                    _save(learner, files)
                    if not _measured(learner, (count, agent), files[0], told):
                        return False
        finally:
            _save(learner, files)
    return True


def _measured(learner, contest: tuple[int, str], output: Path, told: Callable[[str], bool]) -> bool:
    """Add a match to the curve; False, and nothing is added, if it was interrupted."""
    from arena.study.learning import match

    count, agent = contest
    text = f"a match after {learner.games:,} {_unit(learner)}"
    told(text)
    players = partial(learner.players, agent, output)
    found = match(learner.game, players, count, learner.lesson.seed, lambda: told(text))
    if found is None:
        return False
    row = {"games": learner.games, "seconds": round(learner.seconds, 1), "agent": agent}
    learner.curve.append(row | found)
    return True


def _save(learner, files: tuple[Path, Path]) -> None:
    """Write what was learned and the checkpoint, each in full or not at all."""
    output, saved = files
    write_whole(saved, learner.checkpoint(), force=True)
    write_whole(output, learner.contents(), force=True)


def _progress(learner, games: int) -> str:
    left = learner.seconds * (games - learner.games) / max(learner.games, 1)
    return f"{learner.games:,} of {games:,} {_unit(learner)}, about {left:,.0f} s of processor time left"


def _unit(learner) -> str:
    """What `games` counts."""
    return "positions" if learner.lesson.method == "run" else "games"


def _described(row: dict, unit: str) -> str:
    elo = "" if row["elo"] is None else f", Elo {row['elo']:+.0f}" + (f" ± {row['error']:.0f}" if row["error"] else "")
    return f"after {row['games']:,} {unit}, {row['seconds']:.0f} s: {100 * row['score']:.1f} % of {row['match']}{elo}"


@contextmanager
def _interrupts() -> Iterator[list[int]]:
    """Within it, Ctrl-C and SIGTERM only add to a list, so that nothing is left half done."""
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
