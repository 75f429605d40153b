"""Folders that `recombine reproduce` writes to are looked at before the work."""

from __future__ import annotations

from pathlib import Path

import pytest

from recombine.errors import InputError
from recombine.lab.cli.reproduce import check_folder


def test_a_folder_may_be_missing_but_not_a_file(tmp_path: Path) -> None:
    check_folder(tmp_path / "new" / "figures", "--figures")
    (tmp_path / "taken").touch()
    with pytest.raises(InputError, match=r"--figures .*taken is a file"):
        check_folder(tmp_path / "taken", "--figures")
    with pytest.raises(InputError, match=r"--figures .*below cannot be written"):
        check_folder(tmp_path / "taken" / "below", "--figures")
