"""A headless Chromium that opens a page, plays a script in it, and gives back what the script found."""

import functools
import html
import json
import re
import shutil
import subprocess
import tempfile

import pytest

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
SECONDS = 120
FIRST = """<script>
const problems = [];
addEventListener("error", (event) => problems.push(String(event.message)));
for (const kind of ["error", "warn"]) console[kind] = (...words) => problems.push(words.join(" "));
</script>"""
PROBE = "data:text/html,<p id=p></p><script>p.textContent = 6 * 7</script>"


def play(page, script, *flags):
    """What `script` (the body of a function) returns in the page, and the problems that the page had.

    The test is skipped where no browser can be used.
    """
    last = f"""<script>
    const found = document.createElement("pre");
    found.id = "found";
    found.textContent = JSON.stringify({{ value: (() => {{ {script} }})(), problems }});
    document.body.append(found);
    </script></body>"""
    copy = page.with_name("played.html")
    text = page.read_text()
    copy.write_text(text.replace("<head>", "<head>" + FIRST, 1).replace("</body>", last, 1))
    text = document(copy.as_uri(), *flags)
    found = json.loads(html.unescape(re.search(r'<pre id="found">(.*?)</pre>', text, re.DOTALL)[1]))
    return found["value"], found["problems"]


def document(address, *flags):
    """The document at an address, as its scripts have made it; the test is skipped where no browser can be used."""
    program, reason = usable_browser()
    if program is None:
        pytest.skip(reason)
    done = dump(program, address, *flags)
    assert done.returncode == 0, done.stderr
    return done.stdout


@functools.cache
def usable_browser():
    """(the first browser that runs a page's script without a screen, ""), or (None, why none does)."""
    reasons = []
    for program in filter(None, map(shutil.which, NAMES)):
        try:
            done = dump(program, PROBE)
        except (OSError, subprocess.TimeoutExpired) as error:
            reasons.append(f"{program}: {error}")
            continue
        if done.returncode == 0 and ">42<" in done.stdout:
            return program, ""
        told = done.stderr.strip().splitlines() or ["it prints no document"]
        reasons.append(f"{program} ends with {done.returncode}: {told[-1]}")
    return None, "; ".join(reasons) or f"none of {', '.join(NAMES)} is installed"


def dump(program, address, *flags):
    """Run a browser without a screen, on a profile of its own, until it has printed the document."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        fixed = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", f"--user-data-dir={profile}"]
        command = [program, *fixed, *flags, "--dump-dom", address]
        return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
