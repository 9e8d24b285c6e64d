"""`arena check-agent`: whether an agent in a file of one's own keeps the interface, and how it plays."""

import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer

from arena.commands.application import VOID, Panel, command, complain
from arena.commands.options import at_least, games_option
from arena.commands.output import say
from arena.commands.progress import progress_line


@command(
    Panel.MACHINE,
    examples="arena check-agent alice.py\n"
    'arena check-agent alice.py --agent "student(depth=3)" --game tictactoe --seconds 2',
)
def check_agent(
    file: Annotated[Path, typer.Argument(help="The file with the agent.", metavar="FILE.py")],
    game: Annotated[str, games_option("The game that it plays.")] = "connect4",
    agent: Annotated[
        str, typer.Option("--agent", "-a", metavar="AGENT", help="One of its agents. Default: all, as they are.")
    ] = "",
    seconds: Annotated[float, typer.Option(callback=at_least(0.1), help="Seconds that a move may take.")] = 10.0,
    games: Annotated[int, typer.Option("--games", "-n", help="Games against `random`, an even number.")] = 20,
) -> None:
    """Try an agent of your own before it is handed in.

    Its file is imported, and each agent in it plays against `random`; if that goes well, its decisions must keep what
    the interface promises. If anything fails, the exit code is 1, and the message names the mistake, with its line
    where one is known.
    """
    from arena import games as rules
    from arena.games.core.shared import plugins

    made, wrong = rules.make(game), 0
    if not file.is_file() or file.suffix != ".py":
        raise typer.BadParameter(f"{file} is no file of Python")
    try:
        plugins.add_named([str(file)], ".")
    except (Exception, SystemExit) as error:  # any error of a user's module belongs in the message
        complain(f"WRONG  the file: {type(error).__name__}: {error}")
        raise typer.Exit(VOID) from None
    for spec in [agent] if agent else _names_in(file):
        with progress_line(f"trying {spec}"):
            found = [_match(spec, made, file, seconds, games)]
            if found[0][0]:  # what plays 20 games in processes of its own may be let into this one
                found.append(_interface(spec, made))
        for sound, text in found:
            say(f"{'ok   ' if sound else 'WRONG'}  {spec}: {text}")
            wrong += not sound
    if wrong:
        complain(f"{wrong} of the tests failed")
        raise typer.Exit(VOID)


def _names_in(file: Path) -> list[str]:
    """The names of the agents that the file defines; BadParameter if there are none."""
    from arena.agents.core.agent import registry

    found = [name for name, cls in registry.classes().items() if cls.__module__ == file.stem]
    if not found:
        raise typer.BadParameter(f"{file} defines no agent: a dataclass with a `name`, derived from arena.agents.Agent")
    return found


def _interface(spec: str, game) -> tuple[bool, str]:
    """Whether the agent's decisions are what the interface promises, and what is said of it."""
    from arena import agents

    try:
        agents.check(agents.make(spec), game, seed=1)
    except Exception as error:  # the agent's own, too
        return False, f"{type(error).__name__}: {error}"
    return True, "its decisions keep the interface"


def _match(spec: str, game, file: Path, seconds: float, games: int) -> tuple[bool, str]:
    """Whether the agent loses no game by forfeit, and how it plays against `random`."""
    import arena

    keys: dict[str, Any] = {"move_seconds": seconds, "plugins": [str(file)]}
    with tempfile.TemporaryDirectory(prefix="arena-check-") as folder:
        try:
            played = arena.run(game=str(game), agents=[spec, "random"], games=games, out=folder, **keys)
        except arena.Interrupted as error:
            if not error.why:
                raise
            return False, error.why
        return _told(spec, played, games)


def _told(spec: str, played, games: int) -> tuple[bool, str]:
    from arena.results.database.record import Reason

    row = played.standings().set_index("agent").loc[spec]
    lost = played.games[played.games["reason"].isin(Reason.FORFEITS)]
    if len(lost):
        return False, f"{len(lost)} of {games} games lost by forfeit, the first: {lost['detail'].iloc[0]}"
    spent = played.moves().query("agent == @spec")["seconds"].mean()
    counts = f"{row.wins:.0f} won, {row.draws:.0f} drawn and {row.losses:.0f} lost of {games}"
    return True, f"{counts} games against random, {spent:.2g} s a move"
