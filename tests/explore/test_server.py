"""The server: who is answered, with what, and that everybody else gets one line."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest

import recombine as rc
from recombine.errors import InputError
from recombine.explore.answers import TableAnswers
from recombine.explore.guard import HEADERS

pytest.importorskip("starlette", reason="needs the extra explore")
from recombine.explore.server import QUESTIONS, loopback_socket, table_app

TOKEN, PORT = "right-token", 8123
CELLS = [[0, 0], [0, 1], [1, 0], [2, 2]]


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

    def get(self, path: str, params: dict[str, str] | None = None, headers: dict[str, str] | None = None) -> Answer:
        return self.request("GET", path, params, headers)

    def request(
        self, method: str, path: str, params: dict[str, str] | None = None, headers: dict[str, str] | None = None
    ) -> Answer:
        path, _, query = path.partition("?")
        given = {"host": f"127.0.0.1:{PORT}", **(headers or {})}
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "root_path": "",
            "query_string": "&".join(part for part in (query, urlencode(params or {})) if part).encode(),
            "headers": [(name.encode(), value.encode("latin-1")) for name, value in given.items()],
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


def ask(client: Client, path: str, headers: dict[str, str] | None = None, **words: str) -> Any:
    return client.get(path, params={"token": TOKEN, **words}, headers=headers)


def test_the_page_is_handed_out_under_a_policy_of_its_own(client: Client) -> None:
    first, second = ask(client, "/"), ask(client, "/")
    assert first.status_code == 200
    assert first.headers["content-type"] == "text/html; charset=utf-8"
    policy = first.headers["content-security-policy"]
    nonce = re.search(r"script-src 'nonce-([\w-]+)'", policy)
    assert nonce is not None
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http-equiv" not in first.text
    assert nonce[1] not in second.text
    for tag in re.findall(r"<script[^>]*>|<style[^>]*>", first.text):
        assert f'nonce="{nonce[1]}"' in tag or 'type="application/json"' in tag


def test_the_table_stands_in_the_page_and_no_name_ends_it(client: Client, answers: TableAnswers) -> None:
    text = ask(client, "/").text
    found = re.search(r'<script type="application/json" id="served-table">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    assert json.loads(found[1])["factors"] == answers.record["factors"]
    assert "<b>" not in found[1]


def test_the_page_s_own_script_comes_only_with_a_table_to_paint_on(answers: TableAnswers) -> None:
    large = rc.audit(rc.Design.from_cells([[0, 0], [1, 150]]))
    sizes = []
    for one in (answers, TableAnswers(large)):
        client = Client(table_app(one, TOKEN, PORT))
        sizes.append(ask(client, "/").text.count("<script nonce"))
    assert sizes == [2, 1]


@pytest.mark.parametrize("path", ["/", "/cell", "/nowhere"])
def test_every_answer_has_the_strict_headers(client: Client, path: str) -> None:
    for found in (ask(client, path, at="1,1"), client.get(path), ask(client, path, {"host": "evil.example"})):
        for name, value in HEADERS.items():
            if name != "content-security-policy" or path != "/":
                assert found.headers[name] == value
        assert "server" not in found.headers


@pytest.mark.parametrize("path", ["/", *QUESTIONS])
@pytest.mark.parametrize("words", [{}, {"token": ""}, {"token": "wrong"}, {"token": TOKEN + "x"}, {"token": "ä"}])
def test_without_the_token_nothing_is_told(client: Client, path: str, words: dict[str, str]) -> None:
    found = client.get(path, params=words)
    assert found.status_code == 403
    assert found.text.count("\n") == 1
    assert "token" in found.text


def test_two_tokens_are_none(client: Client) -> None:
    assert client.get(f"/?token={TOKEN}&token=wrong").status_code == 403


@pytest.mark.parametrize(
    "host", ["evil.example", f"evil.example:{PORT}", "127.0.0.1", "127.0.0.1:1", f"127.0.0.1.evil.example:{PORT}", ""]
)
def test_another_host_is_refused(client: Client, host: str) -> None:
    found = ask(client, "/cell", {"host": host}, at="1,1")
    assert (found.status_code, found.text.count("\n")) == (403, 1)
    assert "Host" in found.text


def test_the_machine_may_be_called_localhost(client: Client) -> None:
    name = f"localhost:{PORT}"
    assert ask(client, "/", {"host": name, "origin": f"http://{name}"}).status_code == 200
    assert ask(client, "/", {"host": name, "origin": f"http://127.0.0.1:{PORT}"}).status_code == 403


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": f"https://127.0.0.1:{PORT}"},
        {"origin": "http://127.0.0.1:1"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_another_site_is_refused(client: Client, headers: dict[str, str]) -> None:
    found = ask(client, "/cell", headers, at="1,1")
    assert (found.status_code, found.text) == (403, "refused: the request comes from another site\n")


def test_a_link_may_be_followed_but_not_framed(client: Client) -> None:
    assert ask(client, "/", {"sec-fetch-site": "cross-site", "sec-fetch-dest": "document"}).status_code == 200
    assert ask(client, "/", {"sec-fetch-site": "cross-site", "sec-fetch-dest": "iframe"}).status_code == 403


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE"])
def test_only_get_is_answered(client: Client, method: str) -> None:
    assert client.request(method, "/cell", params={"token": TOKEN, "at": "1,1"}).status_code == 405


@pytest.mark.parametrize("path", ["/nowhere", "/cell/", "/served.js", "/../pyproject.toml", "/page.html"])
def test_nothing_else_is_served(client: Client, path: str) -> None:
    found = ask(client, path)
    assert found.status_code == 404
    assert found.text.count("\n") == 0
    assert list(found.json()) == ["error"]


def test_a_cell_is_answered_as_the_audit_has_it(client: Client, answers: TableAnswers) -> None:
    told = ask(client, "/cell", at="1,1").json()
    assert told["word"] == "determined"
    assert told["value"]["predicted"] == answers.audit.values.predict(np.array([[1, 1]]))[0] == 5.0
    proof = ask(client, "/certificate", at="1,1").json()
    assert [term["cell"] for term in proof["terms"]] == answers.audit.certificate([1, 1]).cells.tolist()


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


def test_a_defect_is_one_line_too(client: Client, answers: TableAnswers, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> object:
        raise ZeroDivisionError("by\nzero")

    monkeypatch.setattr(answers, "cell", fail)
    found = ask(client, "/cell", at="1,1")
    assert found.status_code == 500
    assert found.json() == {"error": "a defect of recombine, not of the question: ZeroDivisionError: by zero"}


def test_the_socket_is_on_the_loopback_interface() -> None:
    with loopback_socket() as bound:
        host, port = bound.getsockname()
        assert host == "127.0.0.1"
        bound.listen()
        with pytest.raises(InputError, match=f"port {port} is taken"):
            loopback_socket(port)
