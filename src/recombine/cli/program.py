"""The command line as a whole: one error style and stable exit codes.

0 fine, 1 a named finding, 2 bad input, 3 a defect of the package; 130 stopped, from the keyboard or by a signal.
"""

from __future__ import annotations

import errno
import logging
import os
import sys
import tempfile
import traceback
from collections.abc import Sequence
from typing import Any, NoReturn

import typer

from recombine.cli.commands import app
from recombine.cli.completion import ASKED
from recombine.errors import InputError, RecombineError, StoppedError
from recombine.interrupts import requests_interrupt
from recombine.report.screen import fit_streams, hush
from recombine.writing import printable

#: The base of every complaint about the command itself; typer carries it under different addresses by version.
_UsageProblem: Any = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; every error is one line on stderr: exit code 2, or 3 for what nobody foresaw."""
    fit_streams()
    os.environ["MPLBACKEND"] = "agg"  # figures go to files; that of a notebook this was started from may not be here
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # a home it cannot write to is no news to anybody
    try:
        given = sys.argv[1:] if arguments is None else list(arguments)
        _refuse_empty(given)
        with requests_interrupt():
            code = app(args=given, prog_name="recombine", standalone_mode=False)
            if sys.stdout is not None and not sys.stdout.closed:
                sys.stdout.flush()  # here a reader that has gone can still be dealt with
    except StoppedError as error:
        _stop(str(error), 130)
    except RecombineError as error:
        _stop(str(error))
    except _UsageProblem as error:
        _stop(_usage(error))
    except (BrokenPipeError, SystemExit) as end:  # the reader of a help page has gone, either by version; or typer
        if isinstance(end, SystemExit) and ASKED in os.environ:  # tells a shell whether there is anything to complete
            raise
        hush(sys.stdout)
        sys.exit(0)
    except OSError as error:
        cure = "make room" if error.errno == errno.ENOSPC else "check the path and its rights"
        _stop(f"{error.filename or 'the output'}: {error.strerror or error}; {cure}")
    except (KeyboardInterrupt, typer.Abort) as error:
        if isinstance(error.__cause__, EOFError):  # which typer takes for the end of an answer
            _stop(_defect(error.__cause__), 3)
        _stop("stopped", 130)
    except MemoryError:
        _stop("there is not enough memory for this; name fewer factors, or run it on a larger machine")
    except Exception as error:
        if "interrupted" in str(error).lower():  # what DuckDB makes of Ctrl-C while it reads
            _stop("stopped", 130)
        _stop(_defect(error), 3)
    if code == 130:  # what some versions of typer make of Ctrl-C
        _stop("stopped", 130)
    sys.exit(code if isinstance(code, int) else 0)


def _refuse_empty(arguments: Sequence[str]) -> None:
    """Refuse an option without a value, as an unset variable of the shell leaves it: it is no request for nothing."""
    for before, argument in zip(["", *arguments], arguments, strict=False):
        name, equals, value = argument.partition("=")
        if not argument.strip():
            raise InputError(
                f"{before if before.startswith('--') else 'an argument'} is empty; give it a value or leave it out"
            )
        if name.startswith("--") and equals and not value.strip():
            raise InputError(f"{name} is empty; give it a value or leave it out")


def _defect(error: Exception) -> str:
    """Say in one line what went wrong inside the package, and keep the traceback for whoever mends it."""
    what = f"{type(error).__name__}: {error}"
    brief = " ".join(what.split())[:200]
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="recombine-", suffix=".txt", delete=False, encoding="utf-8", errors="replace"
        ) as file:
            file.write("".join(traceback.format_exception(error)))
    except OSError:
        return f"a defect of recombine, not of the input: {brief} (the traceback could not be written anywhere)"
    return f"a defect of recombine, not of the input: {brief}; please report it with {file.name}, the traceback"


def _usage(error: Any) -> str:
    """Say in one line what is wrong with the command itself."""
    context = getattr(error, "ctx", None)
    message = str(error.format_message()).rstrip(".")
    if context is None:
        return message
    if message.startswith("Got unexpected extra argument"):
        message += ": several columns are given with commas and no blanks, as in --factors a,b"
    return f"{message}{' See' if message.endswith('?') else '; see'} {context.command_path} --help"


def _stop(message: str, code: int = 2) -> NoReturn:
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is sys.stderr:
                print(printable(f"recombine: {' '.join(message.split())}"), file=stream)
            stream.flush()
        except (OSError, ValueError):
            hush(stream)
    sys.exit(code)
