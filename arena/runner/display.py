"""Displays of a running tournament: a progress bar and live standings in a terminal, plain lines elsewhere.

pandas is loaded only for the first table, so that a run starts without it.
"""

import math
import time
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn
from rich.text import Text

from arena.config.openings import remarks
from arena.formats.schedule import described
from arena.results.database.conditions import conditions_of
from arena.results.database.store import Store
from arena.runner.events import Events
from arena.runner.ticker import Ticker
from arena.workers.worker import InPlay

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("first", "outcome", "condition", "score", "seconds")  # of a game for one player
RESULT = ("first", "second", "outcome", "reason")  # of a game for two
NO_OUTCOME = -1.0  # for a void game: NaN does not equal itself
NOTICED = 0.05  # seconds of loading kernels that are reported
SHARE_OF_TIME = 0.05  # of the run, for computing the standings
MOST_PAUSE = 10.0  # seconds between standings at most
STARTING = "starting processes"
MOST_GAMES = 8  # shown in play
SHOWN = ("rank", "agent", "games", "wins", "draws", "losses", "score", "elo", "error", "bound")
SHOWN_OF_SCORES = ("rank", "agent", "runs", "failed", "mean", "best", "seconds")


def watch(console: Console) -> Events:
    """The display for `console`: lines where it cannot redraw."""
    redraws = console.is_terminal and not console.is_dumb_terminal
    return LiveDisplay(console) if redraws else PlainDisplay(console)


