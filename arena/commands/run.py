"""`arena run`: play a tournament."""

from pathlib import Path
from typing import Annotated

import typer

from arena.commands.application import command
from arena.commands.options import Json, Workers, budget_of, free_folder
from arena.commands.playing import play_shown


@command(
    examples="arena run tournament.toml\n"
    "arena run tournament.toml --out runs/first --workers 2\n"
    "arena run --out runs/first --resume\n"
    'arena run --game connect4 --agent "uct(playouts=1000)" --agent "alphabeta(depth=6)" --games 100'
)
def run(
    config: Annotated[Path | None, typer.Argument(help="A TOML file.", metavar="CONFIG.toml")] = None,
    out: Annotated[Path | None, typer.Option(help="Where to store the run; runs/NAME when left out.")] = None,
    workers: Workers = None,
    resume: Annotated[bool, typer.Option(help="Go on with the run that is there; needs no configuration.")] = False,
    game: Annotated[
        str | None,
        typer.Option(help='Instead of a file: a game such as "connect4(rows=6, columns=7)", or one for one player.'),
    ] = None,
    agent: Annotated[
        list[str] | None,
        typer.Option(help='An agent such as "uct(playouts=1000)"; give two or more, for one player one or more.'),
    ] = None,
    games: Annotated[
        int | None, typer.Option(help="Games for each pair of agents, or runs of each agent; 100 when left out.")
    ] = None,
    opening_plies: Annotated[int | None, typer.Option(help="Random plies before the agents begin.")] = None,
    seed: Annotated[int | None, typer.Option(help="Of openings and agents.")] = None,
    budget: Annotated[
        list[str] | None,
        typer.Option(help="For agents without one of their own: playouts=1000, nodes=..., depth=..., seconds=..."),
    ] = None,
    serve: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Show the report at this port, while it is played; 0 is any.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Play a tournament from a configuration file, or a round robin from options, and store it in a folder."""
    flags = {
        "game": game,
        "agent": agent,
        "games": games,
        "opening-plies": opening_plies,
        "seed": seed,
        "budget": budget,
    }
    given = [f"--{name}" for name, value in flags.items() if value not in (None, [])]
    if config and given:
        raise typer.BadParameter(f"{', '.join(given)} cannot be added to a file: say it in {config}")
    if config:
        play_shown(config, out or Path("runs", config.stem), workers, resume, as_json, serve)
    elif given:
        values = _values_of_flags(flags)
        if resume and not out:
            raise typer.BadParameter("--resume needs --out, the folder of the run to go on with")
        from games.core.registry import parse_spec

        play_shown(values, out or free_folder(parse_spec(game)[0] if game else "run"), workers, resume, as_json, serve)
    elif resume and out:
        play_shown(_stored_config(out), out, workers, resume, as_json, serve)
    else:
        raise typer.BadParameter("give a configuration file, or --game and two or more --agent, or --resume with --out")


def _values_of_flags(flags) -> dict:
    """A configuration's keys from the options of `arena run`."""
    values = {"games": 100} | {
        name.replace("-", "_"): value
        for name, value in flags.items()
        if name not in ("agent", "budget") and value is not None
    }
    values["agents"] = [{"agent": spec} for spec in flags["agent"] or []]
    if flags["budget"]:
        values["budget"] = budget_of(flags["budget"])
    return values


def _stored_config(folder) -> dict:
    from results.store import Store

    with Store.open(folder) as store:
        return store.config
