"""What is damaged, locked, misnamed or made to fill a memory ends in one line, and memory stays bounded."""

from __future__ import annotations

import io
import json
import os
import sqlite3
import struct
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import openpyxl
import pytest

from known_formats import FACTORS, as_form, measurements, ods, zipped

Run = Callable[..., tuple[int, str, str]]
Made = Callable[[str], Path]
SHEET = "xl/worksheets/sheet1.xml"


def refused(run: Run, path: Path, cause: str, *options: str) -> None:
    """A command says in one line what is wrong."""
    code, out, err = run("audit", path, *FACTORS, *options)
    assert (code, out, err.count("\n")) == (2, "", 1), err
    assert cause in err
    assert "Traceback" not in err


def replaced(path: Path, member: str, old: str, new: str) -> Path:
    """Put another text into one member of an archive."""
    with zipfile.ZipFile(path) as archive:
        members: dict[str, str | bytes] = {name: archive.read(name) for name in archive.namelist()}
    text = members[member].decode() if isinstance(members[member], bytes) else ""  # type: ignore[union-attr]
    assert old in text
    members[member] = text.replace(old, new, 1)
    path.write_bytes(zipped(members))
    return path


def workbook(path: Path, **sheets: list[list[object]]) -> Path:
    """Write a workbook with these sheets."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def rows_of_table() -> list[list[object]]:
    frame = measurements()
    return [list(frame.columns), *frame.to_numpy().tolist()]


@pytest.mark.slow
def test_a_formula_without_a_result_is_named_with_its_cell(run: Run, tmp_path: Path) -> None:
    table = rows_of_table()
    table[6][2] = "=C6*2"
    path = workbook(tmp_path / "t.xlsx", Data=table)
    refused(run, path, "t.xlsx: the formula in cell C7 of sheet 'Data' has no stored result; open it in a spreadsheet")
    replaced(path, SHEET, "<f>C6*2</f><v />", "<f>C6*2</f><v>1.5</v>")
    assert run("audit", path, *FACTORS)[0] == 0


@pytest.mark.slow
def test_zeros_that_a_program_stored_without_computing_are_no_results(run: Run, tmp_path: Path) -> None:
    """Programs that only write formulas store 0 for each, and say that all is to be computed when it is opened."""
    table = [[*row[:2], f"=A{line}" if line > 1 else row[2]] for line, row in enumerate(rows_of_table(), 1)]
    path = workbook(tmp_path / "t.xlsx", Data=table)
    for line in range(2, len(table) + 1):
        replaced(path, SHEET, f"<f>A{line}</f><v />", f"<f>A{line}</f><v>0</v>")
    refused(run, path, f"the formula in cell C2 and {len(table) - 2} more of sheet 'Data' has no stored result")
    replaced(path, SHEET, "<f>A9</f><v>0</v>", "<f>A9</f><v>2.5</v>")
    assert run("audit", path, *FACTORS)[0] == 0
    replaced(path, SHEET, "<f>A9</f><v>2.5</v>", "<f>A9</f><v>0</v>")
    replaced(path, "xl/workbook.xml", ' fullCalcOnLoad="1"', "")
    assert run("audit", path, *FACTORS)[0] == 0


@pytest.mark.slow
def test_a_hidden_sheet_is_read_only_where_it_is_named(run: Run, tmp_path: Path) -> None:
    old = [[*row[:2], 100.0 + row[2]] if line else row for line, row in enumerate(rows_of_table())]  # type: ignore[operator]
    path = workbook(tmp_path / "t.xlsx", Old=old, Data=rows_of_table())
    book = openpyxl.load_workbook(path)
    book["Old"].sheet_state = "hidden"
    book.active = 1
    book.save(path)
    code, out, _ = run("audit", path, *FACTORS)
    assert code == 0
    assert "Sheet Data is read; to read another (Old), say --sheet" in " ".join(out.split())
    assert run("audit", path, *FACTORS, "--sheet", "Old")[0] == 0


def test_what_holds_no_table_is_told_with_what_to_do(run: Run, tmp_path: Path) -> None:
    document = tmp_path / "t.docx"
    document.write_bytes(zipped({"word/document.xml": "<w:document/>"}))
    refused(run, document, "t.docx is a document or slides, not a table; copy its table into a spreadsheet")
    named = tmp_path / "d.xlsx"
    named.write_bytes(document.read_bytes())
    refused(run, named, "d.xlsx is a document or slides")
    table = as_form(measurements(), "csv", tmp_path / "t.csv")
    for packed, mode in (("t.tar", "w"), ("t.tar.gz", "w:gz")):
        with tarfile.open(tmp_path / packed, mode) as archive:  # type: ignore[call-overload]
            archive.add(table, "t.csv")
        refused(run, tmp_path / packed, f"{packed} is an archive by tar, not a table; unpack it")


def test_a_formula_that_gives_no_letters_has_a_result(run: Run, tmp_path: Path) -> None:
    path = workbook(tmp_path / "t.xlsx", Data=[*rows_of_table(), ["d0", "c0", "=1"]])
    replaced(path, SHEET, '<c r="C30"><f>1</f><v /></c>', '<c r="C30" t="str"><f>""</f><v></v></c>')
    assert run("audit", path, *FACTORS)[0] == 0


def test_an_error_is_missing_and_noted(run: Run, tmp_path: Path) -> None:
    path = workbook(tmp_path / "t.xlsx", Data=rows_of_table())
    replaced(path, SHEET, '<c r="C3" t="n"><v>0.53</v></c>', '<c r="C3" t="e"><v>#N/A</v></c>')
    assert run("audit", path, *FACTORS)[0] == 0
    from recombine.tables.frames import open_table

    source = open_table(path)
    [note] = source.reader.file.notes  # type: ignore[attr-defined]
    assert (note.kind, note.values, note.lines) == ("error_cell", ("C3",), (3,))
    assert source.read(["growth"])["growth"].tolist()[1] is None


COVER = [["Project", "drug screen"], ["Contact", "somebody"], ["Sheet Data", "measured"], ["Year", 2024]]


@pytest.mark.slow
def test_a_cover_of_two_columns_is_passed_over_for_the_only_table(run: Run, tmp_path: Path) -> None:
    path = workbook(tmp_path / "t.xlsx", README=COVER, Data=rows_of_table(), Codes=[["d0", "x"], ["d1", "y"]])
    code, out, _ = run("audit", path)
    assert code == 0
    assert "drug (4) × cell line (4), outcome growth" in " ".join(out.split())
    assert "Sheet Data is read; to read another (README, Codes), say --sheet" in " ".join(out.split())
    plain = as_form(measurements(), "csv", tmp_path / "t.csv")
    assert run("audit", plain, *FACTORS, "--targets", path)[0] == 0


@pytest.mark.slow
def test_where_a_cover_was_read_the_other_sheets_and_the_option_are_named(run: Run, tmp_path: Path) -> None:
    path = workbook(tmp_path / "t.xlsx", README=COVER, Data=rows_of_table(), More=rows_of_table())
    hint = "Sheet README was read, not Data, More: say --sheet Data; of a file beside the table, save that sheet as CSV"
    code, out, err = run("audit", path)
    assert (code, out) == (2, "")
    assert err.endswith(f"{hint}\n")
    assert len(err.splitlines()) == 1
    assert run("audit", path, "--sheet", "Data")[0] == 0
    refused(run, path, hint)
    plain = as_form(measurements(), "csv", tmp_path / "t.csv")
    refused(run, plain, hint, "--targets", str(path))
    refused(run, plain, hint, "--features", f"drug={path}:Contact")


@pytest.mark.slow
def test_sheets_are_chosen_named_and_missed(run: Run, tmp_path: Path) -> None:
    from recombine.table_spec import TableSpec
    from recombine.tables.frames import open_table

    other = [["drug", "cell line", "growth"], ["x", "y", 1], ["x", "z", 2], ["w", "y", 3]]
    path = workbook(tmp_path / "t.xlsx", Info=[["made in June"]], Data=rows_of_table(), Second=other)
    source = open_table(path)
    assert source.read(["drug"])["drug"].tolist()[0] == "d0"
    [note] = source.reader.file.notes  # type: ignore[attr-defined]
    assert (note.kind, note.column, note.values) == ("sheet", "Data", ("Info", "Second"))
    for name in ("Second", "3"):
        assert open_table(path, TableSpec(sheet=name)).read(["drug"])["drug"].tolist() == ["x", "x", "w"]
    refused(run, path, "t.xlsx has no sheet 'Secnd'; did you mean 'Second'?", "--sheet", "Secnd")
    refused(run, path, "t.xlsx has no sheet '4';", "--sheet", "4")
    refused(run, workbook(tmp_path / "e.xlsx", A=[], B=[]), "e.xlsx holds nothing")
    refused(
        run, workbook(tmp_path / "u.xlsx", A=[["x"]], B=[["y"]]), "u.xlsx has no sheet with a table, but A, B; name one"
    )
    refused(run, as_form(measurements(), "csv", tmp_path / "t.csv"), "holds one table, not sheets", "--sheet", "1")


@pytest.mark.slow
def test_a_name_that_lies_is_told(run: Run, made: Made, tmp_path: Path) -> None:
    def under(name: str, content: bytes | str) -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    book = made("xlsx").read_bytes()
    refused(run, under("a.csv", book), "a.csv is a workbook by its content; name it a.xlsx")
    refused(run, under("a.parquet.zip", book), "is a workbook by its content; name it a.parquet.xlsx")
    refused(run, under("b.xlsx", made("csv").read_bytes()), "b.xlsx is text by its content; name it b.csv")
    refused(run, under("c.xls", "<html><table><tr><td>drug</td></tr></table>"), "c.xls is a web page, not a table")
    refused(run, under("d.xlsx", "\n <!DOCTYPE html><p>"), "d.xlsx is a web page")
    refused(run, under("e.db", b"\x00\x05\x16\x07 no database"), "e.db is text by its content")
    refused(run, under("f.csv", made("csv.gz").read_bytes()), "f.csv is packed by gzip by its content; name it f.csv")
    refused(run, under("g.xlsx", made("sqlite").read_bytes()), "g.xlsx is an SQLite database by its content")
    assert run("audit", under("h.xls", book), *FACTORS)[0] == 0  # programs write either under either name


@pytest.mark.slow
def test_what_is_locked_or_damaged_is_told(run: Run, made: Made, tmp_path: Path) -> None:
    locked = tmp_path / "locked.xlsx"
    locked.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600) + "EncryptedPackage".encode("utf-16-le"))
    refused(run, locked, "locked.xlsx is locked with a password; save it without one")
    book = made("xlsx")
    whole = book.read_bytes()
    for size in (30, 200, len(whole) // 2, len(whole) - 30):
        book.write_bytes(whole[:size])
        refused(run, book, "t.xlsx is cut off or damaged; copy it again")
    old = tmp_path / "old.xls"
    old.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + os.urandom(4096))
    refused(run, old, "old.xls is damaged or no workbook")
    for form in ("sqlite", "feather", "json", "jsonl.zip", "json.gz", "arrow"):
        path = made(form)
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
        refused(run, path, f"t.{form.partition('.')[0]}")


@pytest.mark.slow
def test_a_zip_holds_one_table_or_names_it(run: Run, tmp_path: Path) -> None:
    table = as_form(measurements(), "csv", tmp_path / "t.csv").read_bytes()
    path = tmp_path / "t.zip"
    path.write_bytes(zipped({"a.csv": table, "b.csv": table, "readme.md": "x", "__MACOSX/._a.csv": "x"}))
    refused(run, path, "t.zip holds 2 tables (a.csv, b.csv); name one with --sheet")
    refused(run, path, "--sheet c.csv is no file in t.zip; did you mean 'b.csv'?", "--sheet", "c.csv")
    assert run("audit", path, *FACTORS, "--sheet", "b.csv")[0] == 0
    path.write_bytes(zipped({"../../evil.csv": table}))
    assert run("audit", path, *FACTORS)[0] == 0
    assert not (tmp_path.parents[1] / "evil.csv").exists()
    path.write_bytes(zipped({"readme.md": "x"}))
    refused(run, path, "t.zip holds 0 tables (readme.md); zip the table itself")
    path.write_bytes(zipped({"t.csv.gz": __import__("gzip").compress(table)}))
    refused(run, path, "t.zip holds another packed file; unpack it first")
    content = bytearray(zipped({"t.csv": table}))
    content[6] |= 1
    content[content.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(bytes(content))
    refused(run, path, "t.zip is locked with a password")


def test_a_database_is_only_ever_read(run: Run, tmp_path: Path) -> None:
    path = as_form(measurements(), "sqlite", tmp_path / "t.db")
    connection = sqlite3.connect(path)
    connection.execute("CREATE VIEW some AS SELECT * FROM measurements WHERE growth < 5")
    connection.execute("CREATE TABLE other (a, b)")
    connection.commit()
    connection.close()
    before = path.read_bytes()
    refused(run, path, "t.db holds 2 tables (measurements, other); name one with --sheet")
    assert run("audit", path, *FACTORS, "--sheet", "some")[0] == 0
    refused(
        run, path, "--sheet mesurements is no table of t.db; did you mean 'measurements'?", "--sheet", "mesurements"
    )
    assert path.read_bytes() == before
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["t.db"]
    (tmp_path / "t.db-wal").write_bytes(b"half a transaction")
    refused(run, path, "t.db is being written (t.db-wal lies beside it)", "--sheet", "some")


def test_a_view_that_never_ends_is_stopped(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from recombine.formats import databases

    monkeypatch.setattr(databases, "MAX_SECONDS_ASKED", 0.5)
    connection = sqlite3.connect(tmp_path / "t.db")
    connection.execute(
        "CREATE VIEW t AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT * FROM n WHERE i < 0"
    )
    connection.close()
    refused(run, tmp_path / "t.db", "it takes over 0 seconds")


@pytest.mark.slow
def test_json_that_is_no_list_of_records_is_told(run: Run, written: Callable[..., Path]) -> None:
    records = json.loads(measurements().to_json(orient="records"))
    refused(run, written(json.dumps({"data": records}), "t.json"), "give a list of records")
    deep = '[{"a": ' + "[" * 100_000 + "]" * 100_000 + "}]"
    refused(run, written(deep, "deep.json"), "brackets inside one another; give flat records")
    quoted = json.dumps([{**record, "note": '"[[[[{{{{\\' * 50} for record in records])
    assert run("audit", written(quoted, "quoted.json"), *FACTORS)[0] == 0
    refused(run, written("[1, 2, 3]", "numbers.json"), "numbers.json")


def sparse_xlsx() -> bytes:
    """Three cells, of which the last is the last that a sheet can have."""
    sheet = (
        '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><dimension ref="A1:XFD1048576"/>'
        '<sheetData><row r="1"><c r="A1"><v>1</v></c><c r="B1"><v>2</v></c></row>'
        '<row r="1048576"><c r="XFD1048576"><v>3</v></c></row></sheetData></worksheet>'
    )
    return _book(sheet)


def claimed_xlsx() -> bytes:
    """A sheet of three cells that says it has all."""
    sheet = (
        '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><dimension ref="A1:XFD1048576"/>'
        '<sheetData><row r="1"><c r="A1"><v>1</v></c></row></sheetData></worksheet>'
    )
    return _book(sheet)


def laughing_xlsx() -> bytes:
    """Entities that stand for entities."""
    entities = (
        '<!ENTITY a "'
        + "x" * 1000
        + '">'
        + "".join(f'<!ENTITY {after} "{f"&{before};" * 50}">' for before, after in zip("abcdef", "bcdefg", strict=True))
    )
    sheet = (
        f"<?xml version='1.0'?><!DOCTYPE w [{entities}]>"
        '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData><row r="1">'
        '<c r="A1" t="inlineStr"><is><t>&g;</t></is></c><c r="B1"><v>1</v></c></row>'
        '<row r="2"><c r="A2"><v>1</v></c><c r="B2"><v>1</v></c></row></sheetData></worksheet>'
    )
    return _book(sheet)


def _book(sheet: str | bytes) -> bytes:
    packed = io.BytesIO()
    openpyxl.Workbook().save(packed)
    with zipfile.ZipFile(packed) as archive:
        members: dict[str, str | bytes] = {name: archive.read(name) for name in archive.namelist()}
    return zipped(members | {SHEET: sheet})


def bomb_xlsx() -> bytes:
    """A workbook that unpacks to 1.1 GB, as it says itself."""
    packed = io.BytesIO(_book("<worksheet/>"))
    with (
        zipfile.ZipFile(packed, "a", zipfile.ZIP_DEFLATED, compresslevel=9) as archive,
        archive.open("xl/media/x.bin", "w") as member,
    ):
        for _ in range(1100):
            member.write(bytes(2**20))
    return packed.getvalue()


def lying_xlsx() -> bytes:
    """The same, but its directory says that it is small."""
    content = bytearray(bomb_xlsx())
    size = struct.pack("<I", 1100 * 2**20)
    while (place := content.find(size)) >= 0:
        content[place : place + 4] = struct.pack("<I", 10)
    return bytes(content)


def repeated_ods() -> bytes:
    """One cell that is said to stand in a million rows and sixteen thousand columns."""
    with zipfile.ZipFile(io.BytesIO(ods(measurements()[:1]))) as archive:
        members: dict[str, str | bytes] = {name: archive.read(name) for name in archive.namelist()}
    text = bytes(members["content.xml"]).decode()  # type: ignore[arg-type]
    text = text.replace("<table:table-row>", '<table:table-row table:number-rows-repeated="1000000">')
    text = text.replace("<table:table-cell ", '<table:table-cell table:number-columns-repeated="16000" ')
    return zipped(members | {"content.xml": text})


BOMBS = {
    "sparse.xlsx": (sparse_xlsx, "sparse.xlsx takes more than 2 GB of memory to open"),
    "claimed.xlsx": (claimed_xlsx, "claimed.xlsx"),
    "laughing.xlsx": (laughing_xlsx, "laughing.xlsx"),
    "bomb.xlsx": (bomb_xlsx, "too many for a workbook; save the sheet as CSV"),
    "lying.xlsx": (lying_xlsx, "lying.xlsx"),
    "repeated.ods": (repeated_ods, "repeated.ods"),
}
_LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (6 * 2**30, 6 * 2**30))
from recombine.cli import main
try:
    main(["audit", sys.argv[1], "--factors", "a,b"])
finally:
    peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    print(peak // 1024)
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", BOMBS)
def test_what_fills_a_memory_is_refused_in_bounded_memory(tmp_path: Path, name: str) -> None:
    make, cause = BOMBS[name]
    path = tmp_path / name
    path.write_bytes(make())
    done = subprocess.run([sys.executable, "-c", _LIMITED, path], capture_output=True, text=True, timeout=240)
    told = [line for line in done.stderr.splitlines() if not line.startswith("still ")]  # said where it takes long
    assert (done.returncode, len(told)) == (2, 1), done.stderr
    assert cause in done.stderr
    assert int(done.stdout) < 2500, "megabytes"
