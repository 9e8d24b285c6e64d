"""Makes the pictures of the README anew: python docs/pictures.py

`arena demo` is played, its output drawn, and the end of its closest game; the report is photographed by Chromium, which
playwright finds.
"""

import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

DOCS = Path(__file__).parent
COLUMNS = 92
ARENA = (sys.executable, "-m", "arena")
SHOWN = "runs/demo-1"  # where it is stored
TALLEST = 720  # pixels of the report that are shown


def main() -> None:
    """Play the demo in a folder that is removed, and replace the pictures."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        played = typed("demo").split("\n\n")[0].strip()
        crosstable = typed("table", SHOWN, "--kind", "crosstable")
        draw(f"$ arena demo\n{played}\n\n$ arena table {SHOWN} --kind crosstable\n{crosstable.strip()}")
        typed("show", SHOWN, "5v6-0004", "--ply", "24", "--output", "board.svg")
        shutil.copy("board.svg", DOCS / "board.svg")
        typed("report", SHOWN, "--output", "report.html")
        photograph(Path("report.html").resolve())


def typed(*words: str) -> str:
    """What a command prints, as wide as the picture."""
    done = subprocess.run([*ARENA, *words], stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


def draw(text: str) -> None:
    """The text as a terminal, with fonts of the reader's machine alone."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(Text(text))
    drawn = re.sub(r"@font-face \{.*?\}\s*", "", console.export_svg(title="arena", unique_id="demo"), flags=re.DOTALL)
    (DOCS / "demo.svg").write_text("\n".join(line.rstrip() for line in drawn.splitlines()) + "\n")


def photograph(page: Path) -> None:
    """The top of a page, as a browser shows it."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        opened = browser.new_page(viewport={"width": 1100, "height": TALLEST})
        opened.goto(page.as_uri(), wait_until="load")
        opened.screenshot(path=DOCS / "report.png")
        browser.close()


if __name__ == "__main__":
    main()
