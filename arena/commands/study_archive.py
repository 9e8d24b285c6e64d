"""`arena study archive`: a run or study in one file that can be cited."""

import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from arena.commands.application import command
from arena.commands.options import Folder, Force, Trust, output_option, trust_run
from arena.commands.output import answered, check_free, quoted, say
from arena.commands.progress import progress_line
from arena.commands.study import studies

Authors = Annotated[
    list[str] | None, typer.Option("--author", metavar="NAME", help="An author to cite; repeat it for each.")
]


@command(
    group=studies,
    examples='arena study archive runs/first --author "A. Turing"\n'
    'arena study archive runs/schemes --output schemes.zip --author "A. Turing" --author "C. Jones"',
    as_json=True,
)
def archive(
    folder: Folder,
    title: Annotated[str | None, typer.Option(help="The title to cite. Default: the folder's name.")] = None,
    author: Authors = None,
    license: Annotated[str, typer.Option(help="An SPDX identifier.")] = "CC-BY-4.0",
    output: Annotated[Path | None, output_option("The archive. Default: the folder's name and .zip.", ".zip")] = None,
    force: Force = False,
    trust: Trust = False,
) -> None:
    """Write a run or a study of schemes as an archive to cite.

    It is an RO-Crate: a zip with the stored games, the configuration, the machines and versions, every table, the
    report and its figures, a CITATION.cff, and the size and SHA-256 of each file. `arena check study.zip` replays its
    games, and says whether they still give its tables. Publish its SHA-256, which is printed, elsewhere: nothing else
    tells whether the report, the figures and the rest are as they were.
    """
    from arena.report.archive import Work, digest_of, same_name, write_archive
    from arena.runner.study_kinds import runs_in

    if not author:
        raise typer.BadParameter(
            '--author is missing: an archive is cited by its authors, such as --author "A. Turing"'
        )
    output = output or Path(f"{same_name(folder)}.zip")
    check_free(output, force)
    for run in runs_in(folder):
        trust_run(run, trust)
    work = Work(title or same_name(folder), tuple(author), license, datetime.now(UTC).date().isoformat())
    with (
        tempfile.TemporaryDirectory(dir=output.resolve().parent, prefix=".archive-") as scratch,
        progress_line() as show,
    ):
        part = Path(scratch, "archive.zip")
        names = write_archive(folder, part, work, Path(scratch), show)
        part.replace(output)
    size, digest = output.stat().st_size, digest_of(output)
    if not answered({"archive": str(output), "files": len(names), "bytes": size, "sha256": digest}):
        about = f"{size / 1e6:.1f} MB, {len(names)} files, SHA-256 {digest}"
        say(f"{output}: {about}; publish that, too. Anyone can check games and tables: arena check {quoted(output)}")
