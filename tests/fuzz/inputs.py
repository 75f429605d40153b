"""Tables and arrays that nobody would send on purpose, drawn from a generator: the same seed, the same bytes."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import random
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

#: Texts that have broken one reader or another: of terminals, browsers, engines, spreadsheets, shells and encodings.
HOSTILE = [
    "", " ", "NA", "nan", "null", "None", "-0", "0x10", "1e5", "100000", "1e308", "-1e308", "inf", "007", "T", "true",
    "TRUE", "2020-01-01", "12:00", "\x1b]0;owned\x07", "\x1b[31mred", "\x9b2J", "a\rb", "a\nb", "a\tb", "x\x00y",
    "\u202eevil", "\u200b", "\ufeffx", "é", "e\u0301", "日本", "💥", "ß", "İ", "[red]x[/]", "[/]", "[link=file:///]x",
    "{{7*7}}", "{% for x in y %}", "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "&lt;", "=cmd|' /C'!A0",
    "+1", "@SUM(A1)", "'; DROP TABLE t; --", '"', '""', "'", "a,b", "a;b", "a|b", "a+b", "ctrl", "a/b", "a=b", "a<b",
    "%s%n", "$HOME", "`id`", "../..", "\\", "\\u001b", "C:\\x", "__rows", "c0", "split", "train", "importance",
    "x" * 300, "1" * 400, "9" * 25, "٣", "½", "1_000", "1,5", "--json", "-", "*", "?", "[a]", "~",
]  # fmt: skip

Rows = list[dict[str, Any]]


class Draw(random.Random):
    """A generator with a temper: a tame one asks for what makes sense and gets far, a bold one for anything."""

    bold = 1.0

    def odd(self, chance: float) -> bool:
        """Return whether to do something odd, which a bold generator does with this chance."""
        return self.random() < chance * self.bold

    def pick(self, good: list[Any], bad: list[Any]) -> Any:
        """Return one of what makes sense, or now and then one of what does not."""
        return self.choice(bad if self.odd(0.35) else good)


def word(draw: Draw, hostile: float = 0.15) -> str:
    """Return a name or label, now and then one that has broken something."""
    return draw.choice(HOSTILE) if draw.random() < hostile else draw.choice("abcdefgh") + draw.choice(["", "1", "x"])


def columns_of(draw: Draw) -> list[str]:
    """Return the names of a table's columns: two to four factors, then outcome, weight, sd, part and a prediction."""
    factors = [f"f{place}" for place in range(draw.choice([2, 2, 3, 3, 4]))]
    if draw.odd(0.3):
        factors[draw.randrange(len(factors))] = draw.choice(HOSTILE)
    return [*factors, "y", "n", "sd", "part", "p"]


def rows_of(draw: Draw, columns: list[str]) -> Rows:
    """Return a few rows in which factors repeat; outcomes are numbers, two values, classes or anything."""
    hostile = draw.choice([0.0, 0.0, 0.1, 0.4]) * draw.bold
    levels = {name: [word(draw, hostile) for _ in range(draw.pick([3, 3, 5], [1, 2]))] for name in columns[:-5]}
    outcome: Callable[[], Any] = draw.pick(
        [lambda: round(draw.gauss(0, 1), 3), lambda: draw.choice([0, 1]), lambda: draw.choice(["cat", "dog", "eel"])],
        [lambda: draw.choice([1e150, -1e300, 1e-300, 0.0, float("nan"), float("inf"), "", "x"])],
    )
    weight: Callable[[], Any] = draw.pick([lambda: draw.randrange(1, 9)], [lambda: draw.choice([0, -1, 1e308, "", 2])])
    found = []
    for _ in range(draw.pick([6, 12, 20, 40], [0, 1, 2])):
        row = {name: draw.choice(levels[name]) for name in columns[:-5]}
        row |= {"y": outcome(), "n": weight(), "sd": draw.choice([0.1, 0.5, 0, -1]) if hostile else 0.5}
        row |= {"part": draw.choice(["train", "train", "test"]), "p": outcome()}
        found.append(row)
    return found


def _as_csv(rows: Rows, columns: list[str], delimiter: str = ",") -> bytes:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter)
    writer.writerow(columns)
    writer.writerows([row.get(name, "") for name in columns] for row in rows)
    return out.getvalue().encode("utf-8", "surrogatepass")


def _as_lines(rows: Rows, columns: list[str]) -> bytes:
    return "".join(json.dumps({name: row.get(name) for name in columns}) + "\n" for row in rows).encode()


