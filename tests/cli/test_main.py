"""The command line as a process: help, exit codes, streams, colours, and ``python -m recombine``."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from typer.testing import CliRunner

import recombine as rc
from recombine.cli.commands import COMMANDS, app

FACTORS = ["--factors", "colour,shape"]


def test_an_error_of_the_file_system_is_one_line_too(run, table, tmp_path, monkeypatch):
    def fail(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", "r.html")

    monkeypatch.setattr(Path, "replace", fail)
    code, _, err = run("audit", table, *FACTORS, "--html", tmp_path / "r.html")
    assert code == 2
    assert err == "recombine: r.html: Permission denied; check the path and its rights\n"


def test_help_and_version():
    runner = CliRunner()
    assert runner.invoke(app, ["--version"]).output.strip() == rc.__version__
    for arguments in ([], ["--help"]):
        result = runner.invoke(app, arguments)
        assert result.exit_code == 0
        assert "audit" in result.output
    text = runner.invoke(app, ["audit", "--help"], env={"COLUMNS": "200", "TERM": "dumb"}).output
    for option in ("--factors", "--targets", "--forbidden", "--fail-on", "--force", "--json"):
        assert option in text


def test_help_imports_no_command():
    code = """
import sys
from recombine.cli import main
try:
    main(["--help"])
except SystemExit:
    pass
from recombine.cli.commands import COMMANDS
print([address for address, _ in COMMANDS.values() if address.partition(":")[0] in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert all(name in done.stdout for name in COMMANDS)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("name", [name for name, (address, _) in COMMANDS.items() if ".lab." not in address])
def test_the_help_of_a_command_is_what_its_function_says(name):
    module, _, function = COMMANDS[name][0].partition(":")
    text = CliRunner().invoke(app, [name, "--help"], env={"COLUMNS": "200", "TERM": "dumb"}).output
    assert getattr(import_module(module), function).__doc__ in text
    assert f"recombine {name}" in text


def test_the_package_offers_main_alone():
    import recombine.cli

    assert dir(recombine.cli) == ["main"]


def subprocess_run(*arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "recombine", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, **options)


@pytest.mark.slow
def test_exit_codes_and_streams_of_a_real_process(table):
    fine = subprocess_run("audit", table, *FACTORS, "--json")
    assert (fine.returncode, fine.stderr) == (0, "")
    assert json.loads(fine.stdout)["counts"]["seen"] == 5
    bad = subprocess_run("audit", table, "--factors", "colour,shapes")
    assert (bad.returncode, bad.stdout) == (2, "")
    assert re.fullmatch(r"recombine: [^\n]+\n", bad.stderr)


@pytest.mark.slow
def test_a_backend_of_another_environment_is_no_matter(table, tmp_path):
    """A notebook hands its own backend on to commands that it starts."""
    known = {**os.environ, "MPLBACKEND": "module://nobody.has.this"}
    done = subprocess_run("audit", table, *FACTORS, "--html", tmp_path / "r.html", env=known)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_models_are_compared_by_a_process_of_its_own(tmp_path):
    path = tmp_path / "t.csv"
    rows = [f"a{i},b{j},{i + 2 * j + (i * j) % 3}" for i in range(6) for j in range(6) if (i + j) % 4]
    path.write_text("a,b,y\n" + "\n".join(rows) + "\n")
    done = subprocess_run("audit", path, "--factors", "a,b", "--outcome", "y", "--models")
    assert (done.returncode, done.stderr) == (0, "")
    assert "forest" in done.stdout


@pytest.mark.slow
def test_a_reader_who_stops_early_stops_nothing_else(table, tmp_path):
    verdicts = tmp_path / "verdicts.csv"
    inner = f"{sys.executable} -m recombine audit {table} --factors colour,shape"
    script = f"set -o pipefail; {inner} --verdicts {verdicts} --fail-on RC101 | true"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (1, "")
    assert verdicts.exists()


@pytest.mark.slow
def test_colours_go_to_terminals_that_want_them_only(table):
    pty = pytest.importorskip("pty")

    def watched(environment: dict[str, str]) -> bytes:
        parent, child = pty.openpty()
        command = [sys.executable, "-m", "recombine", "audit", str(table), *FACTORS]
        process = subprocess.Popen(
            command, stdout=child, stderr=subprocess.DEVNULL, env={**os.environ, "TERM": "xterm", **environment}
        )
        os.close(child)
        chunks = []
        try:
            while chunk := os.read(parent, 65536):
                chunks.append(chunk)
        except OSError:  # the other side has closed
            pass
        process.wait(timeout=60)
        os.close(parent)
        return b"".join(chunks)

    environment = {"COLORTERM": "truecolor"}
    coloured = re.compile(rb"\x1b\[[0-9;]*(3[0-9]|38;)")
    assert coloured.search(watched(environment))
    assert not coloured.search(watched({**environment, "NO_COLOR": "1"}))


@pytest.mark.slow
def test_the_package_runs_as_a_module() -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "recombine", *arguments], capture_output=True, text=True, timeout=120
        )

    told, wrong = run("--version"), run("audti")
    assert (told.returncode, told.stderr) == (0, "")
    assert rc.__version__ in told.stdout
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr.startswith("recombine: ")
    assert wrong.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "option", ["--outcome", "--weight", "--sd", "--split", "--symmetric", "--fail-on", "--targets"]
)
@pytest.mark.parametrize("value", ["", "  "])
def test_an_option_without_a_value_is_refused(run, table, option, value):
    for arguments in ([option, value], [f"{option}={value}"]):
        code, out, err = run("audit", table, *FACTORS, *arguments)
        assert (code, out) == (2, "")
        assert err == f"recombine: {option} is empty; give it a value or leave it out\n"


