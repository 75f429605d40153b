"""`recombine examine`: standard models and a user's own, and bad input in one line."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

Run = Callable[..., tuple[int, str, str]]
OWN = '''
import numpy as np

def half(X, y, asked):
    """The mean of each drug, halfway to the mean of all."""
    means = {level: y[X[:, 0] == level].mean() for level in set(X[:, 0])}
    return np.array([(y.mean() + means.get(row[0], y.mean())) / 2 for row in asked])
'''


@pytest.fixture(scope="module")
def screen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two measurements of each of some 40 cells, and two rows that lack something."""
    rng = np.random.default_rng(0)
    cells = [(a, b) for a in range(8) for b in range(7) if rng.random() < 0.7]
    of_drug, of_line = rng.normal(size=8), rng.normal(size=7)
    rows = [f"d{a},l{b},p{a % 3},{of_drug[a] + of_line[b] + 0.1 * rng.normal():.3f}" for a, b in cells for _ in "12"]
    path = tmp_path_factory.mktemp("screen") / "screen.csv"
    path.write_text("drug,line,plate,y\n" + "\n".join([*rows, "d0,,p0,1.5", "d1,l2,p1,"]) + "\n")
    (path.parent / "own.py").write_text(OWN)
    return path


@pytest.mark.slow
def test_standard_models_and_an_own_one(run: Run, screen: Path, tmp_path: Path) -> None:
    own, page = screen.parent / "own.py", tmp_path / "report.html"
    models = f"ridge,forest,{own}:half"
    options = ["--factors", "drug,line", "--outcome", "y", "--model", models]
    code, out, err = run("examine", screen, *options, "--html", page, "--store", tmp_path / "store")
    assert code == 0, err
    assert "each left out once, in one of 5 folds" in out
    for name in ("ridge", "forest", "half"):
        assert f"\n{name}  " in out
    assert "each left out once" in page.read_text()
    assert len(list((tmp_path / "store").glob("*.npy"))) == 15
    code, text, _ = run("examine", screen, *options, "--json", "--store", tmp_path / "store")
    record = json.loads(text)
    errors = {model["name"]: model["error on unseen cells"]["value"] for model in record["models"]}
    assert errors["ridge"] < 0.1 < errors["half"]
    assert run("examine", screen, *options, "--fail-on", "worse-than-adding", "--store", tmp_path / "store")[0] == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--model", "forrest"], "did you mean 'forest'?"),
        (["--model", "ridge,ridge"], "names ridge twice"),
        (["--model", "own.py"], "names no object of the file; write own.py:name"),
        (["--model", "none.py:half"], "there is no file none.py"),
        (["--groups", "plates"], "did you mean 'plate'?"),
        (["--folds", "1"], "folds"),
        (["--outcome", "yy"], "did you mean 'y'?"),
    ],
)
def test_bad_input_in_one_line(run: Run, screen: Path, options: list[str], message: str) -> None:
    given = {"--factors": "drug,line", "--outcome": "y", **dict(zip(options[::2], options[1::2], strict=True))}
    code, _, err = run("examine", screen, *(text for pair in given.items() for text in pair))
    assert code == 2
    assert message in err
    assert "Traceback" not in err


SLOW = '''
import pathlib
import time
import numpy as np

HERE = pathlib.Path(__file__).parent

def slow(X, y, asked):
    """The number of rows; waits in the third fold as long as there is a file that says so."""
    with open(HERE / "trained.txt", "a") as log:
        log.write("fold\\n")
    while (HERE / "wait").exists() and len((HERE / "trained.txt").read_text().split()) == 3:
        time.sleep(0.05)
    return np.arange(len(asked)) + float(len(y))
'''


@pytest.mark.slow
@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGKILL])
def test_a_run_that_is_stopped_goes_on_where_it_was(
    run: Run, screen: Path, tmp_path: Path, stop: signal.Signals
) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    (tmp_path / "wait").touch()
    store, trained = tmp_path / "store", tmp_path / "trained.txt"
    options = ["--factors", "drug,line", "--outcome", "y", "--model", f"{tmp_path / 'slow.py'}:slow", "--store", store]
    command = [sys.executable, "-m", "recombine", "examine", str(screen), *map(str, options)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for _ in range(12_000):
        if trained.exists() and len(trained.read_text().split()) == 3:
            break
        time.sleep(0.05)
    process.send_signal(stop)
    out, err = process.communicate(timeout=60)
    assert out == ""
    if stop is signal.SIGINT:
        assert process.returncode == 130
        assert [line for line in err.splitlines() if not line.startswith("still ")] == ["recombine: stopped"]
    assert len(list(store.glob("*.npy"))) == 2
    (tmp_path / "wait").unlink()
    code, text, err = run("examine", screen, *options, "--json")
    assert code == 0, err
    assert len(trained.read_text().split()) == 3 + 3, "two folds are read, three are trained"
    fresh = run("examine", screen, *options[:-1], tmp_path / "another", "--json")[1]
    assert json.loads(text)["models"] == json.loads(fresh)["models"]


@pytest.mark.slow
def test_a_model_that_fails_is_said_to_and_the_others_are_examined(run: Run, screen: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text("def bad(X, y, asked):\n    raise MemoryError('no room')\n")
    options = ["--factors", "drug,line", "--outcome", "y", "--model", f"ridge,{tmp_path / 'bad.py'}:bad"]
    code, out, err = run("examine", screen, *options, "--full")
    assert code == 0, err
    assert "bad could not be examined: in fold 1 of 5" in " ".join(out.split())
    record = json.loads(run("examine", screen, *options, "--json")[1])
    assert list(record["failed"]) == ["bad"]
    assert [model["name"] for model in record["models"]] == ["ridge"]
    code, _, err = run("examine", screen, *options[:-1], f"{tmp_path / 'bad.py'}:bad")
    assert code == 2
    assert "it stops with MemoryError: no room" in err
