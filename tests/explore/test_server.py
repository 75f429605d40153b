"""The server: who is answered, with what, and that everybody else gets one line."""

from __future__ import annotations

import asyncio
import errno
import json
import re
import socket
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest

import recombine as rc
from recombine.errors import InputError
from recombine.explore.answers import BusyError, TableAnswers
from recombine.explore.guard import HEADERS

pytest.importorskip("starlette", reason="needs the extra explore")
from recombine.explore.server import QUESTIONS, loopback_socket, table_app

TOKEN, PORT = "right-token", 8123
CELLS = [[0, 0], [0, 1], [1, 0], [2, 2]]


#: Values by name; a list is a header that is sent several times.
Headers = Mapping[str, str | list[str]]


@dataclass(frozen=True)
class Answer:
    status_code: int
    headers: dict[str, str]
    text: str

    def json(self) -> Any:
        return json.loads(self.text)


class Client:
    """Asks the application itself, as a server would: no port is opened, and no other package is needed."""

    def __init__(self, app: Any) -> None:
        self.app = app

    def get(self, path: str, params: dict[str, str] | None = None, headers: Headers | None = None) -> Answer:
        return self.request("GET", path, params, headers)

    def request(
        self, method: str, path: str, params: dict[str, str] | None = None, headers: Headers | None = None
    ) -> Answer:
        path, _, query = path.partition("?")
        given = {"host": f"127.0.0.1:{PORT}", **(headers or {})}
        lists = {name: [value] if isinstance(value, str) else value for name, value in given.items()}
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "root_path": "",
            "query_string": "&".join(part for part in (query, urlencode(params or {})) if part).encode(),
            "headers": [(name.encode(), value.encode("latin-1")) for name, values in lists.items() for value in values],
            "server": ("127.0.0.1", PORT),
            "client": ("127.0.0.1", 50000),
        }
        sent: list[Any] = []

        async def receive() -> Any:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message)

        asyncio.run(self.app(scope, receive, send))
        names = [name.decode() for name, _ in sent[0]["headers"]]
        assert len(set(names)) == len(names), "each header once"
        found = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
        return Answer(sent[0]["status"], found, b"".join(one.get("body", b"") for one in sent[1:]).decode())


@pytest.fixture(scope="module")
def answers() -> TableAnswers:
    audit = rc.audit(rc.Design.from_cells(CELLS, outcome=[1.0, 2.0, 4.0, 9.0], names=["<b>a</b>", "</script>"]))
    return TableAnswers(audit, audit.plan(2))


@pytest.fixture(scope="module")
def client(answers: TableAnswers) -> Client:
    return Client(table_app(answers, TOKEN, PORT))


def traded(client: Client, token: str = TOKEN) -> dict[str, str]:
    """Trade a token for the headers that a page sends."""
    answer = client.get(f"/?token={token}")
    assert answer.status_code == 200
    key = re.search(r'localStorage.setItem\("recombine-key", "([\w-]{43})"\)', answer.text)
    assert key is not None
    return {"cookie": answer.headers["set-cookie"].partition(";")[0], "x-recombine-key": key[1]}


def ask(client: Client, path: str, headers: Headers | None = None, method: str = "GET", **words: str) -> Any:
    """Ask as the page does."""
    return client.request(method, path, words, {**traded(client), **(headers or {})})


def test_the_page_is_handed_out_under_a_policy_of_its_own(client: Client) -> None:
    first, second = ask(client, "/"), ask(client, "/")
    assert first.status_code == 200
    assert first.headers["content-type"] == "text/html; charset=utf-8"
    policy = first.headers["content-security-policy"]
    nonce = re.search(r"script-src 'nonce-([\w-]+)'", policy)
    assert nonce is not None
    ours, nothing = f"'nonce-{nonce[1]}'", dict.fromkeys(("frame-ancestors", "base-uri", "form-action"), "'none'")
    needed = {"script-src": ours, "style-src": ours, "img-src": "data:", "connect-src": "'self'"}
    assert dict(rule.split(" ", 1) for rule in policy.split("; ")) == {"default-src": "'none'", **nothing, **needed}
    assert "http-equiv" not in first.text
    assert nonce[1] not in second.text
    for tag in re.findall(r"<script[^>]*>|<style[^>]*>", first.text):
        assert f'nonce="{nonce[1]}"' in tag or 'type="application/json"' in tag


