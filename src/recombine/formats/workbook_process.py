"""A workbook is read in a process of its own, with a limit on its memory: what breaks it breaks nothing else.

``python -m recombine.formats.workbook_process FILE [SHEET]`` prints a sheet, and what was seen on it, as JSON.
"""

from __future__ import annotations

import contextlib
import json
import posixpath
import sys
import zipfile
from typing import Any
from xml.etree import ElementTree

from recombine.formats.cell_texts import cell_text

#: Bytes of memory that the process may take, and cells of a sheet, at most.
MAX_MEMORY_BYTES, MAX_CELLS = 2 * 2**30, 5_000_000


def sheet_of(path: str, wanted: str | None) -> dict[str, Any]:
    """Return the cells of a sheet, by default of the only or the first with a table; or the ``failure`` there is."""
    from python_calamine import CalamineWorkbook, PasswordError, SheetTypeEnum, SheetVisibleEnum

    try:
        with open(path, "rb") as file:  # told by its bytes: programs write one kind under the name of another
            book: Any = CalamineWorkbook.from_filelike(file)
    except PasswordError:
        return {"failure": "password"}
    sheets = [entry for entry in book.sheets_metadata if entry.typ == SheetTypeEnum.WorkSheet]
    names = [entry.name for entry in sheets]
    in_sight = [entry.name for entry in sheets if entry.visible == SheetVisibleEnum.Visible]
    if wanted is not None:
        by_number = dict(zip(map(str, range(1, len(names) + 1)), names, strict=True))
        if wanted not in names and wanted not in by_number:
            return {"failure": "sheet", "filled": names}
        names = [wanted if wanted in names else by_number[wanted]]
    filled = [sheet for sheet in map(book.get_sheet_by_name, names) if sheet.height and sheet.width]
    filled.sort(key=lambda sheet: wanted is None and sheet.name not in in_sight)  # hidden ones where there is no other
    tables = [sheet for sheet in filled if sheet.height > 1 and sheet.width > 1] or filled[: len(filled) == 1]
    # A cover has names and remarks beside them at most; where one sheet alone is wider, it is the table.
    wider = [sheet for sheet in tables if sheet.width > 2]
    tables = wider if len(wider) == 1 else tables
    tables = [sheet for sheet in tables if sheet.name in in_sight] or tables
    about = {"filled": [sheet.name for sheet in filled]}
    if not tables:
        return {"failure": "unclear" if filled else "empty", **about}
    sheet = tables[0]
    if (sheet.end[0] + 1) * (sheet.end[1] + 1) > MAX_CELLS:
        return {"failure": "large", **about}
    # Rows are those of the sheet, whatever lies empty above the table.
    rows = [[cell_text(value) for value in row] for row in sheet.to_python(skip_empty_area=False)]
    merged = [[*start, *end] for start, end in sheet.merged_cell_ranges or ()]
    return {"chosen": sheet.name, "rows": rows, "merged": merged, **about, **_told_by_xml(path, sheet.name)}


def _told_by_xml(path: str, name: str) -> dict[str, list[str]]:
    """Return cells whose formula has no result, and those that hold an error: the library hands both over as empty."""
    unsolved: list[str] = []
    errors: list[str] = []
    # By column, the cells of formulas whose stored result is 0; "" for another result.
    results: dict[str, list[str]] = {}
    computed_later = False
    with contextlib.suppress(zipfile.BadZipFile, KeyError), zipfile.ZipFile(path) as archive:
        # The workbook numbers its sheets, and another file says where each number lies.
        book = ElementTree.fromstring(archive.read("xl/workbook.xml"))
        numbers = [
            next((value for key, value in element.items() if key.endswith("}id")), "")
            for element in book.findall(".//{*}sheet")
            if element.get("name") == name
        ]
        relations = ElementTree.fromstring(archive.read("xl/_rels/workbook.xml.rels"))
        [target] = [element.get("Target", "") for element in relations if element.get("Id") == numbers[0]]
        with archive.open(posixpath.join("/xl", target).lstrip("/")) as file:
            for _, element in ElementTree.iterparse(file):
                if element.tag.endswith("}c"):
                    value, cell = element.find("{*}v"), element.get("r", "?")
                    solved = value is not None and (value.text or element.get("t") == "str")
                    if element.find("{*}f") is not None:
                        unsolved += [] if solved else [cell]
                        zero = value is not None and value.text == "0"
                        results.setdefault(cell.rstrip("0123456789"), []).append(cell if zero else "")
                    errors += [cell] if element.get("t") == "e" else []
                elif element.tag.endswith("}row"):
                    element.clear()
        # Programs that compute nothing store 0 for every formula, and say that all is to be computed when it is opened.
        computed_later = any(element.get("fullCalcOnLoad") in ("1", "true") for element in book.iter())
    unsolved += [
        cell for cells in results.values() if computed_later and len(cells) > 1 and all(cells) for cell in cells
    ]
    return {"unsolved": unsolved, "errors": errors}


if __name__ == "__main__":
    with contextlib.suppress(ImportError):  # not on Windows
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, resource.getrlimit(resource.RLIMIT_AS)[1]))
    json.dump(sheet_of(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None), sys.stdout)
