"""Who may ask: the program's own page on this machine, with the token of its link. Everybody else gets one line."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import parse_qs

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Asgi = Callable[[Scope, Receive, Send], Awaitable[None]]

#: The names by which a browser on this machine reaches the loopback address.
NAMES = ("127.0.0.1", "localhost")


def content_policy(**allowed: str) -> str:
    """Return a policy of contents that forbids all but what is ``allowed``: ``script_src="'self'"``."""
    rules = dict.fromkeys(("default_src", "frame_ancestors", "base_uri", "form_action"), "'none'") | allowed
    return "; ".join(f"{name.replace('_', '-')} {sources}" for name, sources in rules.items())


#: Sent with every answer; the page adds its own policy of contents.
HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": content_policy(),
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


class RefusedError(Exception):
    """The status and the line with which a request is refused."""


class Guard:
    """Let through what the page asks for, and put the strict headers on every answer.

    Refused are: another Host (a name that was made to point here), another Origin or a request that the browser says
    comes from another site, a missing or wrong token, and every method but GET.

    Parameters
    ----------
    app : ASGI application
    token : str
        What every request must name as ``token``.
    port : int
        The port that the program listens on.
    """

    def __init__(self, app: Asgi, token: str, port: int) -> None:
        self.app = app
        self._token = token.encode()
        self._hosts = {f"{name}:{port}" for name in NAMES} | (set(NAMES) if port == 80 else set())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return

        async def strict(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers_sent = list(message.get("headers", ()))
                named = {name.lower() for name, _ in headers_sent}
                more = [(name.encode(), text.encode()) for name, text in HEADERS.items() if name.encode() not in named]
                message = {**message, "headers": [*headers_sent, *more]}
            await send(message)

        try:
            self.check(scope)
        except RefusedError as refused:
            status, line = refused.args
            body = f"refused: {line}\n".encode()
            headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
            await strict({"type": "http.response.start", "status": status, "headers": headers})
            await strict({"type": "http.response.body", "body": body})
        else:
            await self.app(scope, receive, strict)

    def check(self, scope: Scope) -> None:
        """Raise `RefusedError` unless a request is let through."""
        headers: dict[bytes, list[str]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.lower(), []).append(value.decode("latin-1"))
        hosts = headers.get(b"host", [])
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            raise RefusedError(403, "this Host is not the one that the link names; open the link as it was printed")
        origins = {f"http://{hosts[0].lower()}"}
        if not {origin.lower() for origin in headers.get(b"origin", [])} <= origins or _foreign(scope, headers):
            raise RefusedError(403, "the request comes from another site")
        tokens = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [])
        if len(tokens) != 1 or not secrets.compare_digest(tokens[0].encode(), self._token):
            raise RefusedError(403, "the link's token is missing or wrong; open the link as it was printed")
        if scope["method"] != "GET":
            raise RefusedError(405, "only GET is answered")


def _foreign(scope: Scope, headers: dict[bytes, list[str]]) -> bool:
    """Whether a browser says that another site asks; the link itself may be followed from anywhere."""
    site, kind = (headers.get(name, [""])[0] for name in (b"sec-fetch-site", b"sec-fetch-dest"))
    if scope["path"] == "/":
        return kind not in ("", "document")
    return site not in ("", "same-origin")
