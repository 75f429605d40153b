"""What all tests share: hypothesis profiles, small tables on disk, and the command line."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import settings

if TYPE_CHECKING:
    import pandas as pd

HERE = str(Path(__file__).parent)
if HERE not in sys.path:  # `known_tasks` can be imported by its name
    sys.path.insert(0, HERE)

# A deadline would measure how busy the machine is, not the code. The same examples in every run: what fails after a
# change fails because of it. `--hypothesis-profile=search` looks for new ones.
settings.register_profile("recombine", deadline=None, max_examples=20, derandomize=True)
settings.register_profile("search", deadline=None, max_examples=500)
settings.load_profile("recombine")


@pytest.fixture(scope="module", autouse=True)
def theory_alone() -> Iterator[None]:
    """Let audits train nothing, which takes a second each."""
    from recombine.jobs.limits import TRAINING_LIMITS

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("recombine.jobs.training.train.TRAINING_LIMITS", replace(TRAINING_LIMITS, max_cells_trained=0))
        yield


@pytest.fixture(autouse=True)
def training(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let them train, as they do for users, where a test is marked ``trains``."""
    if "trains" in request.keywords:
        from recombine.jobs.limits import TRAINING_LIMITS

        monkeypatch.setattr("recombine.jobs.training.train.TRAINING_LIMITS", TRAINING_LIMITS)


@pytest.fixture
def written(tmp_path: Path) -> Callable[[str | bytes, str], Path]:
    """Write text (as UTF-8) or bytes to a file of the given name in a fresh folder and return its path."""

    def write(content: str | bytes, name: str = "table.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.fixture(scope="session")
def predictions() -> Callable[..., pd.DataFrame]:
    """Make predictions of a model that copies the colour of a digit in one row of ten, ignoring its size and site."""

    import pandas as pd

    def make(rows: int = 4000) -> pd.DataFrame:
        generator = np.random.default_rng(0)
        digit, colour, size = generator.integers(5, size=(3, rows))
        return pd.DataFrame(
            {
                "guess": np.where(generator.random(rows) < 0.1, colour, digit),
                "digit": digit,
                "colour": np.array(["red", "green", "blue", "grey", "pink"])[colour],
                "size": size,
                "site": generator.choice(["a", "b"], rows),
            }
        )

    return make


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Run the command line in this process: exit code, standard output, standard error."""
    from recombine.cli import main

    def call(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stopped:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return int(stopped.value.code or 0), out, err

    return call


@pytest.fixture
def fresh(tmp_path: Path) -> Callable[[], Path]:
    """Make a new folder at each call."""
    numbers = itertools.count()

    def make() -> Path:
        folder = tmp_path / f"attempt-{next(numbers)}"
        folder.mkdir()
        return folder

    return make
