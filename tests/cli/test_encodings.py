"""The command in the encodings of plain jobs and of Windows, in folders with spaces and other letters."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from recombine.report.screen import in_signs_of

#: Letters of three alphabets, of which cp1252 has one, and one beyond the first 65,536.
TABLE = "größe,b,y\nα,ü,1\nα,日,2\nβ,ü,3\nγ,日,4\n\U0001f600,ü,5\n"
ENCODINGS = ["ascii", "cp1252"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "my tables, größer 日本"
    place.mkdir()
    (place / "tä ble.csv").write_text(TABLE, encoding="utf-8")
    return place


def called(encoding: str, folder: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "recombine", *arguments]
    environment = {**os.environ, "PYTHONIOENCODING": encoding, "PYTHONPATH": os.pathsep.join(sys.path), **more}
    return subprocess.run(command, cwd=folder, capture_output=True, timeout=120, check=False, env=environment)


def audited(encoding: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    return called(encoding, folder, "audit", "tä ble.csv", "--factors", "größe,b", "--outcome", "y", *arguments)


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_no_sign_and_no_name_is_lost(encoding: str, folder: Path) -> None:
    done = audited(encoding, folder, "--html", "re port.html", "--full")
    assert (done.returncode, done.stderr) == (0, b"")
    text = done.stdout.decode(encoding)
    assert "?" not in text.replace("here?", "").replace("next?", "")
    assert all(name in text for name in ["=\\u03b2", "=\\u03b3"])
    assert ("größe (4)" in text) == (encoding != "ascii")
    assert ("gr\\u00f6\\u00dfe (4) x b (2)" in text) == (encoding == "ascii")
    assert "größe" in (folder / "re port.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_names_of_files_in_a_locale_that_has_no_such_letters(folder: Path) -> None:
    (folder / "日.csv").write_text("a,b\n1,ü\n2,ü\n1,日\n", encoding="utf-8")
    ways: list[dict[str, str]] = [{}, {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}]
    usual, plain = (called("utf-8", folder, "audit", "日.csv", "--factors", "a,b", "--json", **way) for way in ways)
    assert (plain.returncode, plain.stderr) == (0, b"")
    assert json.loads(plain.stdout) == json.loads(usual.stdout)
    assert json.loads(plain.stdout)["levels"] == {"a": ["1", "2"], "b": ["ü", "日"]}


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ENCODINGS[1:])
def test_json_is_read_as_utf8_whatever_it_was_written_in(encoding: str, folder: Path) -> None:
    done = audited(encoding, folder, "--json")
    assert (done.returncode, done.stderr) == (0, b"")
    levels = json.loads(done.stdout.decode("utf-8"))["levels"]
    assert sorted(levels["größe"]) == ["α", "β", "γ", "\U0001f600"]
    (folder / "früher.json").write_bytes(done.stdout)
    same = audited(encoding, folder, "--baseline", "früher.json", "--fail-on", "lost")
    assert (same.returncode, same.stderr) == (0, b"")


@pytest.mark.slow
def test_errors_keep_names_apart_too(folder: Path) -> None:
    done = audited("ascii", folder, "--explain", "zz,ü")
    assert done.returncode == 2
    (line,) = done.stderr.decode("ascii").splitlines()
    assert "\\u03b1" in line
    assert "\\ud83d\\ude00" in line


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [("audit", "--help"), ("--help",)])
def test_help_and_lists_in_ascii(arguments: tuple[str, ...], folder: Path) -> None:
    done = called("ascii", folder, *arguments)
    assert done.returncode == 0
    assert b"Traceback" not in done.stdout + done.stderr
    assert len(done.stdout.decode("ascii")) > 100


@pytest.mark.slow
def test_a_home_that_cannot_be_written_to_is_no_news(folder: Path) -> None:
    done = audited("utf-8", folder, "--html", "r.html")
    assert done.returncode == 0
    home = str(folder / "tä ble.csv" / "home")  # below a file: not even root makes this folder
    closed = {"HOME": home, "USERPROFILE": home, "XDG_CONFIG_HOME": home, "XDG_CACHE_HOME": home, "MPLCONFIGDIR": ""}
    words = ("audit", "tä ble.csv", "--factors", "größe,b", "--outcome", "y", "--html", "r.html", "--force")
    again = called("utf-8", folder, *words, **closed)
    assert (again.returncode, again.stderr) == (0, b"")
    assert again.stdout == done.stdout


def test_signs_become_look_alikes_only_where_they_must() -> None:
    assert in_signs_of("utf-8", "a × b → c · d") == "a × b → c · d"
    assert in_signs_of("cp1252", "a × b → c · d") == "a × b -> c · d"
    assert in_signs_of("ascii", "█ ● ✕ ■ 2 ± 1") == "# * x # 2 +- 1"
