"""Tables in LaTeX, for the packages booktabs, graphicx and siunitx; too wide ones shrink to the width of lines.

Values that whole blocks of rows share, such as a game, are headings within the table, which is set in \\footnotesize
then, to fit a column of a paper.  What readers need to know stands below a table with a caption, else in comments.

A column of numbers is one of siunitx's S columns; errors stand behind the sign of plus or minus, the sign of percent in
the heading.  Other cells, such as bounds, are text in the middle.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from arena.results.shown.column_forms import MISSING
from arena.results.shown.fitting import Shown

NUMBER = r"([+-]?)(\d[\d,]*)(?:\.(\d+))?"
PLAIN = re.compile(rf"{NUMBER}( %)?")
WITH_ERROR = re.compile(rf"{NUMBER} ± +([\d.]+)")
BOUND = re.compile(rf"([<>]) ({NUMBER})( %)?")
INTERVAL = re.compile(rf"({NUMBER}) \(({NUMBER})–({NUMBER})\)")
MINUS, TRUE_MINUS = re.compile(r"(?<![^\s(])-(?=\d)"), r"\\ensuremath{-}"
ESCAPES = {
    **{letter: f"\\{letter}" for letter in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "–": "--",
    "±": r"\ensuremath{\pm}",
    "×": r"\ensuremath{\times}",
    "≤": r"\ensuremath{\leq}",
    "≥": r"\ensuremath{\geq}",
    "−": r"\ensuremath{-}",
}
NEEDS = r"% \usepackage{booktabs, graphicx, siunitx}"
COMPACT = r"\footnotesize\setlength{\tabcolsep}{2.5pt}%"
FITTING = r"\resizebox{\ifdim\width>\linewidth \linewidth\else \width\fi}{!}{%"  # opens a group
LONG_HEADING = 10  # letters, beyond which a heading may take two lines


@dataclass(frozen=True)
class Laid:
    """A column as LaTeX has it: one or two of tabular's."""

    specification: str
    heading: str
    cells: list[str]
    width: int = 1


def latex(
    columns: Sequence[Shown],
    caption: str | None = None,
    label: str | None = None,
    percent: str = " in %",
    blocks: Sequence[Sequence[str]] = (),
    notes: Sequence[str] = (),
) -> str:
    """A tabular of columns of display strings; in a table with a caption above it, if given one, or a label.

    percent: the end of the headings of percents; blocks: of each row, the headings above it, outer ones first; notes:
    sentences on the table
    """
    laid = [_laid(column, percent) for column in columns]
    specification = " ".join(column.specification for column in laid)
    rows = [" & ".join(cells) + r" \\" for cells in zip(*(column.cells for column in laid))]
    lines = [
        *([COMPACT] if blocks else []),
        FITTING,
        f"\\begin{{tabular}}{{{f'@{{}} {specification} @{{}}' if blocks else specification}}}",
        r"\toprule",
        " & ".join(column.heading for column in laid) + r" \\",
        r"\midrule",
        *(_in_blocks(rows, blocks, sum(column.width for column in laid)) if blocks else rows),
        r"\bottomrule",
        r"\end{tabular}}",
    ]
    if not (caption or label):
        comments = [f"% {' '.join(note.split())}" for note in notes]
        return "\n".join([NEEDS, *comments, *(["{" + lines[0], *lines[1:], "}"] if blocks else lines)]) + "\n"
    above = [r"\begin{table}", r"\centering"]
    above += [f"\\caption{{{_prose(caption)}}}"] if caption else []
    above += [f"\\label{{{label}}}"] if label else []
    below = [rf"\par\smallskip\parbox{{\linewidth}}{{\footnotesize {_prose(note)}}}" for note in notes]
    return "\n".join([NEEDS, *above, r"\smallskip", *lines, *below, r"\end{table}"]) + "\n"


def _in_blocks(rows: Sequence[str], blocks: Sequence[Sequence[str]], width: int) -> list[str]:
    """Rows below the headings of their blocks; those of inner ones stand again where an outer one changes."""
    lines: list[str] = []
    before: Sequence[str] = ()
    for row, block in zip(rows, blocks):
        same = next((i for i, pair in enumerate(zip(before, block)) if pair[0] != pair[1]), len(before))
        for level, text in enumerate(block[same:], same):
            if level == 0 and lines:
                lines.append(r"\addlinespace")
            shown = rf"\textit{{{escaped(text)}}}" if level == 0 and len(block) > 1 else escaped(text)
            lines.append(rf"\multicolumn{{{width}}}{{@{{}}l}}{{{shown}}} \\")
        lines.append(row)
        before = block
    return lines


