"""Tables in LaTeX: every kind has as many cells as columns, and TeX sets it, where there is one."""

import re
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest

from arena import results
from arena.results.papers import strength_scaling
from arena.results.shown.export import ColumnError, render
from arena.results.shown.fitting import Shown
from arena.results.shown.latex import escaped, latex
from arena.results.shown.scores import scores
from tests.arena.stored import CONFIG, store_run

NAMES = ["50 %_a^b{c}", "~x\\y & #1 $", "< plain"]
DOCUMENT = (
    r"\documentclass[%s]{article}\usepackage[T1]{fontenc}\usepackage{booktabs, graphicx, siunitx}"
    r"\parindent0pt\begin{document}%s\end{document}"
)


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Every kind of table there is, by name, in LaTeX."""
    agents = [entry | {"name": name} for entry, name in zip(CONFIG["agents"], NAMES)]
    several = {key: value for key, value in CONFIG.items() if key != "game"} | {
        "instances": ["tictactoe", "connect4(rows=4, columns=5)"],
        "agents": agents,
    }
    run = results.load(store_run(tmp_path_factory.mktemp("latex") / "run", several))
    frames = {kind: run.table(kind) for kind in run.kinds}
    runs = pd.DataFrame([(0, "a", 1234.5, 1.0), (0, "a", 3, 1.0), (0, "b", -5.25, 2.0)])
    runs.columns = ["instance", "first", "score", "seconds"]
    frames["scores"] = scores(["a", "b"], ["x"], runs)
    frames["scores"].attrs["kind"] = "scores"
    counts = {1.0: np.array([1, 2, 3, 4, 5]), 4.0: np.array([5, 4, 3, 2, 1])}
    point = {"scheme": "tree", "workers": 4, "matches": counts, "time": 1.0, "equal": 1.0}
    point |= {"game": "go", "playouts": 100, "serial": "uct", "is_serial": False}
    frames["scaling"] = strength_scaling.shown(strength_scaling.table([point]))
    return {kind: render(frame.head(30), "latex") for kind, frame in frames.items()}


def width(specification):
    """The columns of a tabular's argument."""
    bare = re.sub(r"@\{[^}]*\}|\[[^]]*\]", "", specification)
    assert re.fullmatch(r"[Slrc ]*", bare), specification
    return len(bare.replace(" ", ""))


def test_rows_have_a_cell_for_each_column(tables):
    for kind, text in tables.items():
        columns = width(re.search(r"\\begin\{tabular\}\{(.*)\}\n", text)[1])
        for row in re.findall(r"^(.*) \\\\$", text, re.MULTILINE):
            joined = sum(int(n) - 1 for n in re.findall(r"\\multicolumn\{(\d)\}", row))
            assert len(re.findall(r"(?<!\\)&", row)) + 1 + joined == columns, f"{kind}: {row}"
        assert text.count(r"\begin") == text.count(r"\end") and "nan" not in text


def test_numbers_are_siunitxs(tables):
    standings = tables["standings"]
    assert (
        r"S[table-format=2.1] " in standings
        and "{score in \\%}" in standings
        and r"\multicolumn{2}{c}{Elo}" in standings
    )
    assert re.search(r"& [+-]\d+ & \\ensuremath\{\{\}\\pm \d+\}", standings) and "±" not in standings
    assert r"\multicolumn{2}{c}" in tables["study"] and re.search(r"--\\ensuremath", tables["study"])
    assert "1,234" not in tables["scores"] and "618.75" in tables["scores"] and "-5.25" in tables["scores"]
    assert "1 & 2 & 3" in tables["crosstable"].replace("{", "").replace("}", "")


def test_what_is_no_number_stands_aside():
    columns = ("Elo", ["+1,204 ± 5", "> +183", "-"]), ("LOS", ["12.5 %", "> 99.9 %", "-"])
    text = latex([Shown(heading, cells, right=True) for heading, cells in columns])
    assert "S[table-format=+4, retain-explicit-plus] @{} l" in text and "+1204 & " in text
    assert r"{\ensuremath{> +183}} & " in text and r"{\ensuremath{> 99.9}}" in text and text.count("{--}") == 2


def test_minus_signs_and_what_is_missing_in_columns_of_text():
    text = latex([Shown("95 %", ["-0.94 to -0.06", "-", "x-3"]), Shown("ratio", ["-", "-", "-"], right=True)])
    assert r"\ensuremath{-}0.94 to \ensuremath{-}0.06 & -- \\" in text and "\n-- & -- " in text and "\nx-3 & " in text


def test_caption_label_and_columns(tmp_path):
    frame = pd.DataFrame({"agent": NAMES, "elo": [1.0, 2, 3], "error": [1.0, 2, 3], "bound": "", "void": 0})
    frame.attrs["label"] = "tab:a"
    text = render(frame, "latex", title="A & B", columns=["agent,elo"])
    assert r"\caption{A \& B}" in text and r"\label{tab:a}" in text and r"\begin{table}" in text
    assert r"\pm" in text and "void" not in text
    assert render(frame, "csv", columns=["void", "agent"]).splitlines()[0] == "void,agent"
    assert "void" in render(frame, "markdown", columns=["agent", "void"])
    with pytest.raises(ColumnError, match="there is no column elos; there are agent, elo"):
        render(frame, "text", columns=["elos"])
    assert escaped(NAMES[1]) == r"\textasciitilde{}x\textbackslash{}y \& \#1 \$"


def has_siunitx():
    if not (shutil.which("pdflatex") and shutil.which("kpsewhich")):
        return False
    return subprocess.run(["kpsewhich", "siunitx.sty"], capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not has_siunitx(), reason="there is no pdflatex with siunitx here")
@pytest.mark.parametrize("layout", ["onecolumn", "twocolumn"])
def test_tex_sets_every_table_within_its_lines(tables, layout, tmp_path):
    (tmp_path / "all.tex").write_text(DOCUMENT % (layout, "\n\n".join(tables.values())))
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0 and "Missing character" not in done.stdout, done.stdout[-2000:]
    assert "Overfull" not in done.stdout


def test_long_headings_take_two_lines():
    text = latex([Shown("score of the first", ["1.5"], right=True), Shown("agent of the run", ["x" * 20])])
    assert r"{\shortstack{score of\\the first}} & agent of the run \\" in text


def test_a_wide_crosstable_has_whole_percents():
    def crosstable(count):
        names = [f"a{number}" for number in range(count)]
        frame = pd.DataFrame(0.515, index=pd.Index(names, name="agent"), columns=names)
        frame.attrs["kind"] = "crosstable"
        return render(frame, "latex")

    assert "51.5" in crosstable(8) and "51.5" not in crosstable(9) and " 52 " in crosstable(9)
