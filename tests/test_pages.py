"""What the pages tell a reader to type: every command is typed here, or listed with the reason why not.

Games that a command would play are drawn at random, so that the rest of it takes no time.  The tutorials and the page
of figures have tests of their own, which type all of theirs.
"""

import itertools
import re
import shlex
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from arena import results
from arena.cli import app
from arena.config import loading
from arena.results.database.store import FILE_NAME
from arena.runner import running
from arena.study.schemes import read_file
from tests.arena.stored import store_run, store_runs_alone
from tests.test_readme import GUIDE, PAGES, README, ROOT, blocks

OF_OTHERS = {"docs/figures.md", *(page for page in PAGES if page.startswith("docs/tutorials"))}
LONG = "takes long; in a short form by"
NOT_TYPED = {  # a piece of a line, and why such a line is not typed here
    ".venv": "makes an environment; .ci/run installs by the README",
    "pip install": "changes the environment; .ci/run installs by the README",
    "pytest ": "is what runs this",
    "zcat ": "is a pipe, whose part is typed by tests/results/test_pgn_reader.py",
    "ruff ": "is part of .ci/run",
    "mypy": "is part of .ci/run",
    "zensical": "is part of .ci/run",
    "docs/commands.py": "what it writes is read by tests/test_readme.py",
    "docs/speed/compare.py": f"{LONG} tests/test_yardsticks.py",
    "docs/speed/": "measures for minutes, on cores that do nothing else",
    "dask ": "needs a cluster; tests/arena/test_cluster.py has one here",
    "--cluster": "needs a cluster; tests/arena/test_cluster.py has one here",
    "importtime": "tells what the interpreter does",
    "arena serve-agent": "talks to a program; tests/agents/test_serving.py",
    "arena check-engine": "starts a program; tests/arena/test_engine_commands.py",
    "arena check-agent": f"{LONG} tests/arena/test_check_agent.py",
    "external(": "starts a program; tests/arena/test_outside_run.py",
    "gnugo": "needs GNU Go; tests/agents/test_outside.py plays it where it is installed",
    "arena.interop.openspiel": "needs OpenSpiel; tests/arena/test_openspiel_plugin.py",
    "arena lab": "goes on until it is stopped; tests/arena/test_lab_browser.py",
    "arena play": "asks a person; tests/arena/test_players.py",
    "arena cache": "compiles, or deletes what is compiled; tests/arena/test_cli.py",
    "arena bench": f"{LONG} tests/arena/test_bench.py",
    "arena study schemes": f"{LONG} tests/arena/test_study_schemes.py",
    "arena plot runs/schemes": "reads what arena study schemes plays; tests/arena/test_study_schemes.py",
    "arena table runs/schemes": "reads what arena study schemes plays; tests/arena/test_study_schemes.py",
    "--iterations": "compiles a search; tests/test_figures.py draws such trees",
    "--deterministic": f"{LONG} tests/arena/test_determinism.py",
    "arena exercise": f"{LONG} tests/arena/test_study.py",
    "arena learn": f"{LONG} tests/agents/test_learning.py",
    ".eval": "reads what arena learn writes; tests/agents/test_learning.py",
    ".policy": "reads what arena learn writes; tests/agents/test_visits.py",
    "runs/priors": "plays with what arena learn writes; tests/agents/test_visits.py",
    "c4.toml": "reads what arena learn writes; tests/agents/test_learning.py",
    "arena study archive": "archives what the page has not played; tests/arena/test_archive.py",
    "study.zip": "reads what arena study archive writes; tests/arena/test_archive.py",
    "arena study": f"{LONG} tests/arena/test_proving.py",
    "arena join": f"{LONG} tests/arena/test_pools.py",
    "arena merge": "reads runs of one's own; tests/arena/test_pools.py",
    "arena tune": f"{LONG} tests/arena/test_tuning.py",
    "runs/tune": "reads what arena tune plays; tests/arena/test_tuning.py",
    "frontier": "plays for days; read by a test below, and its methods play in tests/agents/test_methods.py",
    "runs/pn": "plays for an hour; read by a test below, and its methods play in tests/agents/test_methods.py",
    "runs/gumbel": "plays for an hour; read by a test below, and its methods play in tests/agents/test_methods.py",
    "runs/nested": "plays for hours; read by a test below, and its searches play in tests/agents/test_nested.py",
    "arena solve": f"{LONG} tests/arena/test_solve.py and the tutorials",
    "arena verify": "reads what arena solve writes; tests/arena/test_solve.py",
    "arena grade": f"{LONG} tests/arena/test_solve.py and the tutorials",
    "arena tablebase": f"{LONG} tests/arena/test_solve.py",
    ".table'": "reads what arena tablebase writes; tests/agents/test_prepared.py",
}
GAMES = 16  # of each two agents, at most
SHORTER = [
    (r"--games \d+|games = \d+", lambda found: f"{found[0].rsplit(' ', 1)[0]} {GAMES}"),
    (r"--bootstrap \d+", "--bootstrap 5"),
    (r"--least \d+", "--least 1"),
    (r"--playouts \d+", "--playouts 1000"),
    (r"perft chess --depth \d+", "perft chess --depth 2"),
]
PGN = '[White "a"]\n[Black "b"]\n[Result "0-1"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n'
MATCH = {"seed": 5, "opening_plies": 2, "agents": [{"agent": "random", "name": name} for name in ("uct", "b", "c")]}
ALONE = {"format": "single_player", "seed": 3, "agents": [{"agent": "random", "name": "chance"}]}
BOARDS = [f"samegame(rows=4, columns=4, colours=3, seed={seed})" for seed in (1, 2, 3)]
RUNS = {
    "first": MATCH | {"game": "connect4", "games": GAMES},
    "go": MATCH | {"game": "go(size=5)", "games": 2},
    "boards": ALONE | {"instances": BOARDS, "games": 2},
    "morpion": ALONE | {"instances": ["morpion"], "games": 8},
    "leftmove": ALONE | {"instances": ["leftmove(depth=10)"], "games": 2},
}


