"""One table in every format that is read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from known_formats import as_form, measurements


@pytest.fixture
def made(tmp_path: Path) -> Callable[[str], Path]:
    """Write the measurements in one of `known_formats.FORMS`."""
    return lambda form: as_form(measurements(), form, tmp_path / f"t.{form}")
