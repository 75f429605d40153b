"""What the tests of the sweep engine share: the sample experiments on the path, and a log of started units."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = str(Path(__file__).parent)
if HERE not in sys.path:
    sys.path.insert(0, HERE)


@pytest.fixture(scope="session")
def shared_log(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The log of started units, known to every worker that is started from here."""
    path = tmp_path_factory.mktemp("log") / "started.log"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RECOMBINE_TEST_LOG", str(path))
        patch.setenv("PYTHONPATH", HERE)
        yield path


@pytest.fixture(autouse=True)
def log(shared_log: Path) -> Path:
    """The log, empty again."""
    shared_log.unlink(missing_ok=True)
    return shared_log
