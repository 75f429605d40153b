"""Nothing that results show in Python, in a notebook or on the page obeys a name; commands are judged as drawn."""

from __future__ import annotations

import html
import http.client
import itertools
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import forging
import msgspec
import pytest
from inputs import Draw

import recombine as rc
from recombine.explore.answers import TableAnswers
from recombine.report.screen import result_text
from recombine.writing import printable

#: Tables drawn; make fuzz draws more.
TABLES = min(int(os.environ.get("RECOMBINE_FUZZ_CASES", "120")) // 40, 400)


def drawn_audit(seed: int, folder: Path) -> tuple[rc.Audit, list[str]]:
    """Audit a table whose names all would forge something."""
    names = forging.Names(Draw(f"names/{seed}"))
    columns, rows = forging.table_of(names, 2 + seed % 2, 3)
    path = names.file(folder, ".csv")
    forging.write_table(path, columns, rows)
    design = rc.Design.from_frame(path, factors=columns[:-4], outcome=columns[-4])
    return rc.audit(design), names.drawn


def shown_texts(audit: rc.Audit) -> Iterator[str]:
    """Yield what Python prints of an audit and what is in it."""
    yield result_text(audit, width=80)
    yield str(audit)
    cells = [*audit.decided.listing.cells[:3].tolist(), audit.design.seen[0].tolist()]
    for cell in cells:
        yield audit.explain([factor.labels[code] for factor, code in zip(audit.design.factors, cell, strict=True)])
    for item in (audit, audit.design, *audit.design.factors, audit.coverage, *audit.findings):
        yield repr(item)
        yield str(item)
    for table in (audit.verdicts, audit.coverage.levels, audit.coverage.ways, audit.forecast.slopes):
        yield repr(table)


def page_answers(audit: rc.Audit) -> Iterator[object]:
    """Yield all kinds of answers that the page gets."""
    asked = TableAnswers(audit, audit.plan(2))
    start = asked.record["start"]
    yield asked.record
    yield asked.window(tuple(start["sides"]), start["at"], (0, 0), (3, 3), "name")
    yield asked.bins(tuple(start["sides"]), start["at"], "name")
    yield asked.levels(0, "")
    yield asked.beside(0, 0, "name", back=True)
    for row, cell in enumerate(audit.decided.listing.cells[:4].tolist()):
        yield asked.cell(cell)
        if audit.verdicts["verdict"][row] == "determined":
            yield asked.certificate(cell)
    yield asked.cell(audit.design.seen[0].tolist())


@pytest.mark.parametrize("seed", range(TABLES))
def test_no_name_is_obeyed_in_python_notebooks_and_the_page(tmp_path: Path, seed: int) -> None:
    audit, names = drawn_audit(seed, tmp_path)
    for text in shown_texts(audit):
        assert forging.forgeries(text, names) == []
    for page in (audit._repr_html_(), audit.verdicts._repr_html_()):
        assert forging.forgeries_in_html(page, names, 0) == []
    for answer in page_answers(audit):
        text = msgspec.json.encode(answer).decode()
        assert forging.forgeries(text, names, wrapped=False) == []
        assert not forging.SENTENCE_OBEYED.search("".join(texts_in(json.loads(text))))


def texts_in(value: Any) -> Iterator[str]:
    """Yield all texts inside an answer."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for entry in value.values() if isinstance(value, dict) else value:
            yield from texts_in(entry)


@pytest.mark.parametrize("seed", range(TABLES))
def test_levels_stay_apart_and_can_be_asked_about_as_they_are_written(tmp_path: Path, seed: int) -> None:
    audit, _ = drawn_audit(seed, tmp_path)
    design = audit.design
    for factor in design.factors:
        assert len({printable(label) for label in factor.labels}) == len(factor.labels)
        assert [factor.code(printable(label)) for label in factor.labels] == list(range(len(factor.labels)))
    shown = html.unescape(audit._repr_html_())
    assert printable(design.names[0]) in shown


@contextmanager
def served(table: Path, design: Path) -> Iterator[tuple[str, list[str]]]:
    """Serve a table as a user does; yield the link and a list that then holds what was printed."""
    call = [sys.executable, "-m", "recombine", "explore", str(table), "--design", str(design), "--no-open"]
    printed: list[str] = []
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(call, text=True, encoding="utf-8", cwd=table.parent, **streams) as process:
        assert process.stdout is not None
        link, ends = process.stdout.readline(), process.stdout.readline()
        try:
            yield link.strip(), printed
        finally:
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=30)
            printed += [link + ends + out, err]


def answers_of(link: str, names: list[str]) -> Iterator[tuple[int, str]]:
    """Ask a served page all it can be asked, with numbers and with names; yield each status and answer."""
    server = pytest.importorskip("recombine.explore.server", reason="needs the extra explore")
    addresses = [*server.QUESTIONS, "/none"]
    port, token = re.fullmatch(r"http://127.0.0.1:(\d+)/\?token=([\w-]+)", link).groups()
    connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=30)
    connection.request("GET", f"/?token={token}")
    page = connection.getresponse()
    text, cookie = page.read().decode(), page.headers["set-cookie"].partition(";")[0]
    yield page.status, text
    headers = {"cookie": cookie, "x-recombine-key": re.search(r'"recombine-key", "([\w-]{43})"', text)[1]}
    numbers = {"sides": "0,1", "at": "0,0", "shape": "3,3", "first": "0,0", "factor": "0", "level": "0,0", "by": "name"}
    for address, (name, value) in itertools.product(addresses, enumerate(names[:12])):
        keys = [*numbers, "text"]
        words = numbers if name == 0 else numbers | {keys[name % len(keys)]: value}
        for path in (f"{address}?{urlencode(words)}", f"/{quote(value)}"):
            connection.request("GET", path, headers=headers)
            answer = connection.getresponse()
            yield answer.status, answer.read().decode()
    connection.close()


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="ended by a signal of POSIX")
@pytest.mark.parametrize("seed", range(max(TABLES // 40, 1)))
def test_no_name_is_obeyed_by_a_page_that_is_served(tmp_path: Path, seed: int) -> None:
    names = forging.Names(Draw(f"served/{seed}"))
    columns, rows = forging.table_of(names, 2, 3)
    table, design = names.file(tmp_path, ".csv"), tmp_path / "design.toml"
    forging.write_table(table, columns, rows)
    forging.write_design(design, factors=columns[:2], outcome=columns[2])
    with served(table, design) as (link, printed):
        (status, page), *answers = answers_of(link, names.drawn)
        assert status == 200
        assert not any(name in page for name in names.drawn)
    assert {status for status, _ in answers} == {200, 400, 404}
    for _, text in answers:
        assert forging.forgeries(text, names.drawn, wrapped=False) == []
        assert not forging.SENTENCE_OBEYED.search("".join(texts_in(json.loads(text))))
    assert printed[0].endswith("Ctrl-C ends it.\n")
    assert [forging.forgeries(text, names.drawn) for text in printed] == [[], []]


def test_the_judge_sees_what_is_forged() -> None:
    names = ["x\nZq0", "::Zq1"]
    for text in ("a\rb", "Findings\n  ::error::x", "seen x\nZq0", "a \u202e b", "a\n  Zq0 none", "x ##[error]"):
        assert forging.forgeries(text, names), text
    assert forging.forgeries("  Cells: x\\u000a\n    Zq0 none", names) == []
    assert forging.forgeries("Cells\n    Zq0 none", names, wrapped=False)
    assert forging.forgeries_in_json('{"answer": "about x\\nZq0 none", "levels": {"a": ["x\\nZq0"]}}', names)
    assert forging.forgeries_in_json('{"source": "x\\nZq0", "levels": {"a": ["x\\nZq0"]}}', names) == []
    assert forging.forgeries_in_html("<p>x</p><script>1</script>", names, 0)
    assert forging.forgeries_in_markdown("| a |\n| - |\n| b | c |", names)
