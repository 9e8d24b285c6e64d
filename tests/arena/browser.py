"""A headless Chromium that opens a page, plays a script in it, and gives back what the script found."""

import html
import json
import re
import shutil
import subprocess

import pytest

NAMES = ("chromium", "chromium-headless-shell", "chromium-browser", "google-chrome")
FIRST = """<script>
const problems = [];
addEventListener("error", (event) => problems.push(String(event.message)));
for (const kind of ["error", "warn"]) console[kind] = (...words) => problems.push(words.join(" "));
</script>"""


def play(page, script, *flags):
    """What `script` (the body of a function) returns in the page, and the problems that the page had.

    The test is skipped where there is no Chromium.
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
    """The document at an address, as its scripts have made it; the test is skipped where there is no Chromium."""
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        pytest.skip(f"none of {', '.join(NAMES)} is installed")
    command = [program, "--no-sandbox", "--disable-gpu", *flags, "--dump-dom", address]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout
