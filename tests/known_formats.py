"""One table in every format that is read."""

from __future__ import annotations

import gzip
import io
import sqlite3
import zipfile
from pathlib import Path

import pandas as pd

from known_workbooks import xls, xlsb

FACTORS = ["--factors", "drug,cell line", "--outcome", "growth"]
#: Endings of names; what comes through a pipe is told by its bytes.
FORMS = ["csv", "tsv", "csv.gz", "csv.zip", "json", "json.gz", "jsonl", "jsonl.zip", "parquet", "feather", "arrow"]
FORMS += ["sqlite", "xlsx", "ods", "xls", "xlsb", "xlsx.zip"]

_CONTENT = (
    '<?xml version="1.0" encoding="UTF-8"?><office:document-content '
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:spreadsheet>'
    '<table:table table:name="Sheet1">{rows}</table:table></office:spreadsheet></office:body></office:document-content>'
)


def measurements() -> pd.DataFrame:
    """A small screen with two cells unseen; some numbers are whole."""
    rows = [
        (f"d{i}", f"c{j}", 0.5 + i * 1.25 + j * j / 8 + k * 0.03)
        for i in range(4)
        for j in range(4)
        for k in range(2)
        if (i, j) not in ((1, 2), (3, 3))
    ]
    return pd.DataFrame(rows, columns=["drug", "cell line", "growth"])


def ods(frame: pd.DataFrame) -> bytes:
    """The smallest OpenDocument workbook that holds a frame."""

    def cell(value: object) -> str:
        if isinstance(value, str):
            return f'<table:table-cell office:value-type="string"><text:p>{value}</text:p></table:table-cell>'
        return f'<table:table-cell office:value-type="float" office:value="{value!r}"/>'

    table = [list(frame.columns), *frame.to_numpy().tolist()]
    rows = "".join(f"<table:table-row>{''.join(map(cell, row))}</table:table-row>" for row in table)
    manifest = '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>'
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    return zipped({"mimetype": kind, "META-INF/manifest.xml": manifest, "content.xml": _CONTENT.format(rows=rows)})


def zipped(members: dict[str, str | bytes]) -> bytes:
    """A zip archive of these members."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return packed.getvalue()


def as_form(frame: pd.DataFrame, form: str, path: Path) -> Path:
    """Write a frame in one of `FORMS`."""
    inner, _, packed = form.partition(".")
    if packed == "gz":
        path.write_bytes(gzip.compress(as_form(frame, inner, path).read_bytes()))
    elif packed == "zip":
        path.write_bytes(zipped({f"data/t.{inner}": as_form(frame, inner, path).read_bytes()}))
    elif inner == "sqlite":
        path.unlink(missing_ok=True)
        connection = sqlite3.connect(path)
        frame.to_sql("measurements", connection, index=False)
        connection.close()
    elif inner == "arrow":
        import pyarrow as pa

        table = pa.Table.from_pandas(frame, preserve_index=False)
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as stream:
            stream.write_table(table)
    elif inner == "xlsx":
        with path.open("wb") as file:
            frame.to_excel(file, index=False)
    elif inner == "ods":
        path.write_bytes(ods(frame))
    elif inner in ("xls", "xlsb"):
        path.write_bytes(xls(frame) if inner == "xls" else zipped(xlsb(frame)))
    else:
        write = {
            "csv": lambda: frame.to_csv(path, index=False, compression=None),
            "tsv": lambda: frame.to_csv(path, index=False, sep="\t", compression=None),
            "json": lambda: frame.to_json(path, orient="records", compression=None),
            "jsonl": lambda: frame.to_json(path, orient="records", lines=True, compression=None),
            "parquet": lambda: frame.to_parquet(path),
            "feather": lambda: frame.to_feather(path),
        }
        write[inner]()
    return path
