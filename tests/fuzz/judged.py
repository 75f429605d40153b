"""One call of the command line on drawn inputs, and what it did that no call may do."""

from __future__ import annotations

import contextlib
import faulthandler
import fcntl
import hashlib
import io
import json
import os
import re
import resource
import shlex
import signal
import stat
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import forging
from commands import Drawn, draw_command
from inputs import Draw

#: Seconds after which a call counts as hanging, and bytes of memory that it may ask for.
PATIENCE = 60
MEMORY = 6 * 2**30
ENCODINGS = ["utf-8"] * 8 + ["ascii", "cp1252", "latin-1", "utf-16", "cp437"]
#: Lines that say what is still being done.
STILL = re.compile(r"^still [^\n]* \(\d+ s\)\n", re.MULTILINE)
#: What standard output may be besides a file.
STREAMS = ["file"] * 30 + ["closed", "full", "gone", "both closed", "no input"]


@dataclass
class Case:
    """One drawn call: where its inputs lie, what is called, on which streams."""

    number: int
    folder: Path
    drawn: Drawn
    encoding: str
    stream: str
    file_size: int | None
    before: dict[str, tuple[int, str, int]]
    pipes: dict[str, int] = field(default_factory=dict)  # read where files are limited, lest the answer is cut too

    @property
    def story(self) -> str:
        """The call as a shell would take it, with what was done to its streams."""
        odd = [word for word in (self.encoding, self.stream) if word not in ("utf-8", "file")]
        odd += [f"files of at most {self.file_size} bytes"] if self.file_size is not None else []
        return f"case {self.number}: recombine {shlex.join(self.drawn.arguments)}" + (
            f"  ({', '.join(odd)})" if odd else ""
        )


def draw_case(seed: int, number: int, root: Path) -> Case:
    """Make the inputs of one case in a folder of its own; the same seed and number make the same bytes."""
    draw = Draw(f"{seed}/{number}")
    folder = root / f"case-{number}"
    for part in ("in", "tmp", "home"):
        (folder / part).mkdir(parents=True)
    drawn = draw_command(draw, folder / "in")
    encoding, stream = draw.choice(ENCODINGS), draw.choice(STREAMS)
    file_size = draw.choice([0, 10, 1000, 20_000]) if drawn.outputs and draw.odd(0.2) else None
    return Case(number, folder, drawn, encoding, stream, file_size, _inventory(folder / "in"))


def _inventory(folder: Path) -> dict[str, tuple[int, str, int]]:
    """Return kind, digest and time of every file of a folder."""
    found = {}
    for path in sorted(folder.rglob("*")):
        about = path.lstat()
        plain = stat.S_ISREG(about.st_mode)
        digest = hashlib.sha256(path.read_bytes()).hexdigest() if plain else ""
        found[str(path.relative_to(folder))] = (stat.S_IFMT(about.st_mode), digest, about.st_mtime_ns if plain else 0)
    return found


def call(case: Case) -> int:
    """Run the case in this process, with streams of its own, and return its exit code."""
    from recombine.cli import main

    (case.folder / "began").touch()
    os.chdir(case.folder / "in")
    os.environ.update(TMPDIR=str(case.folder / "tmp"), HOME=str(case.folder / "home"), NO_COLOR="")
    os.environ.pop("NO_COLOR")
    tempfile.tempdir = None
    _open_streams(case)
    sys.argv = ["recombine", *case.drawn.arguments]
    if case.file_size is not None:
        sys.dont_write_bytecode = True  # Python cuts it short without a word, and finds it broken ever after
        resource.setrlimit(resource.RLIMIT_FSIZE, (case.file_size, resource.RLIM_INFINITY))
    signal.alarm(PATIENCE)
    try:
        main(case.drawn.arguments)
    except SystemExit as stopped:
        code = stopped.code if isinstance(stopped.code, int) else 0 if stopped.code is None else 99
    except BaseException:
        import traceback

        os.write(2, b"Traceback escaped: " + traceback.format_exc().encode())
        code = 98
    finally:
        signal.alarm(0)
    if case.file_size is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            try:
                stream.flush()
            except (OSError, ValueError):
                code = 120  # as the interpreter does
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for number, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(nowhere, number)
        with contextlib.suppress(OSError, ValueError, AttributeError):
            getattr(sys, name).flush()  # what it could not get rid of must not turn up in the next case
        if name in case.pipes:
            with open(case.pipes[name], "rb") as pipe:
                (case.folder / name).write_bytes(pipe.read())
    os.close(nowhere)
    return code


