"""A headless Chromium for tests of pages, by playwright: on a phone and a desktop, in light and dark.

Tests that use it have the marker `browser`; they are skipped, with the reason, where there is none.
"""

import functools
import shutil
import time
from contextlib import contextmanager

import pytest

NAMES = ("chromium", "chromium-headless-shell", "chromium-browser", "google-chrome")
SIZES = {"phone": (390, 844), "desktop": (1280, 900)}
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]


def until(condition, seconds=90.0):
    """Wait until something holds; a failure after a while."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, condition
        time.sleep(0.02)


@contextmanager
def chromium():
    """A browser; the test is skipped where no browser can be used."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (PyPI)")
    with playwright.sync_playwright() as driver:
        browser = launched(driver, playwright.Error)
        yield browser
        browser.close()


def launched(driver, failure):
    """The first browser that starts: one of this machine's, or playwright's own."""
    reasons = []
    for path in [*filter(None, map(shutil.which, NAMES)), None]:
        try:
            return driver.chromium.launch(executable_path=path, args=FLAGS)
        except failure as error:
            reasons.append(f"{path or 'the browser of playwright'}: {str(error).strip().splitlines()[0]}")
    pytest.skip("; ".join(reasons))


@contextmanager
def opened(browser, address, size="desktop", scheme="light"):
    """(page, the problems that it has had so far), once everything is loaded."""
    width, height = SIZES[size]
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
    page, problems = context.new_page(), []
    page.on("console", lambda message: problems.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(address, wait_until="load")
    try:
        yield page, problems
    finally:
        context.close()


@functools.cache
def axe():
    """axe-core, which finds what readers of a page could not use; the test is skipped without it."""
    return pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python (PyPI)").Axe()


def faults_of(page, rules=()):
    """What axe-core finds, by all rules or by some: rule, and the elements that break it."""
    only = {"runOnly": list(rules)} if rules else {}
    found = axe().run(page, options={"resultTypes": ["violations"], **only}).response["violations"]
    return {one["id"]: [node["html"][:200] + str(node["any"][:1])[:300] for node in one["nodes"]] for one in found}
