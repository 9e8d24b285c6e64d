"""Draws the pictures of docs/figures.md anew, by the commands of the page: python docs/figures.py [FOLDER]"""

import os
import re
import shlex
import shutil
import sys
from pathlib import Path

PAGE = Path(__file__).with_suffix(".md")


def commands() -> list[list[str]]:
    """The words of each command of the page, without `arena`."""
    blocks = re.findall(r"^```sh\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    lines = "".join(blocks).replace("\\\n", "").splitlines()
    return [shlex.split(line)[1:] for line in lines if line]


def main(folder: Path) -> None:
    """Type the commands in a folder, where pictures are replaced; the trees are copied there first."""
    os.environ["NUMBA_DISABLE_JIT"] = "1"  # trees this small are searched before a compiler is done
    from arena.cli import app

    if folder.resolve() != PAGE.with_suffix("").resolve():
        for tree in PAGE.with_suffix("").glob("*.toml"):
            shutil.copy(tree, folder)
    os.chdir(folder)
    for words in commands():
        print("$ arena", shlex.join(words), flush=True)
        app([*words, *(["--force"] if "--output" in words else [])], standalone_mode=False)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else PAGE.with_suffix(""))
