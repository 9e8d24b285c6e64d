"""Completion in bash, zsh and fish: what each shell is told to do when TAB is pressed, and where that is put.

All three ask the command itself, with what has been typed so far, by the form in which typer answers fish: a line for
each candidate, and behind a tab what it is.
"""

import os
import shlex
from pathlib import Path
from typing import NamedTuple

from games.core.errors import UserError

TYPED = "_TYPER_COMPLETE_ARGS"  # what has been typed so far
ASK = f"_ARENA_COMPLETE=complete_fish _TYPER_COMPLETE_FISH_ACTION=get-args {TYPED}"

# readline has taken an open quote off the word, and closes it; without one, what the shell would obey is escaped
BASH = f"""\
_arena_completion() {{
    local candidate about
    COMPREPLY=()
    while IFS=$'\\t' read -r candidate about; do
        [[ -n $candidate ]] || continue
        [[ ${{COMP_WORDS[COMP_CWORD]}} == [\\"\\']* ]] || printf -v candidate %q "$candidate"
        COMPREPLY+=("$candidate")
    done < <(env {ASK}="${{COMP_LINE:0:COMP_POINT}}" "$1" 2>/dev/null)
}}
complete -o default -F _arena_completion arena
"""

# sourced, not found by its name: zsh has a completion for a browser of this name, which comes first
ZSH = f"""\
(( $+functions[compdef] )) || {{ autoload -Uz compinit && compinit }}
_arena_completion() {{
    local line
    local -a values shown
    while IFS= read -r line; do
        [[ -n $line ]] || continue
        values+=("${{line%%$'\\t'*}}")
        shown+=("${{line/$'\\t'/  -- }}")
    done < <(env {ASK}="${{(j: :)words[1,CURRENT]}}" "${{words[1]}}" 2>/dev/null)
    if (( $#values )); then
        compadd -l -d shown -a values
    else
        _files
    fi
}}
compdef _arena_completion arena
"""

FISH = f"""\
function __arena_completion
    set -l typed (commandline -cp | string collect)
    set -l found (env {ASK}="$typed" arena 2>/dev/null)
    if test -n "$found"
        printf '%s\\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete --command arena --no-files --arguments '(__arena_completion)'
"""


class Shell(NamedTuple):
    """A shell's script, the file that it is written to, and the file of the user's that is to read it: see `_place`."""

    script: str
    file: str
    reader: str | None  # None where the shell finds the file by itself


SHELLS = {
    "bash": Shell(BASH, ".bash_completions/arena.sh", ".bashrc"),
    "zsh": Shell(ZSH, ".zsh_completions/arena.zsh", ".zshrc"),
    "fish": Shell(FISH, ".config/fish/completions/arena.fish", None),
}


def shell_of_user() -> str:
    """The shell in which the command was typed, or the user's own; UserError if it is none of ours."""
    try:
        import shellingham  # type: ignore[import-untyped]  # which typer installs

        name = shellingham.detect_shell()[0]
    except Exception:  # whatever keeps it from looking at the processes above this one
        name = Path(os.environ.get("SHELL", "")).name
    if name not in SHELLS:
        raise UserError(f"the shell {name or 'is unknown'}: there is completion for {', '.join(SHELLS)}")
    return name


def install(name: str, home: Path) -> Path:
    """Write a shell's script, and let the user's file read it; returns the script's place."""
    shell = SHELLS[name]
    place = _place(shell.file, home)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(shell.script)
    if shell.reader:
        reader, line = _place(shell.reader, home), os.fsencode(f"source {shlex.quote(str(place))}")
        known = reader.read_bytes() if reader.exists() else b""
        if line not in known.splitlines():
            with open(reader, "ab") as file:  # what is there stays, in whatever encoding
                file.write((b"\n" if known and not known.endswith(b"\n") else b"") + line + b"\n")
    return place


def _place(file: str, home: Path) -> Path:
    """A file below home, or where $ZDOTDIR or $XDG_CONFIG_HOME says that the shell looks for it."""
    for start, variable in ((".zshrc", "ZDOTDIR"), (".config/", "XDG_CONFIG_HOME")):
        folder = Path(os.environ.get(variable, ""))
        if file.startswith(start) and folder.is_absolute():
            return folder / file.removeprefix(".config/")
    return home / file


def prepare_answer() -> None:
    """Let typer answer a shell that asks what could be typed.

    To typer a blank at the end is the end of a word, also within quotes, as in `"uct(playouts=5, `: there it is taken
    off, and is in the candidates again.
    """
    from typer.completion import completion_init

    completion_init()
    typed = os.environ.get(TYPED, "")
    try:
        shlex.split(typed)
    except ValueError:  # a quote is open
        os.environ[TYPED] = typed.rstrip(" ")