def shorter(text):
    for pattern, short in SHORTER:
        text = re.sub(pattern, short, text)
    return text


def lines_of(page):
    """The lines that a reader types, without their comments."""
    lines = "\n".join(blocks(PAGES[page], "sh")).replace("\\\n", "").splitlines()
    lines += re.findall(r"^\$ (.*)$", PAGES[page], re.MULTILINE)
    return [shlex.join(shlex.split(part, comments=True)) for line in lines for part in re.split(r" && ", line) if part]


def why_not(line):
    """Why a line is not typed; empty if it is."""
    bare = line.replace("'\"'\"'", "'")
    return next((reason for piece, reason in NOT_TYPED.items() if piece in f"{bare} "), "")


def typed_lines():
    """Page -> the lines that are typed there, those left out that an earlier page has, of another run."""
    seen, found = set(), {}
    for page in PAGES:
        for line in lines_of(page) if page not in OF_OTHERS else ():
            shape = re.sub(r"runs/[\w-]+", "runs/DIR", line)
            if not why_not(line) and shape not in seen:
                found.setdefault(page, []).append(line)
                seen.add(shape)
    return found


TYPED = typed_lines()


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """Runs that the pages speak of."""
    place = tmp_path_factory.mktemp("pages")
    for name, config in RUNS.items():
        (store_runs_alone if "format" in config else store_run)(place / name, config)
    for name in ("second", "before", "after", "tournament"):
        shutil.copytree(place / "first", place / name)
    return place


