"""How a table was read, in words: rows and columns used, what was guessed, and one sentence for each kind of note."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine.design.design import used_spec
from recombine.design.notes import NoteKind
from recombine.jobs.findings.reading import LevelsInDoubt
from recombine.sheets.notes import MAX_NAMED_VALUES, Note
from recombine.table_spec import plain_spec, spec_command
from recombine.tables.grouping import RowsAre
from recombine.words.answer import REPEAT, AnswerLine
from recombine.words.table import rows_phrase
from recombine.writing import amount, join_words, listing, option_text, plural, printable

if TYPE_CHECKING:
    from recombine.design.design import Design
    from recombine.jobs.audit.coverage import Coverage

#: Factors that are told with their numbers of levels; lines after the first that an answer has on reading, and their
#: rows on a screen.
MAX_FACTORS_TOLD, MAX_READING_LINES, MAX_READING_ROWS = 5, 3, 6
#: Values that a sentence names.
MAX_SAID_VALUES = 4
#: Kinds of notes that say what a number or a row may be instead.
DOUBTS = frozenset({"unclear_comma", "unclear_point", "total_level", "sentinel", "misfit"})

SENTENCES = {
    "title": "Above the header {lines} {are} not read: {values}.",
    "footer": "Below the table {lines} {are} not read: {values}.",
    "section": "{column} stands above its rows in {lines}, and is read as a column: {values}.",
    "settings": "Settings of an instrument in {lines} ({values}) are not read.",
    "total_rows": "Sums or means of others in {lines} ({values}) are not read.",
    "beside": "Beside the table {lines} {hold} what is not read: {values}.",
    "empty": "{count} without a cell {are} left out.",
    "repeated_header": "The header is repeated, or continued, in {lines}, which {are} left out.",
    "joined_header": "Two header rows are read as one: {values}.",
    "unit_row": "The row below the header is read as units; {column} is in {values}.",
    "merged": "{cells} of {column} {are} empty or a ditto mark, and read as the label above, as in merged cells.",
    "transposed": "The table is turned, since its rows were the columns: {values}.",
    "wide": "Columns {rest} are read as levels of {column}, their numbers as {first}; to name them say {cure}.",
    "repeats": "Columns {rest} are read as {first} measured again; if they are levels, say {cure}.",
    "looks_wide": "Columns {values} are read as different measurements; if they are levels of one factor, say {cure}.",
    "plate": "{plates} read as plate, row, column and value{named}.",
    "percent": "{column} is read without its percent signs: 12% is 12.",
    "thousands": "{column} is read without what stands between thousands, as in {values}.",
    "decimal_comma": "{column} is written with decimal commas, as in {values}, and read with points.",
    "unclear_comma": "{column} has numbers such as {values}, read as thousands; if they are decimals, write points.",
    "unclear_point": "{column} has numbers such as {values}, read as decimals; if they are thousands, omit the point.",
    "currency": "{column} is read without its currency {values}.",
    "unit": "{column} is read without its unit {values}.",
    "unit_spelling": "Units of {column} are spelled in one way: {values}.",
    "negative": "{column} has negative numbers such as {values}, which are read with a minus.",
    "marked": "{column} has numbers with a footnote mark such as {values}, which are read without it.",
    "limit": "{column} has {cells} outside a limit ({values}), read as not measured: {lines}.",
    "nothing": "{column} has {cells} marked as empty ({values}), read as missing.",
    "misfit": "{column} has {cells} that {are} no number ({values}): {lines}; correct them, or leave them empty.",
    "mixed": "{column} looks like numbers written in several ways, or lists ({values}), and is read as text: {lines}.",
    "sentinel": "{column} has {cells} far from all others ({values}); if nothing was measured there, leave them empty.",
    "code": "{column} has {cells} far from all others ({values}), read as not measured: {lines}.",
    "total_level": "{column} has a level that may sum up others ({values}): {lines}; if it does, leave these rows out.",
    "ticks": "Cells that answer yes or no ({values}) are read as 1 and 0.",
    "total_column": "Columns that sum up others are not read: {values}.",
    "blanks": "Blanks around {levels} of {column} are not read.",
    "alike": "{column} has levels that differ by case and blanks alone, read as one: {values}.",
    "same_amount": "{column} has the same amount in two units: {values}.",
    "date": "Dates of {column} are read as year-month-day.",
    "unclear_date": "Dates of {column} such as {values} may begin with the day or the month; they are kept as written.",
    "gene_date": "{column} has dates among names ({values}), which a spreadsheet may have made of them: {lines}.",
    "sheet": "Sheet {column} is read; to read another ({values}), say --sheet.",
    "error_cell": "{cells} {hold} an error such as #N/A ({values}), read as missing.",
    "renamed": "Columns without a name of their own are called {values}.",
}


#: Where the reader named the factor and the outcome of a wide table.
WIDE_SAID = "Columns {rest} are read as levels of {column}, their numbers as {first}, as --wide says."
#: Where several columns are of one level, besides.
WIDE_REPLICATES = (
    "Columns {rest} are read as levels of {column}, replicates as rows of one combination, their numbers as {first}, "
    "as --wide says."
)


def reading_sentence(note: Note, *, wide_said: bool = False) -> str:
    """Say one thing that was read otherwise than it was written; ``wide_said`` is whether --wide was given.

    Examples
    --------
    >>> print(reading_sentence(Note("limit", "gain", (7, 9), ("<5", "n.d."), 2)))
    gain has 2 cells outside a limit (<5, n.d.), read as not measured: lines 7 and 9.
    """
    count = note.count or len(note.lines) or 1
    lines = [f"{line:,}" for line in note.lines[:MAX_SAID_VALUES]]
    more = max(count if note.lines else 0, len(note.lines)) - len(lines)
    outcome = printable(note.values[0]) if note.values and note.kind != "looks_wide" else "value"
    several = len(note.values) <= note.count and len(note.values) < MAX_NAMED_VALUES
    wide_sentence = WIDE_REPLICATES if several else WIDE_SAID
    sentence = wide_sentence if wide_said and note.kind == "wide" else SENTENCES[note.kind]
    return sentence.format(
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


def reading_lines(design: Design, coverage: Coverage) -> list[AnswerLine]:
    """Say how a table was read: rows and columns, then what was tidied, guessed, merged and is in doubt.

    Examples
    --------
    >>> import pandas as pd, recombine as rc
    >>> frame = pd.DataFrame({"strain": [*"aabbaba", None], "dose": list("lhlhlhhl")})
    >>> audit = rc.audit(frame.assign(mass=[0.5, 1.5, 2.5, 3.5, 4.5, 6.0, 7.0, 9.5]))
    >>> for line in reading_lines(audit.design, audit.coverage):
    ...     print(f"{line.name}: {line.text}")
    Read: 7 of 8 rows used (1 with no value of 'strain'): strain (2) × dose (2), outcome mass
    Guessed: the factors and the outcome
    """
    names = [f"{factor.name} ({len(factor.levels):,})" for factor in design.factors[:MAX_FACTORS_TOLD]]
    if len(design.factors) > MAX_FACTORS_TOLD:
        names.append(f"{len(design.factors) - MAX_FACTORS_TOLD} more factors")
    outcome = f"outcome {design.outcome_column.name}" if design.outcome_column.name else "an outcome"
    outcome, rows = outcome if design.outcome is not None else "no outcome", _rows_used(design, coverage)
    short = f"{rows}, {plural(len(design.factors), 'factor')}, {outcome}"
    lines = [AnswerLine("Read", f"{rows}: {' × '.join(names)}, {outcome}", short)]
    for name, (sentence, *more) in _told(design).items():
        lines.append(AnswerLine(name, f"{sentence}{f' ({len(more)} more with --full)' if more else ''}"))
    return lines[: 1 + MAX_READING_LINES]


def reading_sentences(design: Design) -> list[str]:
    """Say all that was tidied, guessed, merged and is in doubt, for where there is room."""
    return [f"{name}: {text}." for name, texts in _told(design).items() for text in texts]


def _told(design: Design) -> dict[str, list[str]]:
    """Return what was done while the table was read, by what it is called."""
    merged = [(factor.name, *map(repr, group)) for factor in design.factors for group in factor.merged or ()]
    wide = design.spec.wide is not None
    sheet = [(note, reading_sentence(note, wide_said=wide).removesuffix(".")) for note in design.reading.sheet]
    told = {
        "Tidied": [text for note, text in sheet if note.kind not in DOUBTS],
        "Guessed": [guess_sentence(design)],
        "Merged": [f"{name}: {level} stands for {join_words(texts)} too" for name, level, *texts in merged],
        "In doubt": [text for note, text in sheet if note.kind in DOUBTS],
    }
    if evidence := LevelsInDoubt().check(design):
        cure = "; --merge-alike takes them for one" if evidence["alike"] else ""
        told["In doubt"] += [f"{LevelsInDoubt().message(evidence)}{cure}"]
    if (copied := design.observed.copied_rows) > 1:
        text = f"{copied:,} rows repeat the combination and outcome of another to the last digit: if they are copies, "
        told["In doubt"].append(f"{text}leave them out, since they make the noise too small")
    return {name: texts for name, texts in told.items() if any(texts)}


def _rows_used(design: Design, coverage: Coverage) -> str:
    """Write how many rows of the table are used, why others are not, and how many are held out."""
    (table, used), held_out = design.reading.rows, int(design.observed.rows[~design.train].sum())
    if not table:
        return rows_phrase(coverage)
    notes = (note for note in design.reading.notes if note.kind is NoteKind.ROWS_LEFT_OUT)
    reasons = [f"{count:,} with {reason}" for note in notes for reason, count in note.numbers.items()]
    why, apart = f" ({join_words(reasons)})" if reasons else "", f", {held_out:,} held out" if held_out else ""
    plain = coverage.measurements == coverage.rows and design.observed.rows_are is not RowsAre.COUNTS
    behind = "" if plain else f", {amount(coverage.measurements)} measurements"
    return f"{used:,} of {table:,} rows used{why}{behind}{apart}"


def guess_sentence(design: Design) -> str:
    """Say which columns are a guess, and what else may be the outcome; or nothing."""
    note = next((note for note in design.reading.notes if note.kind is NoteKind.FACTORS_GUESSED), None)
    if note is None:
        return ""
    wide = f" beside {design.spec.wide.partition('=')[0]}" if design.spec.wide else ""  # which names the outcome too
    outcome_guessed, others, likely = (
        "outcome" in used_spec(design)[1] and not wide,
        listing(note.numbers["candidates"], 3),
        "",
    )
    unusable = [column for column, role in note.numbers["roles"].items() if role == "outcome"]
    if unusable and design.spec.outcome is None:
        option = option_text("--outcome", f"{unusable[0]}=CLASS")
        likely = f"; {unusable[0]} looks like the outcome, but is neither numbers nor of two values ({option})"
    elif others and design.spec.outcome is None:
        option = f": {option_text('--outcome', note.numbers['candidates'][0])}"
        likely = f"; {others} may be the outcome{' instead' if outcome_guessed else option}"
    unused = {column: role for column, role in note.numbers["roles"].items() if column not in unusable}
    if unused:
        counted = design.spec.weight or "weight" in unused.values()  # without counts --sd is refused
        told = (option_text(f"--{role}", name) for name, role in unused.items() if counted or role != "sd")
        options = " ".join(told)
        likely += f"; {join_words(list(unused))} left out{f' ({options})' if options else ''}"
    keep = "; --save-design design.toml keeps them" if design.reading.path else ""
    return f"the factors{wide}{' and the outcome' if outcome_guessed else ''}{likely}{keep}"


def repeat_line(design: Design, targets: bool = False) -> AnswerLine:
    """Return the command, or the call, that reads the table as it was read, where columns were guessed.

    Examples
    --------
    >>> import pandas as pd, recombine as rc
    >>> frame = pd.DataFrame({"strain": [*"aabb"], "dose": [*"lhlh"], "mass": [0.5, 1.5, 2.5, 3.5]})
    >>> repeat_line(rc.Design.from_frame(frame)).text
    "rc.audit(table, factors=['strain', 'dose'], outcome='mass')"
    """
    spec = used_spec(design)[0]
    fields = [f"{name}={list(value) if name == 'factors' else value!r}" for name, value in plain_spec(spec).items()]
    call = f"rc.audit({', '.join(['table', *fields, *['targets=targets'] * targets])})"
    command = spec_command("audit", design.reading.path, spec)
    text = f"{command}{' --targets FILE' * targets}" if command else call
    return AnswerLine(REPEAT, text if guess_sentence(design) else "", whole=True)
