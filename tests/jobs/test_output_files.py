"""Places to write: refused before the work, and each for its own reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from recombine.errors import InputError
from recombine.jobs.output_files import check_file, check_folder


def test_a_file_may_be_new_or_overwritten_with_leave(tmp_path: Path) -> None:
    there = tmp_path / "report.html"
    check_file(there, force=False)
    there.touch()
    check_file(there, force=True)
    with pytest.raises(InputError, match=r"exists; .*--force \(force=True in Python\)"):
        check_file(there, force=False)
    with pytest.raises(InputError, match="is a folder"):
        check_file(tmp_path, force=True)
    with pytest.raises(InputError, match="is not a folder"):
        check_file(there / "below.html", force=True)


def test_a_folder_may_be_missing_but_not_a_file(tmp_path: Path) -> None:
    check_folder(tmp_path / "new" / "figures", "--figures")
    (tmp_path / "taken").touch()
    with pytest.raises(InputError, match=r"--figures .*taken is a file"):
        check_folder(tmp_path / "taken", "--figures")
    with pytest.raises(InputError, match=r"--figures .*below cannot be written"):
        check_folder(tmp_path / "taken" / "below", "--figures")