class Display(Events):
    """The state that all displays share: progress, pace, results."""

    def __init__(self, console: Console):
        self.console = console
        self.rows: list[list] = []  # of games for one player
        self.results: Counter[tuple] = Counter()  # by agents and result
        self.done = self.stored_before = self.total = 0
        self.began = time.monotonic()
        self.compiled: list[str] = []  # agents whose kernels are being compiled
        self.next_standings = 0.0

    def opened(self, resolved, folder):
        self.names = [entry["name"] for entry in resolved["agents"]]
        self.single_player = resolved["format"] == "single_player"
        self.comparable = resolved["format"] != "matches"  # listed ones may be of very different opponents
        with Store.open(folder) as store:
            if self.single_player:
                self.rows = list(map(list, store.each(f"SELECT {', '.join(COLUMNS)} FROM games ORDER BY number")))
            else:
                for (_, first, second, outcome, reason), (_, sums) in store.tallies().items():
                    self.results[first, second, NO_OUTCOME if outcome is None else outcome, reason] += sums[0]
        self.in_play = list[InPlay]()
        self.conditions = [condition.label for condition in conditions_of(resolved)]
        self.say(f"{described(resolved)}, in {folder}")
        for remark in remarks(resolved.get("openings"), resolved.get("games")):
            self.say(f"  {remark}")

    def connected(self, cluster, dashboard):
        self.say(f"  cluster {cluster}; its dashboard: {dashboard or 'none'}")

    def changed(self):
        """Show what is known by now; a display that is redrawn regularly need not."""

    def warming(self, name):
        self.compiled.append(name)
        self.changed()

    def warmed(self, name, seconds, failure=""):
        self.compiled = [one for one in self.compiled if one != name]
        if failure or seconds >= NOTICED:
            self.say(f"  kernels of {name}: {failure or f'{seconds:.1f} s'}")
        self.changed()

    def planned(self, schedule):
        self.schedule = schedule

    def started(self, total, done):
        self.total, self.done, self.stored_before = total, done, done
        self.began = time.monotonic()
        if done:
            self.say(f"{done} of {total} games are stored already")
        self.changed()

    def finished(self, record):
        if self.single_player:
            self.rows.append([getattr(record, name) for name in COLUMNS])
        else:
            outcome = NO_OUTCOME if record.outcome is None else record.outcome
            self.results[record.first, record.second, outcome, record.reason] += 1
        self.done += 1
        self.total = len(self.schedule)  # results may ask for more games

    def playing(self, games):
        self.in_play = games

    def stopping(self, now):
        later = "stopping when the games that run are over; Ctrl-C again stops at once"
        self.say("stopping now; games that run are given up" if now else later)

    def trouble(self, text):
        self.say(f"warning: {text}")

    def say(self, text):
        """Show a line to the reader."""
        self.console.print(Text(text), soft_wrap=True)

    def pace(self) -> str:
        """`13.2 games/s, 0:36 left`."""
        played, seconds = self.done - self.stored_before, time.monotonic() - self.began
        if played == 0 or seconds <= 0:
            return ""
        rate_now = played / seconds
        left = int((self.total - self.done) / rate_now)
        hours, minutes = left // 3600, left // 60 % 60
        clock = f"{hours}:{minutes:02d}:{left % 60:02d}" if hours else f"{minutes}:{left % 60:02d}"
        return f"{rate_now:.{1 if rate_now < 100 else 0}f} games/s, {clock} left"

    def games_in_play(self) -> "pd.DataFrame":
        """id, agents, plies so far, seconds; and the condition if there are several."""
        import pandas as pd

        shown = self.in_play[:MOST_GAMES]
        names = [[self.names[seat] for seat in game.fixture.seats] for game in shown]
        columns = {"playing": [game.fixture.id for game in shown], "first": [each[0] for each in names]}
        if not self.single_player:
            columns["second"] = [each[-1] for each in names]
        if len(self.conditions) > 1:
            columns["condition"] = [self.conditions[game.fixture.condition] for game in shown]
        counts = {"plies": [game.plies for game in shown], "seconds": [game.seconds for game in shown]}
        if any(math.isfinite(game.best) for game in shown):
            counts["best"] = [game.best for game in shown]
        frame = pd.DataFrame(columns | counts)
        frame.attrs["kind"] = "playing"
        return frame

    def seldom(self, show: Callable[[], object], least: float = 0.0) -> None:
        """Show the standings, unless it was done a moment ago: more agents take longer, and it is done less often."""
        if time.monotonic() >= self.next_standings:
            begun = time.thread_time()
            show()
            pause = min((time.thread_time() - begun) / SHARE_OF_TIME, MOST_PAUSE)
            self.next_standings = time.monotonic() + max(least, pause)

    def standings(self) -> "pd.DataFrame":
        """The standings, narrow enough for a terminal."""
        import pandas as pd

        from arena.results.shown.tables import standings
        from arena.results.statistics.ratings import count_results, rate

        if self.single_player:
            return self.means(pd.DataFrame(self.rows, columns=list(COLUMNS)))
        games = pd.DataFrame([(*result, number) for result, number in self.results.items()], columns=[*RESULT, "games"])
        games["outcome"] = games["outcome"].where(games["outcome"] >= 0)
        frame = standings(self.names, games, rate(self.names, count_results(self.names, games)))[list(SHOWN)]
        frame.attrs["kind"] = "standings"
        return frame

    def means(self, games) -> "pd.DataFrame":
        """The scores of one-player games, in the conditions that all agents have played."""
        from arena.results.shown.scores import scores

        whole = games.dropna(subset="score").groupby("condition")["first"].nunique() == len(self.names)
        of_all = games[games["condition"].isin(whole.index[whole])]
        numbers = {number: i for i, number in enumerate(sorted(of_all["condition"].unique()))}
        names = [self.conditions[number] for number in numbers]
        frame = scores(self.names, names, of_all.assign(instance=of_all["condition"].map(numbers)), intervals=False)
        last = frame.tail(len(self.names)) if names else frame
        frame = last[list(SHOWN_OF_SCORES)].reset_index(drop=True)
        frame.attrs["kind"] = "scores"
        return frame


