"""Counts the words of the users' pages, README included: `python docs/words.py`; exit code 1 if they are too many.

Studies are not counted, nor is the reference of the commands, which is made from the commands.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
MOST, MOST_OF_README = 36_000, 1_300


def main() -> None:
    """A line for each page, the longest first, and their sum."""
    pages = [ROOT / "README.md", *ROOT.glob("docs/*.md"), *ROOT.glob("docs/tutorials/*.md")]
    words = {
        page.relative_to(ROOT).as_posix(): len(page.read_text().split()) for page in pages if page.name != "commands.md"
    }
    for page, count in sorted(words.items(), key=lambda item: -item[1]):
        print(f"{count:6,} {page}")
    print(f"{sum(words.values()):6,} of at most {MOST:,}")
    if sum(words.values()) > MOST or words["README.md"] > MOST_OF_README:
        sys.exit(f"too many words: all pages can have {MOST:,}, README.md {MOST_OF_README:,}")


if __name__ == "__main__":
    main()
