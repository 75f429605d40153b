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
    from python_calamine import CalamineWorkbook, PasswordError, SheetTypeEnum

    try:
        with open(path, "rb") as file:  # told by its bytes: programs write one kind under the name of another
            book: Any = CalamineWorkbook.from_filelike(file)
    except PasswordError:
        return {"failure": "password"}
    names = [entry.name for entry in book.sheets_metadata if entry.typ == SheetTypeEnum.WorkSheet]
    if wanted is not None:
        by_number = dict(zip(map(str, range(1, len(names) + 1)), names, strict=True))
        if wanted not in names and wanted not in by_number:
            return {"failure": "sheet", "filled": names}
        names = [wanted if wanted in names else by_number[wanted]]
    filled = [sheet for sheet in map(book.get_sheet_by_name, names) if sheet.height and sheet.width]
    tables = [sheet for sheet in filled if sheet.height > 1 and sheet.width > 1] or filled[: len(filled) == 1]
    # A cover has names and remarks beside them at most; where one sheet alone is wider, it is the table.
    wider = [sheet for sheet in tables if sheet.width > 2]
    tables = wider if len(wider) == 1 else tables
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
    with contextlib.suppress(zipfile.BadZipFile, KeyError), zipfile.ZipFile(path) as archive:
        # The workbook numbers its sheets, and another file says where each number lies.
        numbers = [
            next((value for key, value in element.items() if key.endswith("}id")), "")
            for element in ElementTree.fromstring(archive.read("xl/workbook.xml")).findall(".//{*}sheet")
            if element.get("name") == name
        ]
        relations = ElementTree.fromstring(archive.read("xl/_rels/workbook.xml.rels"))
        [target] = [element.get("Target", "") for element in relations if element.get("Id") == numbers[0]]
        with archive.open(posixpath.join("/xl", target).lstrip("/")) as file:
            for _, element in ElementTree.iterparse(file):
                if element.tag.endswith("}c"):
                    value = element.find("{*}v")
                    solved = value is not None and (value.text or element.get("t") == "str")
                    unsolved += [element.get("r", "?")] if element.find("{*}f") is not None and not solved else []
                    errors += [element.get("r", "?")] if element.get("t") == "e" else []
                elif element.tag.endswith("}row"):
                    element.clear()
    return {"unsolved": unsolved, "errors": errors}


if __name__ == "__main__":
    with contextlib.suppress(ImportError):  # not on Windows
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, resource.getrlimit(resource.RLIMIT_AS)[1]))
    json.dump(sheet_of(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None), sys.stdout)
