"""``recombine explore``: where the page is, and that it is opened unless one says no; and with a table, served."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
import webbrowser
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

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
def served(
    *arguments: object, opened: bool = False, environment: Mapping[str, str] | None = None
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run the command in a process of its own and hand out the link that it prints."""
    command = [sys.executable, "-m", "recombine", "explore", *map(str, arguments), *([] if opened else ["--no-open"])]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, **pipes, text=True, env=environment) as process:
        try:
            assert process.stdout is not None
            link = process.stdout.readline().strip()
            assert process.stdout.readline() == "Ctrl-C ends it.\n"
            yield process, link
        finally:
            if process.poll() is None:
                process.kill()


def answer(link: str, path: str = "/", headers: Mapping[str, str] | None = None) -> tuple[int, str, str]:
    """Return status, text and cookie of a request to the program behind a link."""
    with closing(http.client.HTTPConnection(urlsplit(link).netloc, timeout=20)) as connection:
        connection.request("GET", path, headers=headers or {})
        response = connection.getresponse()
        assert "server" not in response.headers, "nobody is told which versions answer"
        return response.status, response.read().decode(), response.headers.get("set-cookie", "").partition(";")[0]


def traded(link: str) -> dict[str, str]:
    """Trade a link's token for what the page sends."""
    status, text, cookie = answer(link, f"/?{urlsplit(link).query}")
    assert status == 200
    return {"cookie": cookie, "x-recombine-key": re.findall(r'"([\w-]{43})"', text)[0]}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is sent as a signal")
def test_a_table_is_served_until_ctrl_c(table) -> None:
    pytest.importorskip("starlette")
    with served(table, "--factors", "colour,shape", "--outcome", "mass", "--split", "part=train") as (process, link):
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{43}", link)
        secrets = traded(link)
        status, page, _ = answer(link, "/", secrets)
        assert status == 200
        assert "recombine-key" in page
        status, told, _ = answer(link, "/cell?at=0,0", secrets)
        assert json.loads(told)["labels"] == ["blue", "ball"]
        assert json.loads(told)["value"]["predicted"] == pytest.approx(4.25)
        assert answer(link, "/cell?at=0,0", {**secrets, "x-recombine-key": "wrong"})[0] == 403
        # A connection that is kept open does not keep the program.
        with socket.create_connection(("127.0.0.1", urlsplit(link).port), timeout=20):
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=20)
    assert process.returncode == 0
    assert (out, err) == ("", "")


def test_a_private_file_that_leads_to_the_page_is_opened_in_a_browser(run, table, opened, monkeypatch) -> None:
    server = pytest.importorskip("recombine.explore.server")
    files = []

    def serve(app: object, listener: socket.socket) -> None:
        while not opened:
            time.sleep(0.01)
        path = Path(url2pathname(urlsplit(opened[0]).path))
        files.append((path, path.read_text(), [stat.S_IMODE(each.stat().st_mode) for each in (path, path.parent)]))

    monkeypatch.setattr(server, "serve", serve)
    code, out, _ = run("explore", table, "--factors", "colour,shape")
    assert (code, len(opened)) == (0, 1)
    assert opened[0].startswith("file://")
    path, text, modes = files[0]
    link, token = out.splitlines()[0].split("token=")
    assert re.findall(r"0; url=([^\"]+?token=)[\w-]{43}\"", text) == [f"{link}token="]
    assert token not in text
    if sys.platform != "win32":
        assert modes == [0o600, 0o700]
    assert not path.parent.exists()


def test_where_no_file_can_be_written_the_link_is_left(run, table, opened, monkeypatch) -> None:
    server = pytest.importorskip("recombine.explore.server")
    monkeypatch.setattr(server, "serve", lambda app, listener: None)
    monkeypatch.setattr(tempfile, "tempdir", str(table / "nowhere"))
    code, out, _ = run("explore", table, "--factors", "colour,shape")
    assert (code, opened) == (0, [])
    assert out.endswith("no browser could be started; open the link in one\n")


#: What another user of the machine can learn: from arguments of processes, from the file that they name, by asking.
STRANGER = """
import encodings.idna, json, os, pathlib, sys, urllib.error, urllib.parse, urllib.request
os.setgroups([]); os.setgid(65534); os.setuid(65534)
lines = [path.read_bytes().decode(errors="replace") for path in pathlib.Path("/proc").glob("[0-9]*/cmdline")]
words = [word for line in lines for word in line.split(chr(0))]
path, page = pathlib.Path(sys.argv[1]), sys.argv[2]
errors = []
for attempt in (path.read_text, lambda: os.listdir(path.parent), path.with_name("x").touch, path.unlink):
    try:
        errors.append(str(attempt()))
    except OSError as error:
        errors.append(type(error).__name__)
for address in (page, page + "table"):
    try:
        errors.append(urllib.request.urlopen(address, timeout=20).status)
    except urllib.error.HTTPError as error:
        errors.append(error.code)
print(json.dumps([words, errors]))
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can act as another user")
def test_another_user_finds_neither_the_link_nor_its_file(table, tmp_path) -> None:
    pytest.importorskip("starlette")
    browser = tmp_path / "browser"
    browser.write_text("#!/bin/sh\nread line\n")  # until standard input ends
    browser.chmod(0o755)
    environment = {**os.environ, "BROWSER": str(browser), "TMPDIR": "/tmp"}
    with served(table, "--factors", "colour,shape", opened=True, environment=environment) as (process, link):
        address = _opened_by_child_of(process.pid)
        path, port = Path(urlsplit(address).path), urlsplit(link).port
        stranger = [sys.executable, "-I", "-S", "-c", STRANGER, path, f"http://127.0.0.1:{port}/"]
        result = subprocess.run(stranger, capture_output=True, text=True, timeout=60)
        assert result.returncode == 0, result.stderr
        words, errors = json.loads(result.stdout)
        assert address in words, "arguments can be read"
        assert [word for word in words if f":{port}/?" in word] == []
        assert errors == ["PermissionError"] * 4 + [403, 403]
        # The owner's browser reads it and is led to the page, once.
        behind = re.findall(r"url=([^\"]+)", path.read_text())[0]
        assert traded(behind) == traded(link)
        assert answer(behind, f"/?{urlsplit(behind).query}")[0] == 403
        process.terminate()
        process.wait(timeout=20)
        assert not path.parent.exists()


def _opened_by_child_of(parent: int) -> str:
    """Wait until a child of a process has a file's address as an argument, and return it."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for path in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):
                if path.read_text().rpartition(")")[2].split()[1] == str(parent):
                    for word in path.with_name("cmdline").read_bytes().decode().split(chr(0)):
                        if word.startswith("file://"):
                            return word
        time.sleep(0.05)
    raise AssertionError("no browser was started")