def escaped(text: str) -> str:
    """Text as LaTeX reads it, in one line."""
    return "".join(ESCAPES.get(letter, letter) for letter in " ".join(text.split()))


def _prose(text: str) -> str:
    return MINUS.sub(TRUE_MINUS, escaped(text))


def _heading(column: Shown, more: str = "") -> str:
    text = column.heading + more
    if len(text) > max(LONG_HEADING, *map(len, column.cells), 0) and " " in text:
        blanks = [match.start() for match in re.finditer(" ", text)]
        middle = min(blanks, key=lambda place: abs(place - len(text) / 2))
        return rf"\shortstack{{{escaped(text[:middle])}\\{escaped(text[middle + 1 :])}}}"
    return escaped(text)


def _laid(column: Shown, percent: str) -> Laid:
    cells = [" ".join(cell.split()) for cell in column.cells]
    known = [cell for cell in cells if cell != MISSING]
    if column.right and known:
        if all(INTERVAL.fullmatch(cell) or PLAIN.fullmatch(cell) for cell in known):
            if any(INTERVAL.fullmatch(cell) for cell in known):
                return _with_intervals(column, cells)
        if all(any(form.fullmatch(cell) for form in (PLAIN, WITH_ERROR, BOUND)) for cell in known):
            return _numbers(column, cells, percent)
    texts = ["--" if cell == MISSING else _prose(cell) for cell in cells]
    return Laid("r" if column.right else "l", _heading(column), texts)


def _numbers(column: Shown, cells: list[str], percent: str) -> Laid:
    """An S column, percents without their sign; or two columns, the second with the errors."""
    found = [PLAIN.fullmatch(cell) or WITH_ERROR.fullmatch(cell) for cell in cells]
    percents = any(cell.endswith(" %") for cell in cells)
    texts = [_number(cell) if match else _aside(cell) for cell, match in zip(cells, found)]
    shown = _heading(column, percent if percents else "")
    specification = _specification([match for match in found if match])
    if not any(" ± " in cell for cell in cells):
        return Laid(specification, f"{{{shown}}}", texts)
    errors = [cell.split("±")[1].strip() if " ± " in cell else "" for cell in cells]
    both = [f"{text} & {_error(error, max(map(len, errors)))}" for text, error in zip(texts, errors)]
    return Laid(f"{specification} @{{}} l", f"\\multicolumn{{2}}{{c}}{{{shown}}}", both, 2)


def _error(error: str, width: int) -> str:
    """Behind its sign, as wide as others, so that it stands at its number below a wide heading, too."""
    phantom = f"\\phantom{{{'0' * (width - len(error))}}}" if len(error) < width else ""
    return f"\\ensuremath{{{{}}\\pm {phantom}{error}}}" if error else ""


def _with_intervals(column: Shown, cells: list[str]) -> Laid:
    parts = [INTERVAL.fullmatch(cell) for cell in cells]
    values = [match[1] if match else cell for match, cell in zip(parts, cells)]
    found = [match for value in values if (match := PLAIN.fullmatch(value))]
    texts = [_number(value) if PLAIN.fullmatch(value) else _aside(value) for value in values]
    intervals = [_interval(match) if match else "" for match in parts]
    both = [f"{value} & {interval}" for value, interval in zip(texts, intervals)]
    return Laid(f"{_specification(found)} @{{\\ }} l", f"\\multicolumn{{2}}{{c}}{{{_heading(column)}}}", both, 2)


def _interval(match) -> str:
    low, high = (part.replace(",", r"\,") for part in (match[5], match[9]))
    return f"(\\ensuremath{{{low}}}--\\ensuremath{{{high}}})"


def _specification(found: Sequence[re.Match]) -> str:
    """Wide enough for signs, and the digits before and after the point."""
    sign = "+" if any(match[1] for match in found) else ""
    whole = max((len(match[2].replace(",", "")) for match in found), default=1)
    places = max((len(match[3] or "") for match in found), default=0)
    options = f"table-format={sign}{whole}" + (f".{places}" if places else "")
    return f"S[{options}{', retain-explicit-plus' if any(match[1] == '+' for match in found) else ''}]"


def _number(cell: str) -> str:
    return cell.partition(" ± ")[0].removesuffix(" %").replace(",", "")


def _aside(cell: str) -> str:
    if cell == MISSING:
        return "{--}"
    bound = BOUND.fullmatch(cell)
    return f"{{\\ensuremath{{{bound[1]} {bound[2]}}}}}" if bound else f"{{{escaped(cell)}}}"