class LiveDisplay(Display):
    """A bar above the standings, redrawn as games end."""

    def __init__(self, console):
        super().__init__(console)
        self.progress = Progress(
            TextColumn("games"),
            BarColumn(),
            MofNCompleteColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[pace]}"),
            console=console,
        )
        self.compiling = Progress(
            SpinnerColumn(), TextColumn("{task.description}", markup=False), console=console, transient=True
        )
        self.steps = {}  # of the spinner: steps before play
        self.live = None
        self.table: list = []  # standings, and the state of the format
        self.shown = -1  # number of games in the standings

    def opened(self, resolved, folder):
        super().opened(resolved, folder)
        self.begin(STARTING)

    def warming(self, name):
        super().warming(name)
        self.end(STARTING)
        self.begin(name, "compiling ")

    def warmed(self, name, seconds, failure=""):
        self.end(name)
        super().warmed(name, seconds, failure)

    def begin(self, step, what=""):
        """Show a step before play."""
        self.steps[step] = self.compiling.add_task(f"{what}{step}")
        self.compiling.start()

    def end(self, step):
        """Hide a step that has ended."""
        if step in self.steps:
            self.compiling.remove_task(self.steps.pop(step))
        if not self.steps:
            self.compiling.stop()

    def started(self, total, done):
        self.end(STARTING)
        super().started(total, done)
        self.task = self.progress.add_task("games", total=total, completed=done, pace="")
        self.live = Live(Group(self.progress), console=self.console, refresh_per_second=4)
        self.live.start()

    def playing(self, games):
        from arena.results.shown.export import rich_table

        super().playing(games)
        self.advance()
        if self.done and self.shown != self.done:
            self.seldom(self.renew_standings)
        more = len(games) - MOST_GAMES
        in_play = [rich_table(self.games_in_play()), *([Text(f" and {more} more")] if more > 0 else [])]
        self.live.update(Group(self.progress, *(in_play if games else []), *self.table))

    def advance(self):
        """Move the bar to the games that are stored: not for each, of which there may be thousands in a second."""
        self.progress.update(self.task, completed=self.done, total=self.total, pace=self.pace())

    def renew_standings(self):
        """Make the table anew."""
        from arena.results.shown.export import rich_table

        lines = [Text(line) for line in self.schedule.lines()]
        self.table, self.shown = [*lines, rich_table(self.standings(), f"after {self.done:,} games")], self.done

    def ended(self):
        self.compiling.stop()
        if self.live:
            self.advance()
            self.live.update(Group(self.progress))
            self.live.stop()


class PlainDisplay(Display):
    """A line now and then, for files, pipes and batch systems."""

    SECONDS = 10.0  # between lines

    def __init__(self, console):
        super().__init__(console)
        self.preparing = Ticker(lambda: self.say(self.preparation()), self.SECONDS)

    def opened(self, resolved, folder):
        super().opened(resolved, folder)
        self.preparing.start()

    def preparation(self) -> str:
        """The current step before play."""
        return f"compiling kernels of {', '.join(self.compiled)}" if self.compiled else STARTING

    def started(self, total, done):
        self.preparing.stop()
        super().started(total, done)
        self.next_standings, self.told = self.began + self.SECONDS, done

    def playing(self, games):
        super().playing(games)
        self.seldom(self.tell, self.SECONDS)

    def tell(self):
        """Progress and leader; games in play, if none has ended since."""
        table = self.standings() if self.done else ()
        parts = [f"{self.done} of {self.total} games", *filter(None, [self.pace()])]
        if len(table):
            first = table.iloc[0]
            value = first["mean"] if self.single_player else 100 * first["score"]
            if math.isfinite(value) and self.comparable:  # a game counts
                points = f"a mean of {value:,.2f}" if self.single_player else f"{value:.1f} %"
                parts[-1] += f"; {first['agent']} leads with {points}"
        self.say(", ".join(parts))
        if self.done == self.told:
            for game in self.in_play[:MOST_GAMES]:
                players = " - ".join(self.names[seat] for seat in game.fixture.seats)
                best = f", best score {game.best:g}" if math.isfinite(game.best) else ""
                self.say(f"  {game.fixture.id}, {players}: {game.plies} plies, {game.seconds:.0f} s{best}")
        for line in self.schedule.lines():
            self.say(f"  {line}")
        self.told = self.done

    def ended(self):
        self.preparing.stop()
        if self.total:
            self.say(f"{self.done} of {self.total} games stored")
