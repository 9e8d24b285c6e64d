"""Who may see the pages: whoever opened the address with its token, from this machine's own name, and no other page.

NiceGUI's socket accepts every origin, and a name that resolves to this machine (DNS rebinding) would let a stranger's
page read ours.
"""

import hmac
import re
from urllib.parse import parse_qs

COOKIE = "arena_lab"
REFUSED = (
    "<!doctype html><title>arena lab</title><p>This page belongs to whoever started <code>arena lab</code>: open the "
    "address that it printed, which ends in a token.</p>"
)


class Guard:
    """ASGI: answers requests for these hosts alone, with the token in the address, or in the cookie it set before."""

    def __init__(self, inner, hosts: set[str], token: str):
        self.inner, self.hosts, self.token = inner, hosts, token
        self.cookie = COOKIE + re.sub(r"\W", "_", min(hosts))  # one for each port

    async def __call__(self, scope, receive, send):
        if scope["type"] not in ("http", "websocket"):
            await self.inner(scope, receive, send)
            return
        headers = {name.decode("latin1"): value.decode("latin1") for name, value in scope["headers"]}
        given = parse_qs(scope.get("query_string", b"").decode("latin1")).get("token", [""])[-1]
        brought = self._is_token(given)
        if not self._is_from_here(headers) or not (brought or self._is_token(self._cookie(headers.get("cookie", "")))):
            await _refuse(scope, receive, send)
            return

        async def with_cookie(message):
            if brought and message["type"] == "http.response.start":
                value = f"{self.cookie}={self.token}; Path=/; HttpOnly; SameSite=Strict"
                message = {**message, "headers": [*message.get("headers", []), (b"set-cookie", value.encode())]}
            await send(message)

        await self.inner(scope, receive, with_cookie)

    def _is_from_here(self, headers: dict[str, str]) -> bool:
        origin = headers.get("origin")
        return headers.get("host") in self.hosts and (origin is None or origin.partition("//")[2] in self.hosts)

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
    kind = (b"content-type", b"text/html; charset=utf-8")
    await send({"type": "http.response.start", "status": 403, "headers": [kind]})
    await send({"type": "http.response.body", "body": REFUSED.encode()})