@pytest.mark.parametrize("option", ["--symmetric", "--fail-on", "--as-levels", "--factors"])
def test_an_option_that_names_nothing_is_refused(run, table, option):
    code, _, err = run("audit", table, *([] if option == "--factors" else FACTORS), option, " , ")
    assert code == 2
    assert err == f"recombine: {option} names nothing; give it names or leave it out\n"


def test_as_levels_must_be_a_factor(run, table):
    assert "--as-levels column 'zz' is not a column" in run("audit", table, *FACTORS, "--as-levels", "zz")[2]
    assert "not one of the factors" in run("audit", table, *FACTORS, "--as-levels", "mass")[2]


@pytest.mark.parametrize(("kind", "before"), [(KeyError, ""), (EOFError, "\n")])  # a line that typer ends
def test_what_nobody_foresaw_is_one_line_and_exit_code_3(run, table, monkeypatch, kind, before):
    def fail(*_: object, **__: object) -> None:
        raise kind("\x1b[2Jmissing\nline")

    monkeypatch.setattr("recombine.Design.from_frame", fail)
    code, out, err = run("audit", table, *FACTORS)
    assert (code, out, err.removeprefix(before).count("\n")) == (3, "", 1)
    assert err.startswith(f"{before}recombine: a defect of recombine, not of the input: {kind.__name__}")
    assert "\x1b" not in err
    path = Path(re.search(r"report it with (\S+), the traceback", err)[1])
    assert "raise kind(" in path.read_text()
    path.unlink()


def test_too_little_memory_is_not_called_a_defect(run, table, monkeypatch):
    def fail(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("recombine.Design.from_frame", fail)
    code, _, err = run("audit", table, *FACTORS)
    assert (code, err.count("\n")) == (2, 1)
    assert "not enough memory" in err


EVIL = ["\x1b]0;PWNED\x07", "\x9b31m", "\u202e", "\r", "\x7f", "\u2066"]


@pytest.mark.slow
def test_data_never_command_a_terminal(run, tmp_path):
    path = tmp_path / "evil.csv"
    rows = [f'"{mark}x{place}",u' for place, mark in enumerate(EVIL)]
    path.write_bytes("\n".join(["\x1b[1mname,b", *rows, "w,u", "w,v", "z,q", ""]).encode())
    name = "\x1b[1mname"
    for extra in (
        [],
        ["--json"],
        ["--explain", "z,u"],
        ["--explain", "zz,u"],
        ["--explain", f"{EVIL[0]}x0,v"],
        ["--plan", "9"],
    ):
        _, out, err = run("audit", path, "--factors", f"{name},b", *extra)
        assert not set("".join([*EVIL, name])) & set(out + err) & set("\x1b\x07\x9b\u202e\r\x7f\u2066")
        if extra == ["--json"]:
            assert any(label.endswith("x1") and "\x9b" in label for label in _strings(json.loads(out)))


def _strings(thing):
    if isinstance(thing, str):
        yield thing
    for part in thing.values() if isinstance(thing, dict) else thing if isinstance(thing, list) else ():
        yield from _strings(part)


def test_an_interrupted_query_is_a_stop_and_no_defect(run, monkeypatch, tmp_path):
    """What DuckDB makes of Ctrl-C while it reads a file."""
    path = tmp_path / "t.csv"
    path.write_text("a,b,y\nx,p,1\nz,q,2\n", encoding="utf-8")

    def interrupted(*_: object, **__: object) -> None:
        raise RuntimeError("Query interrupted")

    monkeypatch.setattr("recombine.design.design.Design.from_frame", interrupted)
    code, _, err = run("audit", path, "--factors", "a,b")
    assert (code, err) == (130, "recombine: stopped\n")


@pytest.mark.slow
def test_ctrl_c_waits_until_the_engine_is_loaded(table):
    """In the middle of it DuckDB would leave a process that ends in a segmentation fault."""
    script = (
        "import signal, sys\nfrom recombine.cli import main\n"
        "class Pressed:\n    def find_spec(self, name, *_):\n"
        "        if name == '_duckdb':\n            signal.raise_signal(signal.SIGINT)\n"
        "sys.meta_path.insert(0, Pressed())\n"
        f"try:\n    main({['audit', str(table), *FACTORS]!r})\nfinally:\n    print('_duckdb' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "True\n", "recombine: stopped\n")


@pytest.mark.parametrize("command", ["audit", pytest.param("score", marks=pytest.mark.slow)])
def test_pandas_is_loaded_by_nobody_who_does_not_need_it(command, tmp_path):
    """DuckDB would load it with its first constant; what needs it afterwards still finds it."""
    path = tmp_path / "t.csv"
    rows = [f"a{i},b{j},{i + j},{i},{'train' if (i + j) % 3 else 'test'}" for i in range(5) for j in range(5)]
    path.write_text("a,b,y,net,part\n" + "\n".join(rows) + "\n")
    words = [command, str(path), "--factors", "a,b", "--outcome", "y", "--split", "part=train"]
    # Models that are trained bring scikit-learn, which loads pandas by itself.
    words += ["--prediction", "net"] if command == "score" else ["--forecast", "theory"]
    script = (
        "import sys\nfrom recombine.cli import main\n"
        f"try:\n    main({words!r})\nexcept SystemExit as end:\n    assert not end.code\n"
        "assert 'pandas' not in sys.modules\nimport pandas\nprint(pandas.DataFrame({'a': [1]}).shape)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("(1, 1)\n")