def test_the_link_is_traded_for_a_cookie_and_a_key_and_holds_no_table(client: Client) -> None:
    first, second = client.get(f"/?token={TOKEN}"), client.get(f"/?token={TOKEN}")
    assert first.status_code == second.status_code == 200
    cookie = first.headers["set-cookie"]
    assert re.fullmatch(rf"recombine-{PORT}=[\w-]{{43}}; Path=/; HttpOnly; SameSite=Strict", cookie)
    assert second.headers["set-cookie"] == cookie, "one per server, so that two tabs do not shut each other out"
    assert 'location.replace("/" + location.hash)' in first.text
    nonce = re.search(r'nonce="([\w-]+)"', first.text)
    assert nonce is not None
    assert first.headers["content-security-policy"].endswith(f"; script-src 'nonce-{nonce[1]}'")
    assert nonce[1] not in second.text
    secrets = [TOKEN, *traded(client).values()]
    assert all(len(set(secrets)) == 3 and TOKEN not in secret for secret in secrets[1:])
    assert TOKEN not in first.text
    for name in ("a</b>", "served-table", "determined", cookie.partition(";")[0].partition("=")[2]):
        assert name not in first.text


def test_every_server_has_secrets_of_its_own(answers: TableAnswers) -> None:
    two = [traded(Client(table_app(answers, TOKEN, PORT))) for _ in range(2)]
    assert two[0]["cookie"] != two[1]["cookie"]
    assert two[0]["x-recombine-key"] != two[1]["x-recombine-key"]


def test_a_ticket_is_traded_once_and_the_link_again_and_again(answers: TableAnswers) -> None:
    app = table_app(answers, TOKEN, PORT)
    client, ticket, unused = Client(app), app.ticket(), app.ticket()
    assert ticket not in (unused, TOKEN)
    # What is refused does not use it up.
    assert client.request("POST", f"/?token={ticket}").status_code == 405
    assert client.get(f"/?token={ticket}", headers={"sec-fetch-dest": "iframe"}).status_code == 403
    assert traded(client, ticket) == traded(client)
    refused = client.get(f"/?token={ticket}")
    assert (refused.status_code, "set-cookie" in refused.headers) == (403, False)
    assert client.get(f"/?token={ticket}", headers=traded(client)).status_code == 403
    assert traded(client, unused) == traded(client)


def test_the_page_holds_nothing_of_the_table(answers: TableAnswers) -> None:
    """The cookie opens it, and a browser sends that to every port of the machine."""
    large = rc.audit(rc.Design.from_cells([[0, 0], [1, 150]]))
    pages = []
    for each in (answers, TableAnswers(large)):
        client = Client(table_app(each, TOKEN, PORT))
        page = client.get("/", headers={"cookie": traded(client)["cookie"]})
        assert page.status_code == 200
        pages.append(re.sub(r'nonce="[\w-]+"', "", page.text))
    assert pages[0] == pages[1]


def test_the_table_is_told_to_who_has_both(client: Client, answers: TableAnswers) -> None:
    assert ask(client, "/table").json()["factors"] == answers.record["factors"]


@pytest.mark.parametrize("path", QUESTIONS)
def test_neither_the_cookie_nor_the_key_nor_the_token_alone_reads_data(client: Client, path: str) -> None:
    both = traded(client)
    cookie, key = both["cookie"], both["x-recombine-key"]
    assert client.get(path, headers=both).status_code != 403
    for name in both:
        assert client.get(path, headers={name: both[name]}).status_code == 403
    assert client.get(f"{path}?token={TOKEN}").status_code == 403
    assert client.get(f"{path}?token={TOKEN}", headers={"cookie": cookie}).status_code == 403
    value = cookie.partition("=")[2]
    for wrong in ("", "ä", key[:-1], f"{key}x", f"{key},{key}", value, TOKEN, [key, key], [key, ""], f" {key}"):
        assert client.get(path, headers={"cookie": cookie, "x-recombine-key": wrong}).status_code == 403
    name = f"recombine-{PORT}"
    for wrong in (
        "",
        name,
        f"{name}=",
        f"{cookie}x",
        f"{name}={key}",
        f"recombine-1={value}",
        f"x{cookie}",
        value,
        "ä",
    ):
        assert client.get(path, headers={"cookie": wrong, "x-recombine-key": key}).status_code == 403


def test_a_cookie_that_another_port_set_beside_it_shuts_nobody_out(client: Client) -> None:
    both = traded(client)
    for cookies in (f"recombine-{PORT}=forged; {both['cookie']}", [both["cookie"], f"recombine-{PORT}=forged"]):
        assert client.get("/table", headers={**both, "cookie": cookies}).status_code == 200


