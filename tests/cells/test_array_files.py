"""Files of named arrays: what is written is read, and what is none is refused."""

from __future__ import annotations

import io
import os
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest

from recombine.cells.array_files import load_arrays, read_arrays, write_arrays
from recombine.errors import InputError
from recombine.formats import encodings


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


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("kind", ["<f8", ">i4", "?", "<U3", "<c16"])
def test_every_plain_array_is_read_as_numpy_reads_it(tmp_path: Path, kind: str, order: str) -> None:
    array = np.asarray(np.arange(24).reshape(2, 3, 4).astype(kind), order=order)
    for name, save in (("a.npy", np.save), ("a.npz", np.savez), ("b.npz", np.savez_compressed)):
        save(tmp_path / name, array)
        (found,) = load_arrays(tmp_path / name).values()
        assert found.dtype == array.dtype
        assert np.array_equal(found, array)
    np.save(tmp_path / "number.npy", np.float64(3.0))
    assert load_arrays(tmp_path / "number.npy")[""] == 3.0


@pytest.mark.parametrize("name", ["a.npy", "a.npz", pytest.param("b.npz", marks=pytest.mark.slow)])
def test_damage_at_any_byte_is_one_error_or_harmless(tmp_path: Path, name: str) -> None:
    save = {"a.npy": np.save, "a.npz": np.savez, "b.npz": np.savez_compressed}[name]
    array = np.random.default_rng(0).random((3, 4))
    save(tmp_path / name, array)
    whole = (tmp_path / name).read_bytes()
    for place in range(len(whole)):
        for broken in (whole[:place], whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :]):
            (tmp_path / name).write_bytes(broken)
            try:
                load_arrays(tmp_path / name)
            except InputError:
                continue
            assert len(broken) == len(whole), "what is cut is never taken for whole"


def promising(shape: str, kind: str = "'<f8'") -> bytes:
    head = f"{{'descr': {kind}, 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + bytes(16)


@pytest.mark.parametrize("shape", ["(10000000000,)", "(2**60, 2**60)", "(-1,)", "(True, 4)", "(3.5,)", "'x'", "(3,)"])
def test_what_a_header_promises_has_to_be_there(tmp_path: Path, shape: str) -> None:
    (tmp_path / "a.npy").write_bytes(promising(shape))
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("a.npy", promising(shape))
    for name in ("a.npy", "a.npz"):
        with pytest.raises(InputError):
            load_arrays(tmp_path / name)


def test_an_archive_that_expands_beyond_measure_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.savez_compressed(tmp_path / "a.npz", a=np.zeros(10**6))
    assert load_arrays(tmp_path / "a.npz")["a"].shape == (10**6,)
    monkeypatch.setattr(encodings, "EXPANSION_ALLOWED_BYTES", 10**6)
    with pytest.raises(InputError, match="it expands to 8,000,128 bytes or more, over 100 times its size"):
        load_arrays(tmp_path / "a.npz")


def test_nothing_is_unpickled(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return os.mkdir, (str(tmp_path / "sprung"),)

    out = io.BytesIO()
    np.save(out, np.array([Trap()], dtype=object), allow_pickle=True)
    (tmp_path / "a.npy").write_bytes(out.getvalue())
    (tmp_path / "b.npy").write_bytes(pickle.dumps(Trap()))
    np.savez(tmp_path / "c.npz", a=np.array([Trap()], dtype=object))
    for name in ("a.npy", "b.npy", "c.npz"):
        with pytest.raises(InputError):
            load_arrays(tmp_path / name)
    assert not (tmp_path / "sprung").exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="has no pipes with names")
def test_nobody_waits_for_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.npy")
    with pytest.raises(InputError, match="pipe"):
        load_arrays(tmp_path / "a.npy")
