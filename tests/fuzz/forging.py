"""Names that would forge lines, commands or markup if anything obeyed them, and calls on tables that hold them.

Each name holds a mark of its own right after what would make it dangerous: a line that begins with one is forged.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import re
import zipfile
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
from inputs import Draw

#: What may stand before a mark: line ends of all kinds, tabs, marks of direction, commands of terminals, builds and
#: notebooks, and what opens markup, code, links and cells of tables.
BEFORE = [
    "\n", "\r", "\r\n", "\n\n", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029", "\t", "\n\t",
    "\n  ", "\u202e", "\u202d", "\u2066", "\u2067", "\u2068", "\u200f", "\u061c", "\ufeff", "\u200b", "\U000e0041",
    "\xad", "\x1b[2J", "\x1b]0;", "\x9b31m", "\x07", "\x08", "\x7f", "\n::error::", "\n  ::add-mask::",
    "\r::stop-commands::", "::error title=", "::", "\xa0::notice::", " ::group::", "##[error]", "\n##[command]",
    "##vso[task.setvariable]", "##teamcity[x]", "`", "```\n", "|", "\n| ", "](http://x/)", "<script>",
    "</script><script>", "<img src=x onerror=x()>", "<!--", "-->", "\n# ", "\n- ", "\n> ", "{{7*7}}", "[bold]",
    "\\", "\\n", "\\u000a", "\nFindings\n  ", "\nrecombine: ",
]  # fmt: skip
#: Marks begin so, and no word of ours does.
MARK = "Zq"
#: What no output may hold raw, line ends of our own aside.
OBEYED = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]"
)
#: The same in a sentence, which is one line.
SENTENCE_OBEYED = re.compile(f"{OBEYED.pattern}|\n")
#: Columns before which no line of a paragraph begins after its first one.
MIN_COLUMN_INSIDE = 4
COMMAND = re.compile(r"^\s*::|##\w*\[", re.MULTILINE)
#: Fields of JSON that hold what was read, or said on the command line, as it is.
EXACT = {
    "table",
    "outcome",
    "levels",
    "subjects",
    "subject",
    "cells",
    "cell",
    "verdicts",
    "breakers",
    "settings",
    "cell errors",
}


class Names:
    """A drawer of hostile names, each with the next mark."""

    def __init__(self, draw: Draw, *, files: bool = False) -> None:
        self.draw, self.files, self.drawn = draw, files, list[str]()

    def name(self, *, inside: str = "") -> str:
        """Return a name that differs from all before it."""
        before = self.draw.choice(BEFORE)
        lead = "" if before.startswith(("::", "##")) else self.draw.choice(["x", "w v", "k" * 70, "ab cd " * 14])
        if self.draw.random() < 0.03:
            lead = "long " * 200
        text = f"{lead}{before}{MARK}{len(self.drawn)}{self.draw.choice(['', ' none', '::pwned', ' * 5'])}{inside}"
        self.drawn.append(text)
        return text

    def file(self, folder: Path, ending: str) -> Path:
        """Return a path in a folder under a hostile name, which file systems take."""
        text = self.name().replace("/", "").encode()[:150].decode(errors="ignore")
        self.drawn.append(text + ending)
        return folder / (text + ending)


def table_of(names: Names, factors: int = 2, size: int = 4) -> tuple[list[str], list[list[object]]]:
    """Return columns and rows of a table that every command takes: factors, outcome, class, part and prediction."""
    draw = names.draw
    columns = [names.name() for _ in range(factors + 4)]
    levels = [[names.name() for _ in range(size)] for _ in range(factors)]
    classes, parts = [names.name(), names.name()], [names.name(), names.name()]
    rows: list[list[object]] = []
    for place in itertools.product(range(size), repeat=factors):
        if draw.random() < 0.25 and sum(place) % 3:
            continue
        y = sum((factor + 1) * level for factor, level in enumerate(place)) + round(draw.gauss(0, 0.3), 3)
        train = sum(place) % 3 == 0 or draw.random() < 0.7
        cell = [levels[factor][level] for factor, level in enumerate(place)]
        for _ in range(draw.choice([1, 1, 2])):
            part = parts[0] if train else parts[1]
            rows.append([*cell, y, classes[y > 4], part, y + draw.choice([0, 0.5])])
    return columns, rows


def write_table(path: Path, columns: list[str], rows: list[list[object]]) -> None:
    """Write a table as CSV."""
    out = io.StringIO()
    csv.writer(out, quoting=csv.QUOTE_NONNUMERIC).writerows([columns, *rows])
    path.write_bytes(out.getvalue().encode("utf-8", "surrogatepass"))


def write_design(path: Path, **fields: object) -> None:
    """Write how a table is read: names that no option of a shell would carry come this way."""
    lines = [f"{name} = {json.dumps(value)}" for name, value in fields.items()]
    pair = re.compile(r"\\ud([89ab]..)\\ud([c-f]..)")
    texts = [pair.sub(lambda match: json.loads(f'"{match.group()}"'), line) for line in lines]
    path.write_text("\n".join(texts).replace("\x7f", "\\u007f") + "\n", encoding="utf-8")


def write_layers(path: Path, names: Names) -> None:
    """Write activations whose layers have hostile names."""
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(2):
            data = io.BytesIO()
            np.save(data, np.random.default_rng(number).normal(size=(3, 4, 5)))
            archive.writestr(f"{names.name().replace('/', '')}.npy", data.getvalue())


def document_of(kind: str, columns: list[str], rows: list[list[object]], training: str) -> str:
    """Return what audit or score prints as JSON about a table of `table_of`; nothing of what cannot be scored.

    From a frame in memory: DuckDB starts threads, and a process with threads must not part into two.
    """
    import pandas as pd

    import recombine as rc
    from recombine.errors import InputError
    from recombine.report.audit.record import audit_json
    from recombine.report.score.record import score_json

    *factors, outcome, _, part, prediction = columns
    table = pd.DataFrame(dict(zip(columns, zip(*rows, strict=True), strict=True)))
    if kind == "audit":
        return audit_json(rc.audit(rc.Design.from_frame(table, factors=factors, outcome=outcome)))
    try:
        design = rc.Design.from_frame(table, factors=factors, outcome=outcome, split=f"{part}={training}")
        return score_json(rc.score(design, table, columns=[prediction]))
    except InputError:  # nothing is held out, or the name of the column of parts has a sign of equality
        return "{}"


def forgeries(text: str, names: list[str], *, wrapped: bool = True) -> list[str]:
    """Say what of names a text obeys: raw signs, lines that begin with a command or with a mark.

    Lines of terminals are ``wrapped``: there a mark may begin a line that is indented as one inside a paragraph.
    """
    wrong = [f"{sign.group()!r} is raw" for sign in itertools.islice(OBEYED.finditer(text), 1)]
    wrong += [f"a command: {command.group()!r}" for command in itertools.islice(COMMAND.finditer(text), 1)]
    for line in text.split("\n"):
        begun = len(line) - len(line.lstrip(" "))
        if line.lstrip(" |>#*-").startswith(MARK) and (begun < MIN_COLUMN_INSIDE or not wrapped):
            wrong.append(f"a forged line: {line[:80]!r}")
    return wrong


def forgeries_in_json(text: str, names: list[str]) -> list[str]:
    """Say what of names a JSON document obeys: raw signs in it, and signs in sentences once they are read."""
    wrong, exact = forgeries(text, names, wrapped=False), set(names)

    def walk(value: object, inside: bool) -> None:
        if isinstance(value, dict):
            for key, entry in value.items():
                walk(key, True)
                walk(entry, inside or key in EXACT)
        elif isinstance(value, list):
            for entry in value:
                walk(entry, inside)
        elif isinstance(value, str) and not inside and value not in exact:
            wrong.extend(f"{sign!r} in a sentence: {value[:120]!r}" for sign in re.findall(SENTENCE_OBEYED, value)[:1])

    document = json.loads(text)
    # What is explained of a cell has lines of its own.
    wrong += forgeries(document.pop("explained", ""), names, wrapped=False)
    walk(document, False)
    return wrong


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.odd: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.odd += [name for name, _ in attributes if name.startswith("on")]


def forgeries_in_html(text: str, names: list[str], scripts: int) -> list[str]:
    """Say what of names a page obeys, which has so many scripts of its own."""
    tags = _Tags()
    tags.feed(text)
    wrong = forgeries(text, names, wrapped=False)
    wrong += [f"{tags.tags.count('script')} scripts"] if tags.tags.count("script") != scripts else []
    return wrong + [f"an element {tag}" for tag in ("img", "iframe", "object") if tag in tags.tags] + tags.odd


def forgeries_in_markdown(text: str, names: list[str]) -> list[str]:
    """Say what of names a summary obeys: also rows of a table with more or fewer cells than its head."""
    wrong = forgeries(text, names, wrapped=False)
    rows: list[str] = []
    for line in [*text.split("\n"), ""]:
        if line.startswith("|"):
            rows.append(line)
        elif rows:
            wrong += [f"a row of another length: {row[:80]!r}" for row in rows if row.count("|") != rows[0].count("|")]
            rows = []
    links = re.findall(r"\]\(|`|<(?!/?(?:details|summary|code)>)", text)
    return wrong + [f"markup: {link!r}" for link in links[:1]]
