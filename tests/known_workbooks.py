"""The smallest binary workbooks that hold a frame: no package that the tests have writes these two formats."""

from __future__ import annotations

import struct

import pandas as pd

#: A sector of a compound file, and what stands in its table for the end of a chain, the table itself and a free sector.
SECTOR_BYTES, END, TABLE, FREE = 512, 0xFFFFFFFE, 0xFFFFFFFD, 0xFFFFFFFF
#: Shorter streams would be kept in another place of a compound file.
MIN_STREAM_BYTES = 4096
RELATIONS = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" '
    'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" '
    'Target="worksheets/sheet1.bin"/></Relationships>'
)


def table_of(frame: pd.DataFrame) -> list[list[object]]:
    """The header and the rows."""
    return [list(frame.columns), *frame.to_numpy().tolist()]


def xls(frame: pd.DataFrame) -> bytes:
    """A workbook of 1997: records of BIFF8 in a compound file."""

    def record(kind: int, body: bytes = b"") -> bytes:
        return struct.pack("<HH", kind, len(body)) + body

    def begin(substream: int) -> bytes:
        return record(0x809, struct.pack("<HHHHII", 0x600, substream, 0, 1997, 0, 6))

    cells = b""
    for row, values in enumerate(table_of(frame)):
        for column, value in enumerate(values):
            place = struct.pack("<HHH", row, column, 0)
            if isinstance(value, str):
                cells += record(0x204, place + struct.pack("<HB", len(value), 0) + value.encode("latin-1"))
            else:
                cells += record(0x203, place + struct.pack("<d", value))
    size = struct.pack("<IIHHH", 0, len(frame) + 1, 0, len(frame.columns), 0)
    sheet = begin(0x10) + record(0x200, size) + cells + record(0x0A)
    name = b"\x06\0Sheet1"
    start = len(begin(5)) + len(record(0x85, bytes(6) + name)) + len(record(0x0A))
    stream = begin(5) + record(0x85, struct.pack("<IH", start, 0) + name) + record(0x0A) + sheet
    return compound(stream.ljust(MIN_STREAM_BYTES, b"\0"))


def compound(stream: bytes) -> bytes:
    """A compound file with one stream, the workbook: its sectors after the table of sectors and the directory."""
    count = -(-len(stream) // SECTOR_BYTES)
    chain = [TABLE, END, *range(3, 2 + count), END]
    assert len(chain) <= SECTOR_BYTES // 4

    def entry(name: str, kind: int, child: int, start: int, size: int) -> bytes:
        text = name.encode("utf-16-le") + b"\0\0" if name else b""
        links = struct.pack("<HBBIII", len(text), kind, 1, FREE, FREE, child)
        return text.ljust(64, b"\0") + links + bytes(36) + struct.pack("<IQ", start, size)

    header = bytes.fromhex("d0cf11e0a1b11ae1") + bytes(16) + struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6) + bytes(6)
    header += struct.pack("<IIIIIIIII", 0, 1, 1, 0, MIN_STREAM_BYTES, END, 0, END, 0)
    header += struct.pack("<109I", 0, *[FREE] * 108)
    table = struct.pack("<128I", *chain, *[FREE] * (128 - len(chain)))
    directory = entry("Root Entry", 5, 1, END, 0) + entry("Workbook", 2, FREE, 2, len(stream))
    directory += 2 * entry("", 0, FREE, 0, 0)
    return header + table + directory + stream.ljust(count * SECTOR_BYTES, b"\0")


def xlsb(frame: pd.DataFrame) -> dict[str, str | bytes]:
    """The members of a binary workbook of 2007."""

    def varint(number: int) -> bytes:
        return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + varint(number >> 7)

    def record(kind: int, body: bytes = b"") -> bytes:
        identity = bytes([kind]) if kind < 128 else bytes([kind & 127 | 128, kind >> 7])
        return identity + varint(len(body)) + body

    def text(value: str) -> bytes:
        return struct.pack("<I", len(value)) + value.encode("utf-16-le")

    rows = b""
    for row, values in enumerate(table_of(frame)):
        rows += record(0, struct.pack("<IIHHBI", row, 0, 300, 0, 0, 0))
        for column, value in enumerate(values):
            place = struct.pack("<II", column, 0)
            if isinstance(value, str):
                rows += record(6, place + text(value))
            else:
                rows += record(5, place + struct.pack("<d", value))
    size = struct.pack("<IIII", 0, len(frame), 0, len(frame.columns) - 1)
    sheet = record(0x81) + record(0x94, size) + record(0x91) + rows + record(0x92) + record(0x82)
    entry = record(0x9C, struct.pack("<II", 0, 1) + text("rId1") + text("Sheet1"))
    book = record(0x83) + record(0x99, bytes(12)) + record(0x8F) + entry + record(0x90) + record(0x84)
    return {
        "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
        "xl/workbook.bin": book,
        "xl/_rels/workbook.bin.rels": RELATIONS,
        "xl/worksheets/sheet1.bin": sheet,
    }
