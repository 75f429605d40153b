"""The page with a table behind it: served to this machine only, until Ctrl-C."""

from __future__ import annotations

import asyncio
import errno
import re
import secrets
import socket
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from importlib.resources import files
from threading import Thread
from typing import TYPE_CHECKING, Any

import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from recombine.errors import InputError, RecombineError
from recombine.explore.answers import BusyError, NotInTableError
from recombine.explore.connections import BATCH_SIZE, OneComplaint, QueueServer, TimedConnection
from recombine.explore.guard import Asgi, Guard, content_policy
from recombine.explore.scene import page_path

if TYPE_CHECKING:
    from recombine.explore.answers import TableAnswers

LOOPBACK = "127.0.0.1"


class DefectError(RecombineError):
    """What nobody foresaw while a question was answered."""


#: Statuses of problems; others are bad questions, 400.
STATUS = {NotInTableError: 404, BusyError: 503, DefectError: 500}

#: A question in the link's words -> the answer as a record.
Question = Callable[["TableAnswers", Mapping[str, str]], object]


def loopback_socket(port: int = 0) -> socket.socket:
    """Return a socket that listens on the loopback interface and no other; port 0 takes any that is free.

    One that is bound and does not listen yet can be taken by any other user of the machine.

    Examples
    --------
    >>> with loopback_socket() as bound:
    ...     bound.getsockname()[0]
    '127.0.0.1'
    """
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    # On Windows the option that elsewhere only skips the pause after an earlier server would let two have one port.
    option = getattr(socket, "SO_EXCLUSIVEADDRUSE", None) if sys.platform == "win32" else socket.SO_REUSEADDR
    if option is not None:
        bound.setsockopt(socket.SOL_SOCKET, option, 1)
    try:
        bound.bind((LOOPBACK, port))
        bound.listen()
    except OSError as error:
        bound.close()
        if error.errno in (errno.EACCES, errno.EPERM):
            raise InputError(f"port {port} may not be used by this user; give --port a number above 1023") from None
        raise InputError(f"port {port} is taken; give --port another number, or leave it out for a free one") from None
    return bound


def table_app(answers: TableAnswers, token: str, port: int) -> Guard:
    """Return the application that hands out the page and answers its questions, behind the `Guard`."""

    async def show(request: Request) -> Response:
        nonce = secrets.token_urlsafe(16)
        ours = f"'nonce-{nonce}'"
        policy = content_policy(script_src=ours, style_src=ours, img_src="data:", connect_src="'self'")
        headers = {"content-security-policy": policy}
        return Response(served_page(nonce), headers=headers, media_type="text/html; charset=utf-8")

    routes = [Route("/", show), *(Route(path, _endpoint(answers, question)) for path, question in QUESTIONS.items())]
    app = Starlette(routes=routes, exception_handlers={HTTPException: _no_such_address})
    app.router.redirect_slashes = False
    return Guard(app, token, port)


def serve(app: Asgi, listener: socket.socket) -> None:
    """Serve until Ctrl-C (or SIGTERM) comes."""
    options: dict[str, Any] = {"log_level": "critical", "access_log": False, "server_header": False}
    options |= {"http": TimedConnection, "backlog": BATCH_SIZE, "timeout_graceful_shutdown": 1}
    server = QueueServer(uvicorn.Config(app, ws="none", lifespan="off", **options))

    async def run() -> None:
        asyncio.get_running_loop().set_exception_handler(OneComplaint())
        await server.serve(sockets=[listener])

    with suppress(KeyboardInterrupt):  # raised again once every answer has gone out
        asyncio.run(run())


def served_page(nonce: str) -> str:
    """Return the page with the script that asks this program, all under one nonce; it holds nothing of the table."""
    page = page_path().read_text(encoding="utf-8")
    package = files("recombine.explore")
    style, script = ((package / name).read_text(encoding="utf-8") for name in ("served.css", "served.js"))
    # The header sets the policy: the page's own forbids every request.
    page = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>\n', "", page, count=1)
    head, page_script, tail = re.split(r"<script>|</script>\n(?=</body>)", page, maxsplit=2)
    head = head.replace("<style>", f'<style nonce="{nonce}">{style}</style>\n<style nonce="{nonce}">', 1)
    scripts = "".join(f'<script nonce="{nonce}">{text}</script>\n' for text in (script, page_script))
    return head + scripts + tail


def _endpoint(answers: TableAnswers, question: Question) -> Callable[[Request], Any]:
    async def respond(request: Request) -> Response:
        try:
            answer = await _beside(lambda: question(answers, request.query_params))
        except RecombineError as error:
            return _problem(error)
        except Exception as error:
            return _problem(DefectError(f"a defect of recombine, not of the question: {type(error).__name__}: {error}"))
        return Response(msgspec.json.encode(answer), media_type="application/json")

    return respond


async def _beside(work: Callable[[], object]) -> object:
    """Do ``work`` in a thread that does not keep the program from ending."""
    done = Future[object]()
    done.set_running_or_notify_cancel()  # who asked may go meanwhile

    def run() -> None:
        try:
            done.set_result(work())
        except Exception as error:
            done.set_exception(error)

    Thread(target=run, daemon=True).start()
    return await asyncio.wrap_future(done)


def _problem(error: Exception) -> Response:
    status = next((status for kind, status in STATUS.items() if isinstance(error, kind)), 400)
    line = msgspec.json.encode({"error": " ".join(str(error).split())})
    return Response(line, status, media_type="application/json")


def _no_such_address(request: Request, error: Exception) -> Response:
    return _problem(NotInTableError(f"nothing is at {request.url.path}; ask for the page at /"))


def _numbers(words: Mapping[str, str], name: str, count: int | None = None) -> list[int]:
    """Read whole numbers separated by commas; so many, if ``count`` is given."""
    text = words.get(name, "")
    if not re.fullmatch(r"\d{1,12}(,\d{1,12})*", text, re.ASCII):
        raise InputError(f"{name}={text[:40]!r} are no whole numbers separated by commas")
    numbers = [int(word) for word in text.split(",")]
    if count is not None and len(numbers) != count:
        raise InputError(f"{name}={text[:40]!r} are {len(numbers)} numbers; give {count}")
    return numbers


def _pair(words: Mapping[str, str], name: str) -> tuple[int, int]:
    low, high = _numbers(words, name, 2)
    return low, high


def _window(answers: TableAnswers, words: Mapping[str, str]) -> object:
    first = _pair(words, "first") if "first" in words else None
    at = _numbers(words, "at")
    return answers.window(_pair(words, "sides"), at, first, _pair(words, "shape"), words.get("by", "name"))


def _beside_level(answers: TableAnswers, words: Mapping[str, str]) -> object:
    factor, level = _pair(words, "level")
    return answers.beside(factor, level, words.get("by", "name"), back="back" in words)


#: Where each question is asked.
QUESTIONS: dict[str, Question] = {
    "/table": lambda answers, words: answers.record,
    "/window": _window,
    "/bins": lambda answers, words: answers.bins(_pair(words, "sides"), _numbers(words, "at"), words.get("by", "name")),
    "/levels": lambda answers, words: answers.levels(_numbers(words, "factor", 1)[0], words.get("text", "")),
    "/beside": _beside_level,
    "/cell": lambda answers, words: answers.cell(_numbers(words, "at")),
    "/certificate": lambda answers, words: answers.certificate(_numbers(words, "at")),
}
