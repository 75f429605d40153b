"""One more field of a table's spec is one field: every command, file and document takes it."""

from __future__ import annotations

import importlib
import json
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import msgspec
import pytest
from typer.testing import CliRunner

import recombine as rc
from recombine import table_spec
from recombine.cli.commands import app
from recombine.table_spec import Option

COMMANDS = {name: f"recombine.cli.{name}" for name in ("audit", "score", "split", "explore", "probe", "examine")}
TABLE = "colour,shape,y,part\nred,cube,1,train\nred,ball,2,train\nblue,cube,3,train\nblue,ball,4,test\n"


@pytest.fixture
def batched(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[type[rc.TableSpec]]:
    """A spec with one more field, and the commands made anew from it."""
    batch = ("batch", Annotated[str | None, Option("Column of batches.", example="plate")], None)
    kind = msgspec.defstruct(
        "Batched", [batch], bases=(rc.TableSpec,), frozen=True, kw_only=True, forbid_unknown_fields=True
    )
    with monkeypatch.context() as patched:
        patched.setattr(table_spec, "TableSpec", kind)
        patched.chdir(tmp_path)
        for module in COMMANDS.values():
            importlib.reload(importlib.import_module(module))
        (tmp_path / "table.csv").write_text(TABLE)
        yield kind
    for module in COMMANDS.values():
        importlib.reload(importlib.import_module(module))


def run(*words: str) -> str:
    result = CliRunner().invoke(app, [str(word) for word in words], env={"COLUMNS": "200"}, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_help_of_every_command_has_it(batched: type[rc.TableSpec]) -> None:
    for name in COMMANDS:
        text = run(name, "--help")
        assert "--batch" in text, name
        assert "Column of batches." in text, name


def test_the_page_of_the_command_line_has_it(batched: type[rc.TableSpec]) -> None:
    build = runpy.run_path(str(Path(__file__).parents[2] / "tools" / "build_vocabulary.py"))
    assert "| `--batch plate` | Column of batches. | all |" in build["command_line_page"]().splitlines()


def test_python_files_documents_and_comparisons_have_it(batched: type[rc.TableSpec]) -> None:
    design = rc.Design.from_frame("table.csv", factors=["colour", "shape"], batch="plate")  # type: ignore[call-arg]
    assert design.spec.batch == "plate"  # type: ignore[attr-defined]
    words = ["audit", "table.csv", "--factors", "colour,shape", "--outcome", "y", "--plan", "0"]
    before = run(*words, "--json")
    run(*words, "--batch", "plate", "--save-design", "design.toml")
    assert 'batch = "plate"' in Path("design.toml").read_text()
    after = run("audit", "table.csv", "--design", "design.toml", "--plan", "0", "--json")
    assert json.loads(after)["table"]["batch"] == "plate"
    assert "batch" not in json.loads(before)["table"]
    Path("before.json").write_text(before)
    Path("after.json").write_text(after)
    assert "batch: plate" in " ".join(run("compare", "before.json", "after.json", "--full").split())
    assert "--batch plate" in table_spec.spec_command("audit", "table.csv", design.spec)


def test_it_is_gone_afterwards() -> None:
    assert "--batch" not in run("audit", "--help")
