"""Connections that never ask, never end their request or never read: they go, and others are answered meanwhile."""

from __future__ import annotations

import http.client
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import pytest

pytest.importorskip("resource", reason="limits of files are those of POSIX")
pytest.importorskip("uvicorn", reason="needs the extra explore")
from recombine.explore.connections import BATCH_SIZE, MAX_CONNECTIONS, MAX_WAITING_SECONDS
from recombine.words.page import OUT_OF_FILES

#: A server of a word that can be asked for slowly, with a limit of files and of seconds.
SERVER = """
import asyncio, resource, sys
from recombine.explore import connections, server
files, connections.MAX_WAITING_SECONDS = int(sys.argv[1]), float(sys.argv[2])
async def app(scope, receive, send):
    await asyncio.sleep(3 * connections.MAX_WAITING_SECONDS if scope["path"] == "/slow" else 0)
    body = b"x" * 10_000_000 if scope["path"] == "/large" else b"word"
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
    await send({"type": "http.response.body", "body": body})
resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
listener = server.loopback_socket()
print(listener.getsockname()[1], flush=True)
server.serve(app, listener)
"""
HALF = b"GET / HTTP/1.1\r\nHost: 127."


@contextmanager
def serving(stderr: IO[str], files: int = 256, seconds: float = 60.0) -> Iterator[int]:
    """Serve in a process of its own, and hand out the port."""
    command = [sys.executable, "-c", SERVER, str(files), str(seconds)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, text=True) as process:
        try:
            assert process.stdout is not None
            yield int(process.stdout.readline())
        finally:
            process.terminate()


@pytest.fixture
def stderr(tmp_path: Any) -> Iterator[IO[str]]:
    with open(tmp_path / "stderr", "w+") as stream:
        yield stream


@pytest.fixture(scope="module")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, IO[str]]]:
    """The port of a server that waits for half a second, and its standard error."""
    with open(tmp_path_factory.mktemp("hasty") / "stderr", "w+") as stream, serving(stream, seconds=0.5) as port:
        yield port, stream


def lines_of(stream: IO[str]) -> list[str]:
    stream.seek(0)
    return stream.read().splitlines()


def asked(port: int, path: str = "/") -> bytes:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
        connection.request("GET", path)
        return connection.getresponse().read()


def half_open(stack: ExitStack, port: int, count: int) -> list[socket.socket]:
    """Open connections that begin a request and do not end it."""
    half = []
    for _ in range(count):
        half.append(stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=30)))
        with suppress(ConnectionError):
            half[-1].sendall(HALF)
    return half


def is_closed(connection: socket.socket) -> bool:
    """Whether the server has closed a connection on which it has nothing to say."""
    connection.setblocking(False)
    try:
        return connection.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionError:
        return True


def seconds_until_closed(connection: socket.socket, drip: bytes, every: float) -> float:
    """Send bit after bit until the server hangs up."""
    start = time.monotonic()
    while time.monotonic() - start < 20:
        with suppress(ConnectionError):
            connection.sendall(drip)
        time.sleep(every)
        connection.settimeout(0.01)
        try:
            if not connection.recv(65536):
                return time.monotonic() - start
        except TimeoutError:
            continue
        except ConnectionError:
            return time.monotonic() - start
    raise AssertionError("the connection is still open")


def test_limits_are_those_of_the_documents() -> None:
    text = (Path(__file__).parents[2] / "SECURITY.md").read_text(encoding="utf-8")
    assert f"{MAX_CONNECTIONS} connections" in text
    assert f"{MAX_WAITING_SECONDS:.0f} seconds" in text


@pytest.mark.slow
def test_300_unfinished_requests_under_256_files_keep_nobody_out(stderr: IO[str]) -> None:
    """Their time is not up, so it is the limit of connections that makes room."""
    with serving(stderr) as port, ExitStack() as stack:
        assert asked(port) == b"word"
        start = time.monotonic()
        half = half_open(stack, port, 300)
        assert asked(port) == b"word"
        assert time.monotonic() - start < 5, "nobody has to knock again, a second later"
        time.sleep(0.2)
        still_open = [place for place, connection in enumerate(half) if not is_closed(connection)]
        assert len(still_open) <= MAX_CONNECTIONS
        assert still_open == list(range(300 - len(still_open), 300)), "the oldest give way"
        assert lines_of(stderr) == []


@pytest.mark.slow
def test_answers_that_are_worked_on_do_not_give_way(hasty: tuple[int, IO[str]]) -> None:
    port, _ = hasty
    with ExitStack() as stack:
        slow = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=30))
        slow.sendall(b"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
        time.sleep(0.1)
        half_open(stack, port, MAX_CONNECTIONS + BATCH_SIZE)
        assert slow.recv(65536).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(
    ("beginning", "drip"),
    [
        (b"", b""),
        (HALF, b"0"),
        (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b""),
        (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" + HALF, b"0"),
        (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n", b"0"),
    ],
    ids=["nothing", "half a header", "kept alive", "half a second header", "a body in bits"],
)
def test_no_connection_waits_for_ever(hasty: tuple[int, IO[str]], beginning: bytes, drip: bytes) -> None:
    port, stderr = hasty
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(beginning)
        assert 0.3 < seconds_until_closed(connection, drip, every=0.1) < 5
        assert lines_of(stderr) == []


@pytest.mark.slow
@pytest.mark.parametrize("questions", [1, 2])
def test_answers_that_are_not_read_are_not_kept(hasty: tuple[int, IO[str]], questions: int) -> None:
    port, _ = hasty
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n" * questions)
        time.sleep(1.5)
        size = 0
        with suppress(ConnectionError):
            while block := connection.recv(1 << 20):
                size += len(block)
        assert size < 10_000_000
        assert asked(port, "/large") == b"x" * 10_000_000


@pytest.mark.slow
def test_running_out_of_files_is_one_line_and_passes(stderr: IO[str]) -> None:
    with serving(stderr, files=40, seconds=0.5) as port, ExitStack() as stack:
        half_open(stack, port, 60)
        start = time.monotonic()
        assert asked(port) == b"word"
        assert time.monotonic() - start < 10
        assert lines_of(stderr) == [OUT_OF_FILES]


@pytest.mark.slow
def test_an_answer_under_way_goes_out_when_the_program_is_ended(stderr: IO[str]) -> None:
    with ExitStack() as stack:
        with serving(stderr, seconds=0.1) as port:
            waiting = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            stack.callback(waiting.close)
            waiting.request("GET", "/slow")
            assert asked(port) == b"word"  # who asked before is at work by now
        assert waiting.getresponse().read() == b"word"