@pytest.fixture
def desk(stored, tmp_path, monkeypatch):
    """The reader's folder: files and runs that are there before the first command of a page."""
    shutil.copytree(stored, tmp_path / "runs")
    shutil.copytree(stored / "first", tmp_path / "experiments" / "one")
    (tmp_path / "tournament.toml").write_text(shorter(blocks(README, "toml")[0]))
    test, study = blocks(GUIDE, "toml")[:2]
    (tmp_path / "test.toml").write_text(shorter(test))
    (tmp_path / "study.toml").write_text(shorter(study).replace("breakthrough", "tictactoe", 1))
    (tmp_path / "archive").mkdir()
    for name in ("games.pgn", "archive/year.pgn"):
        (tmp_path / name).write_text(PGN)
    (tmp_path / "games.sgf").write_text("(;GM[1]SZ[9]PB[ann]PW[bob]RE[B+R];B[ee])")
    (tmp_path / "table.csv").write_text("home,guest,winner\nann,bob,ann\n")
    (tmp_path / "results.csv").write_text("first,second,outcome\nann,bob,1\nbob,ann,0.5\n")
    (tmp_path / "mine.mplstyle").write_text("lines.linewidth: 2\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(running, "run", drawn)
    return tmp_path


def drawn(config, out, workers=None, resume=False, events=None, cluster=None, changed=False):
    """What `tournament.run` does, with moves that are drawn."""
    if not (resume and (Path(out) / FILE_NAME).exists()):
        values = config.resolved() | {"games": min(GAMES, config.values["games"])}
        values.pop("openings", None)  # two random plies do as well
        (store_runs_alone if config.players == 1 else store_run)(out, values)
    return results.load(out)


def make_room(words):
    """Remove what a command is to write anew."""
    named = [after for word, after in itertools.pairwise(words) if word in ("--out", "--output")]
    config = next((word for word in words if word.endswith(".toml")), None)
    for path in map(Path, [*named, *([f"runs/{Path(config).stem}"] if config and "--out" not in words else [])]):
        if path.is_dir() and "--resume" not in words:
            shutil.rmtree(path)
        elif path.is_file():
            path.unlink()


@pytest.mark.plain
@pytest.mark.parametrize(
    "page", [page if page == "README.md" else pytest.param(page, marks=pytest.mark.slow) for page in TYPED]
)
def test_every_command_works(page, desk):
    for line in TYPED[page]:
        words = shlex.split(shorter(line))
        assert Path(words[0]).name == "arena", f"{page}: {line}: neither typed nor listed with a reason"
        make_room(words)
        done = CliRunner().invoke(app, words[1:])
        assert done.exit_code == 0, f"{page}: {line}: {done.output}"


def test_what_is_not_typed_has_a_reason_that_holds():
    """Each reason is that of a line, and names files that are there."""
    lines = [line for page in PAGES if page not in OF_OTHERS for line in lines_of(page)]
    reasons = [why_not(line) for line in lines]
    assert set(reasons) - {""} == set(NOT_TYPED.values())
    for reason in NOT_TYPED.values():
        for name in re.findall(r"(?:tests|\.ci)/[\w/.]*\w", reason):
            assert (ROOT / name).exists(), reason
    assert reasons.count("") > 60


OF_SCHEMES = ROOT / "docs/studies/workers.toml"
STUDIES = sorted({*(ROOT / "docs/studies").glob("*.toml")} - {OF_SCHEMES})


def test_the_study_of_schemes_can_be_played():
    read_file(OF_SCHEMES).check()
    assert any("arena study schemes docs/studies/workers.toml" in text for text in PAGES.values())


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_studies_can_be_played(path):
    """Their configurations are sound, each agent can play each game, and a page has a command for them."""
    config = loading.load(path)
    assert len(config.instances) in (4, 5) and len(config.agents) > 5 and config.values["games"] == 500
    refused = [(name, str(game)) for name, agent in config.agents for game in config.instances if agent.refuses(game)]
    assert not refused
    assert any(f"arena run docs/studies/{path.name}" in text for text in PAGES.values())


@pytest.mark.parametrize("page", PAGES)
def test_pictures_have_a_command(page):
    """A picture of a page is of a command there, of its own script, or drawn by docs/studies/pictures.py."""
    commands = {line.split()[1] for line in lines_of(page) if line.split()[0].endswith("arena")}
    for name in re.findall(r"!\[[^]]*\]\((?:docs/)?([\w-]+)\.svg\)", PAGES[page]):
        drawn = [(ROOT / page).with_name(f"{name}.{kind}").exists() for kind in ("csv", "py")]
        assert name in commands or any(drawn), f"{page}: {name}.svg"


def test_pages_load_nothing_from_other_hosts():
    """Pictures and the site's theme take the reader's own fonts."""
    for picture in (ROOT / "docs").rglob("*.svg"):
        assert not re.search(r"url\(.?https?:|@import|<script|xlink:href=.http", picture.read_text()), picture
    assert "\n  font: false" in (ROOT / "mkdocs.yml").read_text()
