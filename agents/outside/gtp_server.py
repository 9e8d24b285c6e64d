"""GTP 2 for games with vertices."""

import math
from collections.abc import Callable
from dataclasses import replace

from arena.agents.outside.gtp import COLOURS, SPEECHES, Gtp
from arena.agents.outside.server import Quit, Server, Wrong
from arena.games.core.errors import UserError


class GtpServer(Server):
    """GTP 2 for games with vertices; size and komi can be set if the game has them."""

    def __init__(self, agent, game, seed):
        if reason := Gtp.refuses(game):
            raise Wrong(reason)
        agent.budget()  # the protocol cannot give one
        self.speech = SPEECHES[game.name]
        super().__init__(agent, game, seed)

    def answers(self, line):
        words = line.partition("#")[0].split()
        if not words:
            return
        number = words.pop(0) if words[0].isdecimal() else ""
        command, arguments = (words[0], words[1:]) if words else ("", [])
        try:
            if command not in self.commands():
                raise Wrong("unknown command")
            answer = self.commands()[command](*arguments)
            yield f"={number} {answer or ''}\n"
        except TypeError:
            yield f"?{number} syntax error\n"
        except (UserError, ValueError) as error:
            yield f"?{number} {' '.join(str(error).split())}\n"
        if command == "quit":
            raise Quit

    def commands(self) -> dict[str, Callable]:
        return {name.removeprefix("gtp_"): getattr(self, name) for name in dir(self) if name.startswith("gtp_")}

    def gtp_protocol_version(self):
        return "2"

    def gtp_name(self):
        return str(self.agent)

    def gtp_version(self):
        return self.version

    def gtp_known_command(self, command):
        return str(command in self.commands()).lower()

    def gtp_list_commands(self):
        return "\n".join(self.commands())

    def gtp_boardsize(self, size, *_):
        of_a_rectangle = vars(self.game).keys() & {"rows", "columns"}  # they would override the size
        self._become(size=int(size), **dict.fromkeys(of_a_rectangle, 0))

    def gtp_komi(self, komi):
        if not math.isfinite(points := float(komi)):
            raise Wrong(f"komi = {komi}: it must be a finite number")
        self._become(komi=points)

    def gtp_clear_board(self):
        self.begin()

    def gtp_play(self, colour, vertex):
        self._check_turn(colour)
        self.make(self.speech.name(vertex))

    def gtp_genmove(self, colour):
        self._check_turn(colour)
        (name,) = self.names_of([self.decide().move])
        self.make(name)
        return self.speech.vertex(name)

    def gtp_undo(self):
        if not self.position.names:
            raise Wrong("cannot undo")
        self.begin(self.position.names[:-1])

    def gtp_showboard(self):
        return "\n" + self.game.render(self.position.state)

    def gtp_final_score(self):
        score = float(self.game.score(self.position.state))
        return "0" if score == 0 else f"{'B' if score > 0 else 'W'}+{abs(score):g}"

    def gtp_quit(self, *_):
        """Nothing: also for times, since the agent's own budget counts."""

    gtp_time_settings = gtp_time_left = gtp_quit

    def _become(self, **parameters):
        try:
            self.game = replace(self.game, **parameters)
        except TypeError:
            raise Wrong(f"{self.game} has no {' '.join(parameters)}") from None
        self.begin()

    def _check_turn(self, colour):
        if self.position.legal and colour[:1].lower() != COLOURS[self.position.side]:
            raise Wrong(f"it is not the turn of {colour}")
