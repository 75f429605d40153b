"""Who may ask: the program's own page, in a browser that opened its link. Everybody else gets one line.

The link's token is traded at once for two secrets, so that it stays neither in the address bar nor in later requests.
A browser sends a cookie to every port of a machine, another user's too, so the cookie alone opens an empty page only:
data need the key besides, which the page keeps in the storage of its origin, where the port counts.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from typing import Any
from urllib.parse import parse_qs

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Asgi = Callable[[Scope, Receive, Send], Awaitable[None]]

#: The names by which a browser on this machine reaches the loopback address.
NAMES = ("127.0.0.1", "localhost")

#: Where the page keeps the key, and the header in which it sends it: a site elsewhere may not send such a header.
STORED_KEY, KEY_HEADER = "recombine-key", b"x-recombine-key"


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
    comes from another site, a missing or wrong secret, and every method but GET. ``/?token=...`` is answered with a
    cookie and a script that keeps the key and goes on to ``/``.

    Parameters
    ----------
    app : ASGI application
    token : str
        What the link names; it works as long as the program runs.
    port : int
        The port that the program listens on.
    """

    def __init__(self, app: Asgi, token: str, port: int) -> None:
        self.app = app
        self._token = token
        self._tickets: set[str] = set()
        self._cookie_name = f"recombine-{port}"  # one jar serves all ports
        self._cookie, self._key = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        self._hosts = {f"{name}:{port}" for name in NAMES} | (set(NAMES) if port == 80 else set())

    def ticket(self) -> str:
        """Return a token that works once."""
        ticket = secrets.token_urlsafe(32)
        self._tickets.add(ticket)
        return ticket

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
            token = self.check(scope)
        except RefusedError as refused:
            status, line = refused.args
            await _answer(strict, status, "text/plain", f"refused: {line}\n")
        else:
            await (self.app(scope, receive, strict) if token is None else self._trade(token, strict))

    def check(self, scope: Scope) -> str | None:
        """Return the token that a request trades, None for any other; `RefusedError` unless it is let through."""
        headers: dict[bytes, list[str]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.lower(), []).append(value.decode("latin-1"))
        hosts = headers.get(b"host", [])
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            raise RefusedError(403, "this Host is not the one that the link names; open the link as it was printed")
        origins = {f"http://{hosts[0].lower()}"}
        if not {origin.lower() for origin in headers.get(b"origin", [])} <= origins or _foreign(scope, headers):
            raise RefusedError(403, "the request comes from another site")
        query = parse_qs(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True)
        tokens = query.get("token", []) if scope["path"] == "/" else []
        if tokens:
            trusted = len(tokens) == 1 and _among(tokens[0], [self._token, *self._tickets])
        else:
            cookies = _cookies(headers.get(b"cookie", []), self._cookie_name)
            keys = headers.get(KEY_HEADER, [])
            # Several cookies: another port may have set one for a path below, so that no data would come any more.
            trusted = any(_among(cookie, [self._cookie]) for cookie in cookies)
            trusted &= scope["path"] == "/" or (len(keys) == 1 and _among(keys[0], [self._key]))
        if not trusted:
            raise RefusedError(
                403,
                "the link's token is missing, wrong or used up, or this browser keeps no cookies; "
                "open the link as it was printed",
            )
        if scope["method"] != "GET":
            raise RefusedError(405, "only GET is answered")
        return tokens[0] if tokens else None

    async def _trade(self, token: str, send: Send) -> None:
        """Hand out cookie and key, and go on to the page: by a script, since a redirect would not bring the cookie."""
        self._tickets.discard(token)
        nonce = secrets.token_urlsafe(16)
        store, go_on = f'localStorage.setItem("{STORED_KEY}", "{self._key}")', 'location.replace("/" + location.hash)'
        script = f"try {{ {store}; }} finally {{ {go_on}; }}"  # where nothing can be stored, the page says so
        page = f'<!doctype html>\n<script nonce="{nonce}">{script}</script>\n'
        headers = {
            "content-security-policy": content_policy(script_src=f"'nonce-{nonce}'"),
            "set-cookie": f"{self._cookie_name}={self._cookie}; Path=/; HttpOnly; SameSite=Strict",
        }
        await _answer(send, 200, "text/html", page, headers)


async def _answer(send: Send, status: int, kind: str, text: str, headers: Mapping[str, str] | None = None) -> None:
    body = text.encode()
    sent = {"content-type": f"{kind}; charset=utf-8", "content-length": str(len(body)), **(headers or {})}
    encoded = [(name.encode(), value.encode()) for name, value in sent.items()]
    await send({"type": "http.response.start", "status": status, "headers": encoded})
    await send({"type": "http.response.body", "body": body})


def _among(text: str, right: Iterable[str]) -> bool:
    """Whether a text is one of the right ones, in a time that does not tell how much of it is right."""
    return sum(secrets.compare_digest(text.encode(), each.encode()) for each in right) > 0


def _cookies(headers: list[str], name: str) -> list[str]:
    """Return the values of all cookies of a name."""
    pairs = (pair.strip().partition("=") for header in headers for pair in header.split(";"))
    return [value for key, _, value in pairs if key == name]


def _foreign(scope: Scope, headers: dict[bytes, list[str]]) -> bool:
    """Whether a browser says that another site asks; the link itself may be followed from anywhere."""
    site, kind = (headers.get(name, [""])[0] for name in (b"sec-fetch-site", b"sec-fetch-dest"))
    if scope["path"] == "/":
        return kind not in ("", "document")
    return site not in ("", "same-origin")