def _open_streams(case: Case) -> None:
    """Give the process the case's standard streams, in the encoding drawn for it."""
    for number, name in ((1, "stdout"), (2, "stderr")):
        handle = os.open(case.folder / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        if case.file_size is not None:
            os.close(handle)
            case.pipes[name], handle = os.pipe()
            fcntl.fcntl(handle, fcntl.F_SETPIPE_SZ, 2**20)
        os.dup2(handle, number)
        os.close(handle)
    handle = os.open(os.devnull, os.O_RDONLY)
    os.dup2(handle, 0)
    os.close(handle)
    if case.stream == "full":
        handle = os.open("/dev/full", os.O_WRONLY)
        os.dup2(handle, 1)
        os.close(handle)
    elif case.stream == "gone":
        reader, writer = os.pipe()
        os.close(reader)
        os.dup2(writer, 1)
        os.close(writer)
    closed = {"closed": [1], "both closed": [1, 2], "no input": [0]}.get(case.stream, [])
    for number, name in ((0, "stdin"), (1, "stdout"), (2, "stderr")):
        # As the interpreter does at its start: a stream that is closed is none.
        raw = None if number in closed else io.FileIO(number, "r" if number == 0 else "w", closefd=False)
        buffer = raw and (io.BufferedReader(raw) if number == 0 else io.BufferedWriter(raw))
        encoding = case.encoding if number else "utf-8"
        errors = "backslashreplace" if number == 2 else "strict"
        opened = buffer and io.TextIOWrapper(buffer, encoding=encoding, errors=errors, line_buffering=number == 2)
        setattr(sys, name, opened)


def plain(case: Case, stream: str) -> str:
    """Return what was written to a stream, as the encoding of the case reads it."""
    data = (case.folder / stream).read_bytes()
    try:
        return data.decode(case.encoding, "replace")
    except UnicodeError:  # UTF-16 without its mark
        return data.decode("latin-1")


def violations(case: Case, code: int, seconds: float) -> list[str]:
    """Say what a call did that no call may do; nothing if it kept the rules."""
    out, err = ((case.folder / name).read_bytes() for name in ("stdout", "stderr"))
    found = []
    allowed = {0, 1, 2}
    if case.stream == "full":
        allowed |= {120} if not out else set()
    if code not in allowed:
        found.append(f"exit code {code}")
    if b"Traceback" in err or b"Traceback" in out:
        found.append("a traceback")
    text, words = plain(case, "stdout"), plain(case, "stderr")
    # What takes long on a busy machine says so in lines of its own before.
    last_words = STILL.sub("", words)
    one_line = last_words.count("\n") == 1 and last_words.startswith("recombine: ")
    if code in (2, 3) and case.stream != "both closed" and not one_line:
        found.append(f"{last_words.count(chr(10))} lines on stderr at exit {code}")
    if code in (0, 1) and "Warning" in words:
        found.append("a warning of Python's on stderr")
    for name, part in (("stdout", text), ("stderr", words)):
        if case.encoding != "utf-16" and (odd := forging.OBEYED.search(part)):
            found.append(f"{odd.group()!r} on {name}")
    arguments = case.drawn.arguments
    if code in (0, 1) and "--json" in arguments and case.stream in ("file", "no input") and "--help" not in arguments:
        try:
            json.loads(text)
        except ValueError as error:
            found.append(f"stdout is no JSON: {error}")
    found += _changes(case, code)
    found += _forgeries(case, code, text, words)
    if seconds > PATIENCE:
        found.append(f"took {seconds:.0f} s")
    return [f"{what}\n    {words.strip()[-400:]!r}" for what in found]


def _forgeries(case: Case, code: int, text: str, words: str) -> list[str]:
    """Say what of hostile names is obeyed on the streams or in a file that was written."""
    names, arguments = case.drawn.names, case.drawn.arguments
    if case.encoding == "utf-16" or not names:
        return [f"{sign.group()!r} on a stream" for sign in forging.COMMAND.finditer(f"{words}\n{text}")][:1]
    found = [f"stderr: {wrong}" for wrong in forging.forgeries(words, names)]
    if "--json" in arguments and code in (0, 1) and case.stream in ("file", "no input"):
        found += [f"stdout: {wrong}" for wrong in forging.forgeries_in_json(text, names)]
    elif "--markdown" in arguments and "-" in arguments and case.stream in ("file", "no input"):
        found += [f"stdout: {wrong}" for wrong in forging.forgeries_in_markdown(text, names)]
    else:
        found += [f"stdout: {wrong}" for wrong in forging.forgeries(text, names)]
    for path in case.drawn.outputs if code in (0, 1) else ():
        if path.suffix != ".csv" and path.is_file():
            written = path.read_text(encoding="utf-8")
            found += [f"{path.suffix}: {wrong}" for wrong in _judges(arguments)[path.suffix](written, names)]
    return found


def _judges(arguments: list[str]) -> dict[str, Callable[[str, list[str]], list[str]]]:
    scripts = 2 if arguments[0] == "audit" else 0
    return {
        ".html": lambda text, names: forging.forgeries_in_html(text, names, scripts),
        ".md": forging.forgeries_in_markdown,
        ".toml": forging.forgeries,
    }


def _changes(case: Case, code: int) -> list[str]:
    """Say which files changed, appeared or stayed that should not."""
    inside = case.folder / "in"
    after = _inventory(inside)
    outputs = {os.path.relpath(path, inside) for path in case.drawn.outputs}
    forced = outputs if "--force" in case.drawn.arguments and code in (0, 1) else set()
    found = [
        f"{name} was changed or removed"
        for name, was in case.before.items()
        if after.get(name) != was and name not in forced
    ]
    new = {name for name in after.keys() - case.before.keys() if name.partition("/")[0] != "store"}
    found += [f"{name} was left behind" for name in sorted(new - outputs)]
    if case.stream != "full":  # else the answer could not be printed, after the file was written
        found += [f"{name} was written in part" for name in sorted(new & outputs) if code not in (0, 1)]
    found += [f"{path.name} stayed in TMPDIR" for path in (case.folder / "tmp").iterdir()]
    return found


def limit() -> None:
    """Bound what a process of cases may take, and let a signal end what hangs with the place where it hung."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    faulthandler.enable(open(os.devnull, "w"))  # noqa: SIM115 - kept open as long as the process lives
    signal.signal(signal.SIGALRM, signal.SIG_DFL)


def timed(case: Case) -> tuple[int, float]:
    """Run a case and return its exit code and how long it took."""
    start = time.monotonic()
    return call(case), time.monotonic() - start