def _as_parquet(rows: Rows, columns: list[str]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    out = io.BytesIO()
    arrays = {}
    for name in dict.fromkeys(columns):
        values = [row.get(name) for row in rows]
        numbers = all(isinstance(value, int | float) for value in values)
        arrays[name] = pa.array(values if numbers else [str(value) for value in values])
    pq.write_table(pa.table(arrays), out)
    return out.getvalue()


def table_bytes(draw: Draw, columns: list[str], suffix: str, rows: Rows | None = None) -> bytes:
    """Return a table in the format that a suffix names, whole."""
    rows = rows_of(draw, columns) if rows is None else rows
    if suffix in (".parquet", ".pq"):
        return _as_parquet(rows, columns)
    if suffix in (".jsonl", ".ndjson"):
        return _as_lines(rows, columns)
    text = _as_csv(rows, columns, "\t" if suffix.startswith(".tsv") else draw.choice(",,,;|"))
    text = _spelled(draw, text)
    return gzip.compress(text, mtime=0) if suffix.endswith(".gz") else text


def _spelled(draw: Draw, text: bytes) -> bytes:
    """Write a text in another encoding or with other line ends, now and then."""
    if not draw.odd(0.4):
        return text
    way = draw.random()
    words = text.decode("utf-8", "replace")
    if way < 0.5:
        return words.encode(draw.choice(["utf-8-sig", "utf-16", "utf-16-le", "cp1252", "shift_jis"]), "replace")
    return words.replace("\r\n", draw.choice(["\n", "\r", "\n\r\n"]), draw.choice([1, -1])).encode("utf-8")


def array_bytes(draw: Draw, suffix: str) -> bytes:
    """Return activations as .npy or .npz, with shapes and numbers of every kind."""
    shape = tuple(draw.choice([2, 3, 4]) for _ in range(draw.pick([3, 3, 4], [1, 2, 5])))
    kinds = [np.float64, np.float32, np.int64, np.bool_, np.complex128, np.uint8, "U3", "M8[s]", "f2"]
    kind = draw.choice(kinds) if draw.odd(0.5) else np.float64
    generator = np.random.default_rng(draw.randrange(2**32))
    values = (generator.normal(size=shape) * draw.pick([1.0], [1e100, 0, np.inf, 1e-200])).astype("f8")
    with np.errstate(all="ignore"):
        array = np.nan_to_num(values).astype(kind) if kind != np.float64 else values
    out = io.BytesIO()
    if suffix == ".npy":
        np.save(out, array, allow_pickle=False)
        return out.getvalue()
    layers = {(word(draw).replace("\x00", "") or "layer") + str(place): array for place in range(draw.choice([1, 2]))}
    save = draw.choice([np.savez, np.savez_compressed])
    save(out, **layers)
    return out.getvalue()


def forged_array(draw: Draw, suffix: str) -> bytes:
    """Return an .npy or .npz whose header promises what is not there, or asks for what must not be done."""
    shape = draw.choice(["(10000000000,)", "(True, 4)", "(-1, 3)", "(2, 2)", "()", "(3.5,)", "'x'", "(2**60, 2**60)"])
    kind = draw.choice(["'<f8'", "'|O'", "'<U1000000'", "[('a', '<f8')]", "'V0'", "'nonsense'", "'<M8[7s]'", "None"])
    head = f"{{'descr': {kind}, 'fortran_order': {draw.choice(['False', 'True', '3'])}, 'shape': {shape}, }}".encode()
    head = draw.choice([head, head[:-4], head * 2, b"{" * 5000, b"__import__('os')"]) + b"\n"
    forged = b"\x93NUMPY" + draw.choice([b"\x01\x00", b"\x02\x00", b"\x09\x00"])
    forged += struct.pack("<H" if forged[6] == 1 else "<I", len(head)) + head + bytes(32)
    if suffix == ".npy":
        return forged
    out = io.BytesIO()
    method = draw.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
    with zipfile.ZipFile(out, "w", method) as archive:
        archive.writestr(draw.choice(["layer.npy", "../../x.npy", "/etc/x.npy", "layer", "\x1b[31m.npy"]), forged)
        if draw.random() < 0.2:
            archive.writestr("zeros.npy", bytes(10**7))
    return out.getvalue()


def mutant(draw: Draw, data: bytes) -> bytes:
    """Return bytes with a few things done to them that disks, networks and editors do."""
    made = bytearray(data)
    for _ in range(draw.choice([1, 1, 2, 5])):
        place = draw.randrange(len(made) + 1)
        way = draw.randrange(7)
        if way == 0 and made:
            made[place % len(made)] ^= 1 << draw.randrange(8)
        elif way == 1:
            del made[place:]
        elif way == 2:
            made[place:place] = draw.choice(HOSTILE).encode("utf-8", "surrogatepass")
        elif way == 3:
            made[place:place] = draw.randbytes(draw.choice([1, 4, 40]))
        elif way == 4:
            del made[place : place + draw.choice([1, 3, 30])]
        elif way == 5:
            made[place:place] = made[: draw.choice([5, 100])]
        else:
            made[place:place] = draw.choice([b"\x00", b"\xff\xfe", b'"', b"\r", b"\n", b",,", b"\x1a", b"[" * 300])
    return bytes(made)


def put(draw: Draw, path: Path, data: bytes) -> None:
    """Write an input, or in its place something that is no file."""
    way = draw.randrange(7) if draw.odd(0.06) else -1
    if way == 0:
        os.mkfifo(path)
    elif way == 1:
        path.mkdir()
    elif way == 2:
        path.symlink_to(path.name)
    elif way == 3:
        path.symlink_to("/dev/zero")
    elif way == 4:
        path.with_name(f"behind-{path.name}").write_bytes(data)
        path.symlink_to(f"behind-{path.name}")
    elif way < 5:
        path.write_bytes(b"" if way == 5 else data)