@pytest.mark.parametrize("path", ["/", "/cell", "/nowhere"])
def test_every_answer_has_the_strict_headers(client: Client, path: str) -> None:
    for found in (ask(client, path, at="1,1"), client.get(path), ask(client, path, {"host": "evil.example"})):
        for name, value in HEADERS.items():
            if name != "content-security-policy" or path != "/":
                assert found.headers[name] == value
        assert "server" not in found.headers


@pytest.mark.parametrize("path", ["/", *QUESTIONS])
@pytest.mark.parametrize(
    "words", [{}, {"token": ""}, {"token": "wrong"}, {"token": TOKEN + "x"}, {"token": TOKEN[:-1]}, {"token": "ä"}]
)
def test_without_the_token_nothing_is_told(client: Client, path: str, words: dict[str, str]) -> None:
    found = client.get(path, params=words)
    assert found.status_code == 403
    assert found.text.count("\n") == 1
    assert "token" in found.text
    assert "set-cookie" not in found.headers


@pytest.mark.parametrize(
    "query", [f"token={TOKEN}&token=wrong", f"token=&token={TOKEN}", f"token={TOKEN}%00", "token="]
)
def test_a_wrong_token_is_refused_even_with_the_cookie(client: Client, query: str) -> None:
    assert client.get(f"/?{query}").status_code == 403
    assert ask(client, f"/?{query}").status_code == 403


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        f"evil.example:{PORT}",
        "127.0.0.1",
        "127.0.0.1:1",
        f"127.0.0.1.evil.example:{PORT}",
        "",
        [],
        [f"127.0.0.1:{PORT}"] * 2,
    ],
)
@pytest.mark.parametrize("path", ["/cell?at=1,1", "/", f"/?token={TOKEN}"])
def test_another_host_is_refused(client: Client, host: str, path: str) -> None:
    found = ask(client, path, {"host": host})
    assert (found.status_code, found.text.count("\n")) == (403, 1)
    assert "Host" in found.text


def test_the_machine_may_be_called_localhost(client: Client) -> None:
    name = f"localhost:{PORT}"
    for path in ("/", "/table", f"/?token={TOKEN}"):
        assert ask(client, path, {"host": name, "origin": f"http://{name}"}).status_code == 200
        assert ask(client, path, {"host": name, "origin": f"http://127.0.0.1:{PORT}"}).status_code == 403


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": f"https://127.0.0.1:{PORT}"},
        {"origin": "http://127.0.0.1:1"},
        {"origin": [f"http://127.0.0.1:{PORT}", "null"]},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_another_site_is_refused(client: Client, headers: Headers) -> None:
    found = ask(client, "/cell", headers, at="1,1")
    assert (found.status_code, found.text) == (403, "refused: the request comes from another site\n")


def test_a_link_may_be_followed_but_not_framed(client: Client) -> None:
    for path in ("/", f"/?token={TOKEN}"):
        assert ask(client, path, {"sec-fetch-site": "cross-site", "sec-fetch-dest": "document"}).status_code == 200
        for kind in ("iframe", "empty", "image", "script"):
            assert ask(client, path, {"sec-fetch-site": "same-site", "sec-fetch-dest": kind}).status_code == 403


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE", "CONNECT", "get"])
@pytest.mark.parametrize("path", ["/cell?at=1,1", "/", f"/?token={TOKEN}"])
def test_only_get_is_answered(client: Client, method: str, path: str) -> None:
    found = ask(client, path, method=method)
    assert (found.status_code, "set-cookie" in found.headers) == (405, False)


@pytest.mark.parametrize("path", ["/nowhere", "/cell/", "/served.js", "/../pyproject.toml", "/page.html"])
def test_nothing_else_is_served(client: Client, path: str) -> None:
    found = ask(client, path)
    assert found.status_code == 404
    assert found.text.count("\n") == 0
    assert list(found.json()) == ["error"]


def test_a_cell_is_answered_as_the_audit_has_it(client: Client, answers: TableAnswers) -> None:
    told = ask(client, "/cell", at="1,1").json()
    assert told["word"] == "determined"
    assert told["value"]["predicted"] == answers.audit.values.certified_of(np.array([[1, 1]]))[0] == 5.0
    proof = ask(client, "/certificate", at="1,1").json()
    assert [term["cell"] for term in proof["terms"]] == answers.audit.certificate([1, 1]).cells.tolist()


def test_levels_beside_another_stand_before_and_after_it(client: Client) -> None:
    assert ask(client, "/beside", level="0,1").json()["level"] == 2
    assert ask(client, "/beside", level="0,1", back="").json()["level"] == 0
    assert ask(client, "/beside", level="1,0").json()["level"] == 1


