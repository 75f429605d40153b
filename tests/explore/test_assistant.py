"""An assistant asks about tables: over stdio as it does, below one folder only, nothing written, short answers."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recombine as rc
from recombine.data import screen_path
from recombine.errors import InputError
from recombine.explore.assistant import MAX_ANSWER_LETTERS, TableFolder

SCREEN = {"factors": ["drug", "cell_line"], "outcome": "activity", "split": "split=measured"}
CELL = {"drug": "Nilotinib", "cell_line": "A2058"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    below = tmp_path / "below"
    (below / "data").mkdir(parents=True)
    (below / "data" / "screen.csv").write_bytes(screen_path().read_bytes())
    (below / ".secret.csv").write_text("a,b,y\np,q,1\n")
    (tmp_path / "outside.csv").write_text("a,b,y\np,q,1\n")
    (below / "link.csv").symlink_to(tmp_path / "outside.csv")
    (below / "up").symlink_to(tmp_path)
    (below / "own.csv").symlink_to(below / "data" / "screen.csv")
    return below


def ask(folder: Path, talk: Callable[[Any], Awaitable[None]]) -> None:
    """Start the server as an assistant does, in a folder, and talk to it."""
    pytest.importorskip("mcp", reason="needs the extra mcp")
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    async def session() -> None:
        started = StdioServerParameters(
            command=sys.executable, args=["-m", "recombine", "mcp"], cwd=folder, env=dict(os.environ)
        )
        async with stdio_client(started) as streams, ClientSession(*streams) as client:
            await client.initialize()
            await talk(client)

    asyncio.run(session())


def text(result: Any) -> str:
    return "\n".join(block.text for block in result.content)


@pytest.mark.slow
@pytest.mark.trains
@pytest.mark.filterwarnings("default")
def test_a_client_over_stdio_gets_what_the_package_answers(folder: Path) -> None:
    before = sorted(path.relative_to(folder) for path in folder.rglob("*"))
    audit = rc.audit(screen_path(), **SCREEN)
    expected = audit.verdicts.to_pandas().set_index(["drug", "cell_line"]).loc[tuple(CELL.values())]

    async def talk(client: Any) -> None:
        tools = (await client.list_tools()).tools
        assert {tool.name for tool in tools} == {"audit", "explain", "predict", "plan", "score"}
        for tool in tools:
            assert tool.annotations.read_only_hint
            assert tool.description
            assert "table" in tool.input_schema["required"]
        table = {"table": "data/screen.csv", "columns": SCREEN}
        answer = text(await client.call_tool("audit", table))
        assert answer.splitlines()[1:] == str(audit.answer).splitlines()[1:]
        assert str(audit.certificate(**CELL)) in text(await client.call_tool("explain", {**table, "cell": CELL}))
        told = json.loads(text(await client.call_tool("predict", {**table, "cell": CELL})))
        assert told["verdict"] == "determined"
        assert told["value"]["predicted"] == pytest.approx(expected["predicted"])
        assert [told["value"]["low"], told["value"]["high"]] == pytest.approx([expected["low"], expected["high"]])
        planned = json.loads(text(await client.call_tool("plan", {**table, "cells": 2})))
        assert list(planned["cells"]) == [audit.design.label(pick.cell) for pick in audit.plan(2).picks]
        for wrong, says in [
            ({"table": "../outside.csv"}, "'../outside.csv' is not below the folder this was started in"),
            ({**table, "columns": {"factors": ["drug", "line"]}}, "line"),
            ({"table": 7}, "table"),
        ]:
            refused = await client.call_tool("audit", wrong)
            assert refused.is_error
            assert says in text(refused)
            assert "Traceback" not in text(refused)
        refused = await client.call_tool("explain", {**table, "cell": {"drug": "Aspirin", "cell_line": "A2058"}})
        assert "Aspirin" in text(refused)
        assert len(text(refused).splitlines()) == 1

    ask(folder, talk)
    assert before == sorted(path.relative_to(folder) for path in folder.rglob("*"))


@pytest.mark.parametrize(
    "name", ["../outside.csv", "link.csv", "up/outside.csv", "/etc/passwd", "up/below/../outside.csv"]
)
def test_what_lies_elsewhere_is_refused_whatever_leads_there(folder: Path, name: str) -> None:
    with pytest.raises(InputError, match="is not below the folder") as refused:
        TableFolder(folder).audit(name)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "says"),
    [(".secret.csv", "is hidden"), ("data", "is no file"), ("data/none.csv", "is no file"), ("data/\0", "not below")],
)
def test_what_is_no_table_is_refused(folder: Path, name: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        TableFolder(folder).audit(name)


def test_links_that_stay_below_the_folder_are_followed(folder: Path) -> None:
    assert "Seen          227 of 960" in TableFolder(folder).audit("own.csv", SCREEN)


@pytest.mark.parametrize("field", ["possible", "importance", "features", "set"])
def test_columns_name_no_other_file(folder: Path, field: str) -> None:
    given: dict[str, Any] = {**SCREEN, field: "/etc/passwd"}
    with pytest.raises(InputError) as refused:
        TableFolder(folder).audit("data/screen.csv", given)
    assert ("names another table" in str(refused.value)) == (field != "set")


def test_a_table_that_changed_is_read_again(folder: Path) -> None:
    asked, path = TableFolder(folder), folder / "small.csv"
    path.write_text("a,b,y\np,q,1\np,r,2\ns,q,4\n")
    assert asked.predict("small.csv", {"a": "s", "b": "r"})["value"]["predicted"] == pytest.approx(5)
    path.write_text("a,b,y\np,q,1\np,r,2\ns,q,7\n")
    os.utime(path, (1, 1))
    assert asked.predict("small.csv", {"a": "s", "b": "r"})["value"]["predicted"] == pytest.approx(8)
    assert asked.predict("small.csv", {"a": "s", "b": "q"})["measured"] == 7


@pytest.mark.slow
def test_a_model_is_scored_as_by_the_package(folder: Path) -> None:
    cells = np.indices((6, 6)).reshape(2, -1).T
    rows = [f"{a},{b},{a + 2 * b},{a + b + 2.5},{'train' if (a + b) % 3 else 'test'}" for a, b in cells.tolist()]
    (folder / "net.csv").write_text("\n".join(["colour,shape,y,net,part", *rows]) + "\n")
    columns = {"factors": ["colour", "shape"], "outcome": "y", "split": "part=train"}
    answer = TableFolder(folder).score("net.csv", ["net"], columns)
    path = folder / "net.csv"
    expected = rc.score(path, "net", factors=["colour", "shape"], outcome="y", split="part=train").answer
    assert answer == str(expected)


@pytest.mark.parametrize("cells", [0, 51, -1])
def test_a_plan_has_a_size(folder: Path, cells: int) -> None:
    with pytest.raises(InputError, match="ask for 1 to 50"):
        TableFolder(folder).plan("data/screen.csv", cells, SCREEN)


@pytest.mark.slow
def test_a_million_rows_give_a_short_answer(folder: Path) -> None:
    draw = np.random.default_rng(0)
    rows = np.column_stack([draw.integers(0, 900, 10**6), draw.integers(0, 900, 10**6), draw.integers(0, 99, 10**6)])
    np.savetxt(folder / "large.csv", rows, fmt=["u%d", "i%d", "%d"], delimiter=",", header="user,item,y", comments="")
    asked, columns = TableFolder(folder), {"factors": ["user", "item"], "outcome": "y"}
    seen = {(a, b) for a, b in rows[:, :2].tolist()}
    user, item = next((a, b) for a in range(900) for b in range(900) if (a, b) not in seen)
    cell: dict[str, str | float] = {"user": f"u{user}", "item": f"i{item}"}
    answers = [
        asked.audit("large.csv", columns),
        asked.explain("large.csv", cell, columns),
        json.dumps(asked.predict("large.csv", cell, columns)),
        json.dumps(asked.plan("large.csv", 5, columns)),
    ]
    assert all(0 < len(answer) <= MAX_ANSWER_LETTERS + 2 for answer in answers)
    assert len(answers[0].splitlines()) <= 16
