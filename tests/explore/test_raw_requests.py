"""Requests made by hand, byte by byte, to the real server: none gets anything of the table, none ends it."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress

import pytest

pytest.importorskip("uvicorn", reason="needs the extra explore")
TOKEN = "right-token"
SERVER = """
import sys
import recombine as rc
from recombine.explore.answers import TableAnswers
from recombine.explore.server import loopback_socket, serve, table_app
listener = loopback_socket()
port = listener.getsockname()[1]
audit = rc.audit(rc.Design.from_cells([[0, 0], [0, 1], [1, 0]], names=["hidden-name", "b"]))
app = table_app(TableAnswers(audit), sys.argv[1], port)
print(port, flush=True)
serve(app, listener)
"""
#: The last header lets the server close the connection, which ends what is read.
ASK = "METHOD {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{more}Connection: close\r\n\r\n"
GET = ASK.replace("METHOD", "GET")


def sent(port: int, request: bytes) -> tuple[int, bytes]:
    """Send bytes and return the status (0: hung up) and all that came back."""
    back = b""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection, suppress(ConnectionError):
        connection.sendall(request)
        while block := connection.recv(1 << 16):
            back += block
    status = re.match(rb"HTTP/1\.[01] (\d{3})", back)
    return int(status[1]) if status else 0, back


class Raw:
    """The server, and what a browser that opened the link would send."""

    def __init__(self, port: int) -> None:
        self.port = port
        _, page = sent(port, self.request(f"/?token={TOKEN}"))
        cookie, key = re.search(rb"set-cookie: ([^;]+);", page), re.search(rb'"([\w-]{43})"', page)
        assert cookie is not None
        assert key is not None
        self.secrets = f"Cookie: {cookie[1].decode()}\r\nX-Recombine-Key: {key[1].decode()}\r\n"

    def request(self, path: str, more: str = "") -> bytes:
        return GET.format(path=path, port=self.port, more=more).encode("latin-1")


@pytest.fixture(scope="module")
def raw() -> Iterator[Raw]:
    command = [sys.executable, "-c", SERVER, TOKEN]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield Raw(int(process.stdout.readline()))
        process.terminate()
        assert process.communicate(timeout=30)[1] == ""


def test_the_browser_that_opened_the_link_is_answered(raw: Raw) -> None:
    status, back = sent(raw.port, raw.request("/table", raw.secrets))
    assert (status, b"hidden-name" in back) == (200, True)


REFUSED = {
    "no secret": GET,
    "HTTP/0.9": "GET /?token={token}\r\n\r\n",
    "HTTP/1.0 without Host": "GET /?token={token} HTTP/1.0\r\n\r\n",
    "HTTP/2": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "two Hosts": GET.replace("{more}", "Host: 127.0.0.1:{port}\r\n{secrets}"),
    "another Host": GET.replace("127.0.0.1", "evil.example").replace("{more}", "{secrets}"),
    "absolute form": GET.replace("{path}", "http://evil.example/table").replace("127.0.0.1:{port}", "evil.example"),
    "folded header": "GET /table HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nCookie:\r\n {secrets}\r\n\r\n",
    "token behind a line end": GET.replace("{path}", "/%0d%0aX: ?token={token}"),
    "line end in the path": GET.replace("{path}", "/\r\nX-Y: z"),
    "NUL in the token": GET.replace("{path}", "/?token={token}%00"),
    "two tokens": GET.replace("{path}", "/?token={token}&token={token}"),
    "a token elsewhere": GET.replace("{path}", "/table?token={token}"),
    "a token in a path that means the same": GET.replace("{path}", "/.?token={token}"),
    "two slashes": GET.replace("{path}", "//?token={token}"),
    "lengths that differ": GET.replace("{more}", "{secrets}Content-Length: 1\r\nContent-Length: 2\r\n"),
    "a websocket": GET.replace("{more}", "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"),
    "a long header": GET.replace("{more}", "X: " + "x" * 1_000_000 + "\r\n"),
    "a long address": GET.replace("{path}", "/?token=" + "x" * 1_000_000),
    "many headers": GET.replace("{more}", "X: x\r\n" * 5_000),
    "null Origin": GET.replace("{more}", "{secrets}Origin: null\r\n"),
    "another port's Origin": GET.replace("{more}", "{secrets}Origin: http://127.0.0.1:1\r\n"),
    "another site": GET.replace("{more}", "{secrets}Sec-Fetch-Site: same-site\r\n"),
    "cookie in the query": GET.replace("{path}", "/table?{secrets_flat}"),
}
for method in ("POST", "PUT", "HEAD", "OPTIONS", "TRACE", "CONNECT", "get"):
    REFUSED[f"{method} with the secrets"] = ASK.replace("METHOD", method).replace("{more}", "{secrets}")


@pytest.mark.parametrize("name", REFUSED)
def test_what_was_made_by_hand_is_refused(raw: Raw, name: str) -> None:
    words = {"port": raw.port, "token": TOKEN, "secrets": raw.secrets, "secrets_flat": re.sub(r"\s", "", raw.secrets)}
    words |= {"more": "", "path": "/table"}
    text = REFUSED[name]
    for word in ("more", "path", "secrets_flat", "secrets", "token", "port"):
        text = text.replace(f"{{{word}}}", str(words[word]))
    status, back = sent(raw.port, text.encode("latin-1"))
    assert status in (0, 400, 403, 405)
    assert b"hidden-name" not in back
    assert b"et-cookie" not in back
    test_the_browser_that_opened_the_link_is_answered(raw)


@pytest.mark.parametrize(
    "path", ["/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//evil.example", "/served.js", "/table/"]
)
def test_no_file_is_served_even_with_the_secrets(raw: Raw, path: str) -> None:
    status, back = sent(raw.port, raw.request(path, raw.secrets))
    assert status == 404
    assert b"root:" not in back


def test_a_large_body_is_not_waited_for(raw: Raw) -> None:
    request = raw.request("/table", f"{raw.secrets}Content-Length: 50000000\r\n").replace(b"GET", b"POST")
    status, back = sent(raw.port, request + b"x" * 5_000_000)
    assert status in (0, 405)  # hung up while it was still being sent
    assert b"hidden-name" not in back
