"""Who may see the pages: whoever opened the address with its token, from this machine's own name, and no other page.

NiceGUI's socket accepts every origin, and a name that resolves to this machine (DNS rebinding) would let a stranger's
page read ours.  A browser counts pages of other ports of this machine as of one site with ours: it sends them our
cookie, and ours theirs.  So what another page asks for is told by `Sec-Fetch-Site`, which no page can change.
"""

import hashlib
import hmac
import re
import secrets
import stat
from contextlib import suppress
from pathlib import Path
from urllib.parse import parse_qsl, urlencode

from arena.games.core.shared import cache
from arena.games.core.shared.files import read_plain, write_whole

COOKIE = "arena_lab"
KEPT_DAYS = 90  # by a browser
TOKEN = re.compile(rb"[\w-]{22}")
REFUSED = (
    "<!doctype html><title>arena lab</title><p>This page belongs to whoever started <code>arena lab</code>: open the "
    "address that it printed, which ends in a token, or one that you know, by typing or pasting it: links of other "
    "pages are refused.</p>"
)
HEADERS = {
    # NiceGUI's pages have scripts of their own, and Vue makes templates into code
    "content-security-policy": "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' "
    "'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self' {sockets}; "
    "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


def token_of(folder: Path, anew: bool = False) -> str:
    """The token of the pages of a folder of runs: the one that was made for it before, so that addresses stay good.

    It lies in the user's cache folder, for no other user to read; without one it is another each time.
    """
    home, name = cache.folder(), hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:24]
    token = secrets.token_urlsafe(16)
    if home is None:
        return token
    place = home / f"lab-{name}.token"
    with suppress(OSError):
        if not anew and not stat.S_IMODE(place.lstat().st_mode) & 0o077 and TOKEN.fullmatch(known := read_plain(place)):
            return known.decode()
    with suppress(OSError):
        place.unlink(missing_ok=True)  # who could read it knows what was in it
        write_whole(place, token.encode(), home, mode=0o600)
    return token


class Guard:
    """ASGI: answers requests for these hosts alone, with the token in the address, or in the cookie it set before.

    An address with the token leads to the same one without it, which nobody sees over a shoulder, in a log or history.
    """

    def __init__(self, inner, hosts: set[str], token: str):
        self.inner, self.hosts, self.token = inner, hosts, token
        self.cookie = COOKIE + re.sub(r"\W", "_", min(hosts))  # one for each port
        sockets = " ".join(f"ws://{host}" for host in sorted(hosts))
        self.headers = [(name.encode(), text.format(sockets=sockets).encode()) for name, text in HEADERS.items()]

    async def __call__(self, scope, receive, send):
        if scope["type"] not in ("http", "websocket"):
            await self.inner(scope, receive, send)
            return

        async def guarded(message):
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", []), *self.headers]}
            await send(message)

        headers = {name.decode("latin1"): value.decode("latin1") for name, value in scope["headers"]}
        query = parse_qsl(scope.get("query_string", b"").decode("latin1"), keep_blank_values=True)
        brought = self._is_token(dict(query).get("token", ""))
        if not self._is_from_here(headers) or not (brought or self._is_token(self._cookie(headers.get("cookie", "")))):
            await _refuse(scope, receive, guarded)
        elif brought and scope["type"] == "http":
            left = urlencode([(name, value) for name, value in query if name != "token"])
            place = f"http://{headers['host']}{scope['raw_path'].decode('latin1')}" + (f"?{left}" if left else "")
            cookie = f"{self.cookie}={self.token}; Path=/; HttpOnly; SameSite=Strict; Max-Age={KEPT_DAYS * 86400}"
            await _answer(guarded, 303, {"location": place, "set-cookie": cookie})
        else:
            await self.inner(scope, receive, guarded)

    def _is_from_here(self, headers: dict[str, str]) -> bool:
        origin = headers.get("origin")
        return (
            headers.get("host") in self.hosts
            and (origin is None or origin.partition("//")[2] in self.hosts)
            and headers.get("sec-fetch-site", "none") in ("none", "same-origin")  # typed, or from a page of ours
        )

    def _is_token(self, text: str) -> bool:
        return hmac.compare_digest(text.encode(), self.token.encode())

    def _cookie(self, text: str) -> str:
        pairs = (part.strip().partition("=") for part in text.split(";"))
        return next((value for name, _, value in pairs if name == self.cookie), "")


async def _refuse(scope, receive, send):
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008})
        return
    await _answer(send, 403, {"content-type": "text/html; charset=utf-8"}, REFUSED)


async def _answer(send, status: int, headers: dict[str, str], body: str = ""):
    pairs = [(name.encode(), value.encode("latin1")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": body.encode()})