@pytest.mark.parametrize(
    ("path", "words", "status"),
    [
        ("/cell", {}, 400),
        ("/cell", {"at": "1"}, 400),
        ("/cell", {"at": "1,1,1"}, 400),
        ("/cell", {"at": "x,y"}, 400),
        ("/cell", {"at": "-1,0"}, 400),
        ("/cell", {"at": "1e9,0"}, 400),
        ("/cell", {"at": "٣,0"}, 400),
        ("/cell", {"at": "9999999999999999999999,0"}, 400),
        ("/cell", {"at": "3,0"}, 404),
        ("/cell", {"at": "999999999999,0"}, 404),
        ("/certificate", {"at": "2,0"}, 404),
        ("/certificate", {"at": "0,0"}, 404),
        ("/levels", {"factor": "2"}, 404),
        ("/levels", {"factor": "0,1"}, 400),
        ("/window", {"sides": "0,1", "at": "0,0", "shape": "1000,1000"}, 400),
        ("/window", {"sides": "0,0", "at": "0,0", "shape": "2,2"}, 400),
        ("/window", {"sides": "0,5", "at": "0,0", "shape": "2,2"}, 404),
        ("/bins", {"sides": "0,1", "at": "0,0", "by": "<script>"}, 400),
    ],
)
def test_wrong_questions_get_one_line(client: Client, path: str, words: dict[str, str], status: int) -> None:
    found = ask(client, path, **words)
    assert found.status_code == status
    assert found.headers["content-type"] == "application/json"
    assert found.text.count("\n") == 0
    assert found.json()["error"]


def test_who_asks_while_too_much_is_worked_on_may_come_again(
    client: Client, answers: TableAnswers, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> object:
        raise BusyError("too much at once")

    monkeypatch.setattr(answers, "cell", refuse)
    assert ask(client, "/cell", at="1,1").status_code == 503


def test_work_on_an_answer_does_not_keep_the_program_from_ending(
    client: Client, answers: TableAnswers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "cell", lambda *_: {"waited for": not threading.current_thread().daemon})
    assert ask(client, "/cell", at="1,1").json() == {"waited for": False}


def test_a_defect_is_one_line_too(client: Client, answers: TableAnswers, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> object:
        raise ZeroDivisionError("by\nzero")

    monkeypatch.setattr(answers, "cell", fail)
    found = ask(client, "/cell", at="1,1")
    assert found.status_code == 500
    assert found.json() == {"error": "a defect of recombine, not of the question: ZeroDivisionError: by zero"}


def test_servers_that_name_no_port_have_one_each() -> None:
    with loopback_socket() as one_socket, loopback_socket() as another:
        ports = {bound.getsockname()[1] for bound in (one_socket, another)}
    assert len(ports) == 2
    assert min(ports) > 1023


@pytest.mark.skipif(sys.platform == "win32", reason="a socket of Windows has no such pause")
def test_a_port_can_be_had_again_as_soon_as_a_server_has_ended() -> None:
    with loopback_socket() as listener:
        listener.listen()
        port = listener.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)) as asking:
            answering, _ = listener.accept()
            answering.close()  # who closes before the other side does has the port for a minute
            assert asking.recv(1) == b""
    with loopback_socket(port) as again:
        assert again.getsockname()[1] == port


def test_the_socket_is_on_the_loopback_interface_and_nobody_else_gets_the_port() -> None:
    with loopback_socket() as bound, socket.socket() as stranger:
        host, port = bound.getsockname()
        assert host == "127.0.0.1"
        with pytest.raises(InputError, match=f"port {port} is taken"):
            loopback_socket(port)
        if sys.platform != "win32":  # where the option means something else
            stranger.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        for address in (host, ""):
            with pytest.raises(OSError, match=r"in use|10048|10013"):
                stranger.bind((address, port))


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (PermissionError(errno.EACCES, "no"), "port 80 may not be used by this user"),
        (PermissionError(errno.EPERM, "no"), "port 80 may not be used by this user"),
        (OSError(errno.EADDRINUSE, "no"), "port 80 is taken"),
    ],
)
def test_a_port_that_cannot_be_had_is_named_and_nothing_stays_open(
    monkeypatch: pytest.MonkeyPatch, error: OSError, message: str
) -> None:
    opened: list[socket.socket] = []

    class Refused(socket.socket):
        def bind(self, address: object) -> None:
            opened.append(self)
            raise error

    monkeypatch.setattr(socket, "socket", Refused)
    with pytest.raises(InputError, match=message):
        loopback_socket(80)
    assert [bound.fileno() for bound in opened] == [-1]
