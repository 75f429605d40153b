"""Real processes on streams that are closed, full or gone, under signals, full disks and folders that take nothing."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

MANY = bool(os.environ.get("RECOMBINE_FUZZ_CASES"))
SOURCE = Path(__file__).parents[2] / "src"
pytestmark = pytest.mark.skipif(os.name != "posix", reason="streams and signals of POSIX")

TABLE = "a,b,y\nx,u,1\nx,v,2\nw,u,3\nz,v,4\nz,w,\u65e5\u672c\n".replace("\u65e5\u672c", "5")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "in" / "table \u65e5.csv"
    path.parent.mkdir()
    (tmp_path / "tmp").mkdir()
    path.write_text(TABLE, encoding="utf-8")
    return path


def shell(line: str, table: Path, **more: str) -> tuple[int, str]:
    """Run a line of shell in which ``recombine`` is the command and ``$T`` the table; exit code and stderr."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), "TMPDIR": str(table.parent.parent / "tmp"), **more}
    environment |= {"T": str(table), "OMP_NUM_THREADS": "1"}
    line = f'recombine() {{ "{sys.executable}" -m recombine "$@"; }}; {line}'
    done = subprocess.run(
        ["bash", "-c", line], env=environment, cwd=table.parent, capture_output=True, timeout=120, check=False
    )
    assert not list((table.parent.parent / "tmp").iterdir()), "nothing stays behind"
    assert table.read_text(encoding="utf-8") == TABLE
    assert b"Traceback" not in done.stderr
    assert b"Exception ignored" not in done.stderr
    return done.returncode, done.stderr.decode("utf-8", "replace")


AUDIT = 'recombine audit "$T" --factors a,b --plan 0'
FULL = "recombine: the output: No space left on device; make room\n"
#: No byte code either: Python cuts it short without a word, and finds it broken ever after.
SMALL_FILES = "export PYTHONDONTWRITEBYTECODE=1; ulimit -f 1"

STREAMS = [
    (f"{AUDIT} >&- 2>&- <&-", 0, ""),
    (f"{AUDIT} > /dev/full", 2, FULL),
    (f"{AUDIT} | true; exit ${{PIPESTATUS[0]}}", 0, ""),
    ("recombine --version > /dev/full", 2, FULL),
]
MORE_STREAMS = [
    (f"{AUDIT} --json > was.json; {AUDIT} --json --baseline was.json --verdicts out.csv > /dev/full", 2, FULL),
    (f"{AUDIT} >&-", 0, ""),
    (f"{AUDIT} --json >&-", 0, ""),
    (f"{AUDIT} <&-", 0, ""),
    (f"{AUDIT} --json > /dev/full", 2, FULL),
    (f"{AUDIT} 2> /dev/full", 0, ""),
    ("recombine audit nothing.csv 2> /dev/full", 2, ""),
    ("recombine audit nothing.csv 2>&-", 2, ""),
    ("recombine --version | true; exit ${PIPESTATUS[0]}", 0, ""),
    ("recombine --help | true; exit ${PIPESTATUS[0]}", 0, ""),
    ("recombine --help > /dev/full", 2, FULL),
    ("recombine papers | true; exit ${PIPESTATUS[0]}", 0, ""),
    (f"{AUDIT} --html /dev/full --force", 2, "recombine: /dev/full is a pipe or device, not a file; name a file\n"),
    (f"{SMALL_FILES}; {AUDIT} --html out.html 2>&1 | grep -c 'out.html: File too large'; test ! -e out.html", 0, ""),
]


@pytest.mark.slow
@pytest.mark.parametrize(("line", "code", "words"), STREAMS + (MORE_STREAMS if MANY else []))
def test_streams(line: str, code: int, words: str, table: Path) -> None:
    assert shell(line, table) == (code, words)


@pytest.mark.skipif(not MANY, reason="`make fuzz` runs it; tests/cli/test_encodings.py is part of `make test`")
@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "latin-1", "utf-16", "cp437", "shift_jis", "utf-8"])
def test_encodings(encoding: str, table: Path) -> None:
    for line in (AUDIT, f"{AUDIT} --json", f"{AUDIT} --explain x,w", 'recombine audit "$T" --factors a,q'):
        code, _ = shell(line, table, PYTHONIOENCODING=encoding)
        assert code in (0, 2)
        assert shell(line, table, LC_ALL="C", PYTHONCOERCECLOCALE="0", PYTHONUTF8="0")[0] == code


@pytest.mark.slow
@pytest.mark.parametrize("number", range(40 if MANY else 2))
def test_signals(number: int, table: Path) -> None:
    """A process that is asked to end says so in one line, whenever that is, and leaves nothing behind."""
    draw = random.Random(number)
    sent = [signal.SIGINT, signal.SIGTERM][number % 2]
    path = table.with_name("wide.csv")
    path.write_bytes(("a,b,y\n" + "".join(f"a{n % 97},b{n % 89},{n}\n" for n in range(3000))).encode("utf-16"))
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), "TMPDIR": str(table.parent.parent / "tmp")}
    call = [sys.executable, "-m", "recombine", "audit", str(path), "--factors", "a,b", "--html", "out.html"]
    process = subprocess.Popen(
        call, env=environment, cwd=table.parent, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    time.sleep(draw.uniform(0.6, 2.5))  # not while the interpreter itself is being loaded, which says what it likes
    process.send_signal(sent)
    _, words = process.communicate(timeout=60)
    if sent == signal.SIGTERM and process.returncode == -sent:
        return  # it came before the command line began to listen
    # Where Ctrl-C meets it while it runs a text, Python ends itself by the signal: shells call that 130, too.
    ended = 130 if process.returncode == -signal.SIGINT else process.returncode
    assert (ended, words) in ((130, "recombine: stopped\n"), (0, "")), words
    assert not list((table.parent.parent / "tmp").iterdir())
    assert sorted(one.name for one in table.parent.iterdir() if one.name.startswith(".")) == []


@pytest.mark.skipif(not MANY or shutil.which("unshare") is None, reason="`make fuzz` runs it, where disks can be made")
@pytest.mark.parametrize("options", ["size=16k", "ro"])
def test_a_disk_that_is_full_or_read_only(options: str, table: Path) -> None:
    """On a real file system of a few pages the old report stays, and one line names the new one."""
    inside = table.parent / "small"
    inside.mkdir()
    mount = f"mount -t tmpfs -o size=16k none small && echo old > small/out.html && mount -o remount,{options} small"
    apart = ["unshare", "-rm", "bash", "-c"]
    if subprocess.run([*apart, mount], cwd=table.parent, capture_output=True, check=False).returncode:
        pytest.skip("no file system can be mounted here")
    line = f"{mount} && {AUDIT} --html small/out.html --force >&2; echo $? && cat small/out.html && ls -A small | wc -l"
    whole = f'recombine() {{ "{sys.executable}" -m recombine "$@"; }}; {line}'
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), "T": str(table)}
    done = subprocess.run(
        [*apart, whole], env=environment, cwd=table.parent, capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == ["2", "old", "1"]
    assert "small/out.html" in done.stderr
    assert "Traceback" not in done.stderr
