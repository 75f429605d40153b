"""How a sheet was read, in words: one sentence for each kind of note."""

from __future__ import annotations

from recombine.sheets.notes import Note
from recombine.writing import join_words, listing, option_text, plural, printable

#: Values that a sentence names.
MAX_SAID_VALUES = 4

SENTENCES = {
    "title": "Above the header {lines} {are} not read: {values}.",
    "footer": "Below the table {lines} {are} not read: {values}.",
    "empty": "{count} without a cell {are} left out.",
    "repeated_header": "The header stands again in {lines}, which {are} left out.",
    "joined_header": "Two header rows are read as one: {values}.",
    "unit_row": "The row below the header is read as units; {column} is in {values}.",
    "merged": "{cells} of {column} {are} empty and read as the label above, as in merged cells.",
    "transposed": "The table is turned, since its rows were the columns: {values}.",
    "wide": "Columns {rest} are read as levels of {column}, their numbers as {first}; to name them say {cure}.",
    "looks_wide": "Columns {values} are read as different measurements; if they are levels of one factor, say {cure}.",
    "plate": "{plates} read as plate, row, column and value{named}.",
    "percent": "{column} is read without its percent signs: 12% is 12.",
    "thousands": "{column} is read without what stands between thousands, as in {values}.",
    "decimal_comma": "{column} is written with decimal commas, as in {values}, and read with points.",
    "unclear_comma": "{column} holds numbers such as {values}: commas are read as thousands, not as decimals.",
    "currency": "{column} is read without its currency {values}.",
    "unit": "{column} is read without its unit {values}.",
    "unit_spelling": "Units of {column} are spelled in one way: {values}.",
    "negative": "{column} has negative numbers such as {values}, which are read with a minus.",
    "limit": "{column} has {cells} outside a limit ({values}), read as not measured: {lines}.",
    "nothing": "{column} has {cells} that spell that nothing is there ({values}), read as missing.",
    "misfit": "{column} has {cells} that {are} no number ({values}): {lines}; correct them, or leave them empty.",
    "blanks": "Blanks around {levels} of {column} are not read.",
    "alike": "{column} has levels that differ by case and blanks alone, read as one: {values}.",
    "same_amount": "{column} has the same amount in two units, kept as two levels: {values}.",
    "date": "Dates of {column} are read as year-month-day.",
    "unclear_date": "Dates of {column} such as {values} may begin with the day or the month; they are kept as written.",
    "gene_date": "{column} has dates among names ({values}), which a spreadsheet may have made of genes: {lines}.",
    "sheet": "Sheet {column} is read; to read another ({values}), say --sheet.",
    "error_cell": "{cells} {hold} an error such as #N/A ({values}), read as missing.",
    "renamed": "Columns without a name of their own are called {values}.",
}


def reading_sentence(note: Note) -> str:
    """Say one thing that was read otherwise than it was written.

    Examples
    --------
    >>> print(reading_sentence(Note("limit", "gain", (7, 9), ("<5", "n.d."), 2)))
    gain has 2 cells outside a limit (<5, n.d.), read as not measured: lines 7 and 9.
    """
    count = note.count or len(note.lines) or 1
    lines = [f"{line:,}" for line in note.lines[:MAX_SAID_VALUES]]
    more = max(count if note.lines else 0, len(note.lines)) - len(lines)
    outcome = printable(note.values[0]) if note.kind == "wide" and note.values else "value"
    return SENTENCES[note.kind].format(
        column=printable(note.column),
        values=listing(note.values, MAX_SAID_VALUES),
        rest=listing(note.values[1:], MAX_SAID_VALUES),
        first=outcome,
        lines=f"line{'s' if count > 1 else ''} {join_words([*lines, *([f'{more:,} more'] if more > 0 else [])])}",
        hold="holds" if count == 1 else "hold",
        are="is" if count == 1 else "are",
        count=plural(count, note.column or "row"),
        cells=plural(count, "cell"),
        levels=plural(count, "level"),
        plates=f"{plural(count, 'plate')} {'is' if count == 1 else 'are'}",
        named=f": {listing(note.values, MAX_SAID_VALUES)}" if note.values else "",
        cure=option_text("--wide", f"{note.column or 'factor'}={outcome}"),
    )
