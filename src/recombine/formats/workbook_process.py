"""A workbook is read in a process of its own, with a limit on its memory: what breaks it breaks nothing else.

``python -m recombine.formats.workbook_process FILE [SHEET]`` prints a line of JSON about the sheet, then one per row.
"""

from __future__ import annotations

import contextlib
import json
import posixpath
import sys
import zipfile
from collections.abc import Callable
from typing import Any
from xml.parsers import expat

from recombine.formats.cell_texts import cell_text

#: Bytes of memory that the process may take.
MAX_MEMORY_BYTES = 2 * 2**30
#: Cells of a sheet, at most.
MAX_CELLS = 5_000_000
#: Bytes of a sheet that are looked at in one go.
PIECE_BYTES = 2**18


def print_sheet(path: str, wanted: str | None) -> None:
    """Print what the chosen sheet of a workbook holds, or what is wrong with it."""
    with contextlib.suppress(ImportError):  # not on Windows
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, resource.getrlimit(resource.RLIMIT_AS)[1]))
    from python_calamine import CalamineWorkbook, PasswordError, SheetTypeEnum

    try:
        with open(path, "rb") as file:
            book: Any = CalamineWorkbook.from_filelike(file)
            about, sheet = _chosen(book, wanted, SheetTypeEnum.WorkSheet)
    except PasswordError:
        about, sheet = {"failure": "password"}, None
    if sheet is not None:
        # Lines are those of the sheet, whatever lies empty above the table.
        rows = [[cell_text(value) for value in row] for row in sheet.to_python(skip_empty_area=False)]
        about["merged"] = [[*start, *end] for start, end in sheet.merged_cell_ranges or ()]
        about |= _told_by_xml(path, sheet.name)
    print(json.dumps(about))
    for row in rows if sheet is not None else ():
        print(json.dumps(row))


def _chosen(book: Any, wanted: str | None, worksheet: object) -> tuple[dict[str, Any], Any]:
    """Return the sheet that is wanted, or the first with a table on it, and the names of all that hold something."""
    names = [entry.name for entry in book.sheets_metadata if entry.typ == worksheet]
    if wanted is not None:
        by_number = {str(number): name for number, name in enumerate(names, 1)}
        name = wanted if wanted in names else by_number.get(wanted)
        if name is None:
            return {"failure": "sheet", "sheets": names}, None
        names = [name]
    filled = [sheet for sheet in map(book.get_sheet_by_name, names) if sheet.height and sheet.width]
    tables = [sheet for sheet in filled if sheet.height > 1 and sheet.width > 1] or filled[: len(filled) == 1]
    about: dict[str, Any] = {"sheets": [sheet.name for sheet in filled]}
    if not tables:
        return {"failure": "unclear" if filled else "empty", **about}, None
    if (tables[0].end[0] + 1) * (tables[0].end[1] + 1) > MAX_CELLS:
        return {"failure": "large", **about}, None
    return {"chosen": tables[0].name, **about}, tables[0]


def _told_by_xml(path: str, name: str) -> dict[str, list[str]]:
    """Return cells whose formula has no result, and those that hold an error: the library hands both over as empty."""
    told: dict[str, list[str]] = {"unsolved": [], "errors": []}
    with contextlib.suppress(zipfile.BadZipFile), zipfile.ZipFile(path) as archive:
        if "xl/workbook.xml" in archive.namelist() and (member := _member_of(archive, name)) is not None:
            cell: dict[str, Any] = {}

            def start(tag: str, attributes: dict[str, str]) -> None:
                if tag == "c":
                    cell.clear()
                    cell.update(attributes)
                cell[tag] = cell["inside"] = tag

            def end(tag: str) -> None:
                if tag == "c":
                    # A text without letters is a result, too.
                    solved = "result" in cell or (cell.get("t") == "str" and "v" in cell)
                    told["unsolved"] += [cell.get("r", "?")] if "f" in cell and not solved else []
                    told["errors"] += [cell.get("r", "?")] if cell.get("t") == "e" else []

            def text(_: str) -> None:
                if cell.get("inside") == "v":
                    cell["result"] = True

            _parse(archive, member, start, end, text)
    return told


def _member_of(archive: zipfile.ZipFile, name: str) -> str | None:
    """Return the part of an archive that holds a sheet."""
    relations: dict[str, str] = {}
    targets: dict[str, str] = {}

    def sheet(tag: str, attributes: dict[str, str]) -> None:
        if tag == "sheet":
            number = next((value for key, value in attributes.items() if key.endswith(":id")), "")
            relations[attributes.get("name", "")] = number

    def relation(tag: str, attributes: dict[str, str]) -> None:
        if tag == "Relationship":
            targets[attributes.get("Id", "")] = attributes.get("Target", "")

    _parse(archive, "xl/workbook.xml", sheet)
    _parse(archive, "xl/_rels/workbook.xml.rels", relation)
    member = posixpath.join("/xl", targets.get(relations.get(name, ""), "")).lstrip("/")
    return member if member in archive.namelist() else None


def _parse(
    archive: zipfile.ZipFile,
    member: str,
    start: Callable[[str, dict[str, str]], None],
    end: Callable[[str], None] = lambda tag: None,
    text: Callable[[str], None] | None = None,
) -> None:
    """Run over the elements of a member, piece by piece; one that declares entities is refused."""
    parser = expat.ParserCreate()
    parser.StartElementHandler = lambda tag, attributes: start(tag.rpartition(":")[2], attributes)
    parser.CharacterDataHandler = text
    parser.EndElementHandler = lambda tag: end(tag.rpartition(":")[2])

    def refuse(*_: object) -> None:
        raise ValueError("entities are declared")

    parser.EntityDeclHandler = refuse
    with archive.open(member) as file:
        while chunk := file.read(PIECE_BYTES):
            parser.Parse(chunk)


if __name__ == "__main__":
    print_sheet(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None)
