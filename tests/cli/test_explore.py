"""``recombine explore``: where the page is, and that it is opened unless one says no; and with a table, served."""

from __future__ import annotations

import http.client
import json
import re
import signal
import socket
import subprocess
import sys
import time
import webbrowser
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest

from recombine.errors import install_advice
from recombine.explore import page_path


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    addresses: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda address: not addresses.append(address))
    return addresses


def test_the_page_is_opened(run, opened) -> None:
    code, out, err = run("explore")
    assert (code, err) == (0, "")
    assert Path(out.strip()) == page_path()
    assert opened == [page_path().as_uri()]


def test_it_can_be_told_only_where_it_is(run, opened) -> None:
    assert run("explore", "--no-open")[0] == 0
    assert opened == []


def test_a_machine_without_a_browser_is_told_what_to_do(run, monkeypatch) -> None:
    monkeypatch.setattr(webbrowser, "open", lambda address: False)
    code, out, _ = run("explore")
    assert code == 0
    assert "open this file" in out


@pytest.mark.parametrize("option", [["--factors", "a,b"], ["--port", "8000"], ["--crossed"]])
def test_options_about_a_table_need_one(run, opened, option) -> None:
    code, _, err = run("explore", *option)
    assert code == 2
    assert f"{option[0]} is about a table" in err
    assert opened == []


@pytest.mark.parametrize(
    "arguments",
    [
        ["missing.csv"],
        ["TABLE", "--factors", "color,shape"],
        ["TABLE", "--factors", "colour"],
        ["TABLE", "--factors", "colour,shape", "--outcome", "weight"],
        ["TABLE", "--factors", "colour,shape", "--outcome", "mass", "--structure", "sums"],
        ["TABLE", "--factors", "colour,shape", "--order", "9"],
        ["TABLE", "--factors", "colour,shape", "--nested", "colour"],
    ],
)
def test_bad_tables_and_typos_are_told_as_by_the_audit(run, table, arguments) -> None:
    given = [str(table) if word == "TABLE" else word for word in arguments]
    assert run("explore", *given, "--no-open") == run("audit", *given)


def test_a_missing_extra_is_named(run, table, monkeypatch) -> None:
    monkeypatch.delitem(sys.modules, "recombine.explore.server", raising=False)
    monkeypatch.setitem(sys.modules, "starlette.applications", None)
    monkeypatch.setitem(sys.modules, "starlette", None)
    code, out, err = run("explore", table)
    assert (code, out) == (2, "")
    assert err == (
        "recombine: the package 'starlette' is not installed, and serving a table needs it; "
        f"get it with {install_advice('explore')}\n"
    )


def test_a_taken_port_is_one_line(run, table) -> None:
    pytest.importorskip("starlette")
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        code, out, err = run("explore", table, "--port", port, "--no-open")
    assert (code, out) == (2, "")
    assert err == f"recombine: port {port} is taken; give --port another number, or leave it out for a free one\n"


@contextmanager
def served(*arguments: object) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run the command in a process of its own and hand out the link that it prints."""
    command = [sys.executable, "-m", "recombine", "explore", *map(str, arguments), "--no-open"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            link = process.stdout.readline().strip()
            assert process.stdout.readline() == "Ctrl-C ends it.\n"
            yield process, link
        finally:
            if process.poll() is None:
                process.kill()


def answer(link: str, path: str = "", **words: str) -> tuple[int, str]:
    """Return status and text of a request to the program behind a link."""
    where = urlsplit(link)
    query = urlencode({**dict(parse_qsl(where.query)), **words})
    with closing(http.client.HTTPConnection(where.netloc, timeout=20)) as connection:
        connection.request("GET", f"/{path}?{query}")
        found = connection.getresponse()
        return found.status, found.read().decode()


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is sent as a signal")
def test_a_table_is_served_until_ctrl_c(table) -> None:
    pytest.importorskip("starlette")
    with served(table, "--factors", "colour,shape", "--outcome", "mass", "--split", "part=train") as (process, link):
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{43}", link)
        status, page = answer(link)
        assert status == 200
        assert "served-table" in page
        status, told = answer(link, "cell", at="0,0")
        assert json.loads(told)["labels"] == ["blue", "ball"]
        assert json.loads(told)["value"]["predicted"] == pytest.approx(4.25)
        assert answer(link, "cell", at="0,0", token="wrong")[0] == 403
        # A connection that is kept open does not keep the program.
        with socket.create_connection(("127.0.0.1", urlsplit(link).port), timeout=20):
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=20)
    assert process.returncode == 0
    assert (out, err) == ("", "")


def test_the_link_is_opened_in_a_browser(run, table, opened, monkeypatch) -> None:
    server = pytest.importorskip("recombine.explore.server")
    monkeypatch.setattr(server, "serve", lambda app, listener: [time.sleep(0.01) for _ in range(500) if not opened])
    code, out, _ = run("explore", table, "--factors", "colour,shape")
    assert code == 0
    assert opened == [out.splitlines()[0]]
