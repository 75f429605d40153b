"""Files of named arrays: what is written is read, and what is none is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from recombine.cells.array_files import read_arrays, write_arrays
from recombine.errors import InputError


def test_arrays_come_back_as_they_were(tmp_path: Path) -> None:
    write_arrays(tmp_path / "gates.npz", normals=np.eye(3), kind=np.array("half spaces"))
    found = read_arrays(tmp_path / "gates.npz", "context functions")
    assert list(found) == ["normals", "kind"]
    assert np.array_equal(found["normals"], np.eye(3))
    assert str(found["kind"]) == "half spaces"


@pytest.mark.parametrize("content", [b"", b"nothing", b"PK\x03\x04broken"])
def test_files_that_hold_no_arrays_are_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "gates.npz").write_bytes(content)
    with pytest.raises(InputError, match=r"gates\.npz cannot be read as context functions .*; save them again"):
        read_arrays(tmp_path / "gates.npz", "context functions")


def test_one_array_without_a_name_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "gates.npy", np.eye(2))
    with pytest.raises(InputError, match="one array without a name"):
        read_arrays(tmp_path / "gates.npy", "context functions")
