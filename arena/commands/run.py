"""`arena run`: play a tournament."""

import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from arena.commands import options
from arena.commands.application import Panel, command
from arena.commands.playing import Where, play_shown

ConfigFile = Annotated[Path | None, typer.Argument(help="A TOML file.", metavar="CONFIG.toml")]
ResumeAny = Annotated[bool, options.resume_option("Continue the run, or the study, in --out; needs no configuration.")]
SeveralGames = Annotated[
    list[str] | None, options.games_option('Instead of a file: a game such as "hex(size=7)"; may be repeated.')
]
Agents = Annotated[
    list[str] | None, options.agents_option('An agent such as "uct(playouts=1000)"; repeat it for each agent.')
]
Games = Annotated[
    int | None,
    typer.Option(
        "--games",
        "-n",
        help="Games for each pair of agents, or runs of each agent in a game for one player. Default: 100. With "
        "--resume: more than before.",
    ),
]
OpeningPlies = Annotated[int | None, typer.Option(help="Random plies before the agents begin.")]
Seed = Annotated[int | None, typer.Option(help="The seed of openings and agents.")]
Budget = Annotated[
    list[str] | None,
    typer.Option(
        metavar="KIND=AMOUNT", help="For agents that set no budget: playouts=1000, nodes=..., depth=..., seconds=..."
    ),
]
Clock = Annotated[
    str | None,
    typer.Option(
        metavar="BASE+INCREMENT", help="Likewise: seconds for a whole game, plus seconds for each move, such as 10+0.1."
    ),
]
Careful = Annotated[bool, typer.Option("--careful", help="Check every index in kernels, to find mistakes.")]


class Tournament(NamedTuple):
    """The options that describe a tournament; None where one is not given."""

    game: SeveralGames = None
    agent: Agents = None
    games: Games = None
    opening_plies: OpeningPlies = None
    seed: Seed = None
    budget: Budget = None
    clock: Clock = None


@command(
    Panel.PLAY,
    examples="arena run tournament.toml\n"
    "arena run tournament.toml --out runs/first --workers 2\n"
    "arena run --out runs/first --resume\n"
    "arena run tournament.toml --cluster tcp://10.0.0.1:8786\n"
    'arena run --game connect4 --agent "uct(playouts=1000)" --agent "alphabeta(depth=6)" --games 100\n'
    "arena run --game connect4 --agent uct --agent alphabeta --clock 10+0.1 --games 20",
    as_json=True,
)
def run(
    config: ConfigFile = None,
    *,
    out: options.OutFolder = None,
    resume: ResumeAny = False,
    where: Where,
    tournament: Tournament,
    careful: Careful = False,
    trust: options.Trust = False,
) -> None:
    """Play a tournament and store it in a folder.

    A configuration file describes it; options suffice for a round robin.
    """
    if careful:
        _check_indices(where.cluster)
    if trust and not (resume and out):
        raise typer.BadParameter("--trust is for --resume with --out: what you name yourself is trusted")
    options.trust_run(out or Path(), trust)
    if resume and out and not config and (go_on := _of_a_study(out, tournament)):
        go_on(where)
        return
    described, folder = _described(config, tournament, resume, out)
    play_shown(described, folder, where, resume)


def _of_a_study(out: Path, flags: Tournament) -> Callable[[Where], None] | None:
    """What plays the rest of the study in a folder, or that it is a part of; None if it holds a tournament."""
    from arena.runner.study_kinds import home_of, kind_of

    home = home_of(out)
    kind = kind_of(home)
    if kind is None or not kind.goes_on:
        return None
    if given := _given(flags):
        raise typer.BadParameter(
            f"{', '.join(given)} cannot be added: {home} holds a {kind.what}, which has its own plan"
        )
    return functools.partial(kind.named(kind.goes_on), home)


def _check_indices(cluster: str | None) -> None:
    if cluster and not cluster.startswith("local:"):
        raise typer.BadParameter("--careful compiles kernels here: on a cluster, NUMBA_BOUNDSCHECK=1 is set there")
    os.environ["NUMBA_BOUNDSCHECK"] = "1"  # for the workers, which load Numba


def _described(config: Path | None, flags: Tournament, resume: bool, out: Path | None) -> tuple[Path | dict, Path]:
    """The tournament, as a file or as keys, and the folder of the run."""
    from arena.games.core.shared.registry import parse_spec

    given = _given(flags)
    if config and given:
        raise typer.BadParameter(f"{', '.join(given)} cannot be added to a file: say it in {config}")
    if config:
        return config, out or Path("runs", config.stem)
    if resume and out and given == ["--games"]:
        return _stored_config(out) | {"games": flags.games}, out
    if given:
        if resume and not out:
            raise typer.BadParameter("--resume needs --out, the folder of the run to continue")
        games = flags.game or []
        return _values_of(flags), out or options.free_folder(parse_spec(games[0])[0] if len(games) == 1 else "run")
    if resume and out:
        return _stored_config(out), out
    raise typer.BadParameter("give a configuration file, or --game and two or more --agent, or --resume with --out")


def _given(flags: Tournament) -> list[str]:
    return [f"--{name.replace('_', '-')}" for name, value in flags._asdict().items() if value not in (None, [])]


def _values_of(flags: Tournament) -> dict:
    """A configuration's keys from the options."""
    numbers = {"games": flags.games, "opening_plies": flags.opening_plies, "seed": flags.seed}
    values: dict = {"games": 100} | {name: value for name, value in numbers.items() if value is not None}
    if games := flags.game:
        values |= {"instances": games} if games[1:] else {"game": games[0]}
    values["agents"] = [{"agent": spec} for spec in flags.agent or []]
    clock = {"clock": flags.clock} if flags.clock else {}
    if budget := options.budget_of(flags.budget or []) | clock:
        values["budget"] = budget
    return values


def _stored_config(folder: Path) -> dict:
    from arena.config.trust import import_stored
    from arena.results.database.store import Store

    with Store.open(folder) as store:
        config = store.config
    import_stored(config)  # before a file of the run's choice is
    return config
