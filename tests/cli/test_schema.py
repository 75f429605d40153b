"""What ``--json`` prints beside its JSON Schema: all that is printed is in it, and all that is in it is printed."""

from __future__ import annotations

import contextlib
import copy
import csv
import io
import json
import runpy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator

import recombine
from recombine._version import SCHEMA
from recombine.cli import main
from recombine.jobs.limits import TRAINING_LIMITS

FILE = Path(recombine.__file__).parent / "report" / "schema.json"
ALL = json.loads(FILE.read_text(encoding="utf-8"))
#: What the small tables below do not bring about.
NOT_SHOWN = {
    *(f"audit.forecast.right.{name}" for name in ("said", "low", "high", "middle", "held", "within", "trials", "kind")),
    *(
        f"score.models.causes.{cause}{end}"
        for cause in ("interaction", "learnable")
        for end in ("", ".value", ".low", ".high")
    ),
    *("audit.numbers.undecided", "audit.verdicts.sum out of range"),
}


def validator(name: str) -> Draft202012Validator:
    return Draft202012Validator({"$schema": ALL["$schema"], "$defs": ALL["$defs"], "$ref": f"#/$defs/{name}"})


def definition(document: dict[str, Any]) -> str:
    return f"comparison of {document['of']}s" if document["kind"] == "comparison" else document["kind"]


def printed(*arguments: object) -> dict[str, Any]:
    out = io.StringIO()
    with contextlib.redirect_stdout(out), pytest.raises(SystemExit):
        main([str(argument) for argument in (*arguments, "--json")])
    return json.loads(out.getvalue())


def tables(folder: Path) -> Callable[[str, list[str], Any], Path]:
    def write(name: str, head: list[str], rows: Any) -> Path:
        with (folder / name).open("w", newline="") as file:
            csv.writer(file).writerows([head, *rows])
        return folder / name

    return write


def audits(folder: Path) -> dict[str, dict[str, Any]]:
    """Audits that between them print every field."""
    write, noise = tables(folder), np.random.default_rng(0)
    plain = write("plain.csv", ["a", "b"], ["xp", "xq", "zp", "wr"])
    cells = [(i, j, k) for i in range(5) for j in range(4) for k in range(4) for _ in range(2) if (i + j + k) % 5]
    head = ["a", "b", "c", "y", "use", "part"]
    rows = [
        (
            f"a{i}",
            f"b{j}",
            k,
            round(i + 2 * j + 0.5 * k + noise.normal(0, 0.3), 3),
            1 + i,
            "test" if i == j else "train",
        )
        for i, j, k in cells
    ]
    full = write("full.csv", head, rows)
    inside = [(f"p{i}{j}", f"t{i}", i + j) for i in range(4) for j in range(3)]
    pairs = [(i, j) for i in range(7) for j in range(7) for _ in range(3) if (i + j) % 5]
    bent = [(f"a{i}", f"b{j}", round(np.exp(0.5 * (i + j)) + noise.normal(0, 0.05), 4)) for i, j in pairs]
    wide = [[*noise.choice(list("abcd"), 30), round(noise.random(), 3)] for _ in range(60)]
    names = [f"f{place}" for place in range(30)]
    twins = [(f"g{i}", f"g{j}", i + j) for i in range(6) for j in range(6) if (i + 2 * j) % 3]
    both = ["--factors", "a,b", "--outcome", "y"]
    found = {
        "plain": printed("audit", plain, "--factors", "a,b"),
        "targets": printed(
            "audit", plain, "--targets", write("t.csv", ["a", "b"], ["zq", "vq"]), "--new-levels", "--factors", "a,b"
        ),
        "full": printed("audit", full, "--factors", "a,b,c", "--outcome", "y"),
        "held out": printed("audit", full, *both, "--split", "part=train", "--explain", "a1,b1", "--models"),
        "numeric": printed("audit", full, *both, "--numeric", "c", "--importance", "use", "--plan", 0),
        "pairs": printed("audit", full, "--factors", "a,b,c", "--outcome", "y", "--structure", "pairs"),
        "guessed": printed("audit", full),
        "curve": printed("audit", write("c.csv", ["a", "b", "y"], bent), *both, "--structure", "link"),
        "nested": printed(
            "audit", write("n.csv", ["p", "t", "y"], inside), "--factors", "p,t", "--outcome", "y", "--nested", "p/t"
        ),
        "wide": printed("audit", write("w.csv", [*names, "y"], wide), "--factors", ",".join(names), "--outcome", "y"),
        "symmetric": printed(
            "audit", write("s.csv", ["a", "b", "y"], twins), *both, "--symmetric", "a,b", "--structure", "add"
        ),
    }
    return {f"audit, {name}": document for name, document in found.items()}


def others(folder: Path) -> dict[str, dict[str, Any]]:
    """Scores, splits, probes and inspections."""
    write, noise = tables(folder), np.random.default_rng(1)
    cells = [(i, j, k) for i in range(5) for j in range(5) for k in range(4) for _ in range(2) if (i + j + k) % 5]
    rows = [
        (
            f"a{i}",
            f"b{j}",
            k,
            i + 2 * j + 0.5 * k + noise.normal(0, 0.3),
            i + j + noise.normal(0, 0.3),
            "test" if (i + j) % 4 == 0 else "train",
        )
        for i, j, k in cells
    ]
    full = write("scored.csv", ["a", "b", "c", "y", "net", "part"], rows)
    of_pair = [0.01 + (rows[at][3] + rows[at ^ 1][3]) / 2 for at in range(len(rows))]  # each cell has two rows
    pulled = [(*row[:4], mean, row[5]) for row, mean in zip(rows, of_pair, strict=True)]
    saw = write("saw.csv", ["a", "b", "c", "y", "net", "part"], pulled)
    classes = [
        (
            f"a{i}",
            f"b{j}",
            "pqr"[(i + j) % 3],
            0.2 + 0.1 * (i % 4),
            0.5 - 0.1 * (i % 4),
            0.3,
            "train" if (2 * i + j) % 4 else "test",
        )
        for i in range(6)
        for j in range(6)
    ]
    several = write("classes.csv", ["a", "b", "y", "net:p", "net:q", "net:r", "part"], classes)
    cube = np.repeat(np.indices((8, 6, 5)).reshape(3, -1).T, 6, axis=0)
    odds = (cube - cube.mean(axis=0)) @ [0.4, 0.3, 0.2]
    sharp, lost = (1 / (1 + np.exp(-2 * odds + shift * (cube[:, 1] == 4))) for shift in (0, 5))
    drawn = np.where(np.random.default_rng(1).random(len(cube)) < 1 / (1 + np.exp(-odds)), "yes", "no")
    part = np.where(cube.sum(axis=1) % 3 > 0, "train", "test")
    chance_rows = zip(*cube.T, drawn, sharp, lost, part, strict=True)
    chances = write("chances.csv", ["a", "b", "c", "y", "net", "lost", "part"], chance_rows)
    low = "low dose"
    parts = [
        (low, "p", "train"),
        (low, "q", "train"),
        ("z", "p", "train"),
        ("low-dose", "p", "test"),
        (low, "p", "test"),
    ]
    leaks = write("leaks.csv", ["a", "b", "part"], [*parts, ("z", "q", "val")])
    digit, colour, size = noise.integers(4, size=(3, 600))
    guess = np.where(noise.random(600) < 0.3, colour, digit)
    np.save(folder / "activations.npy", noise.normal(size=(5, 6, 8)))
    np.save(folder / "seen.npy", noise.random((5, 6)) < 0.7)
    names = ["guess", "after", "digit", "colour", "size"]
    probed = write("probed.csv", names, zip(guess, digit, digit, colour, size, strict=True))
    asked = ["--prediction", "guess", "--outcome", "digit", "--factors", "colour,size", "--swapped", "colour=after"]
    columns, of_three = ["--outcome", "y", "--split", "part=train", "--prediction", "net"], ["--factors", "a,b,c"]
    activations, seen = folder / "activations.npy", folder / "seen.npy"
    found = {
        "score": printed("score", full, *of_three, *columns),
        "score of one that saw": printed("score", saw, *of_three, *columns),
        "examination": printed(
            "examine", full, *of_three, "--outcome", "y", "--model", "ridge,neighbours", "--folds", "2"
        ),
        "score of classes": printed("score", several, "--factors", "a,b", *columns),
        "score of chances": printed("score", chances, *of_three, *columns[:-1], "net,lost"),
        "split": printed("split", full, *of_three, "--test", "determined:0.1,unseen level of a:0.1", "--stratify", "y"),
        "checked split": printed("split", full, *of_three, "--check", "part=train", "--outcome", "y"),
        "leaking split": printed("split", leaks, "--factors", "a,b", "--check", "part=train"),
        "probe": printed("probe", probed, *asked),
        "inspection": printed("inspect", activations, "--factors", "x,y"),
        "judged": printed("inspect", activations, "--factors", "x,y", "--seen", seen, "--truth", activations),
    }
    worse = [(*row[:4], float(row[4]) + 2, row[5]) for row in rows]
    later = printed(
        "score",
        write("later.csv", ["a", "b", "c", "y", "net", "part"], worse),
        *of_three,
        *columns,
        "--structure",
        "log",
    )
    return found | {"two scores": compared(folder, found["score"], later)}


def compared(folder: Path, before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    for name, document in (("before", before), ("after", after)):
        (folder / f"{name}.json").write_text(json.dumps(document))
    return printed("compare", folder / "before.json", folder / "after.json")


@pytest.fixture(scope="module")
def documents(tmp_path_factory) -> dict[str, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("documents")
    found = audits(folder) | others(folder)
    write = tables(folder)
    more = write("more.csv", ["a", "b"], ["xp", "xq", "zp", "wr", "wp", "vq"])
    less = write("less.csv", ["a", "b"], ["xp", "zq", "wr", "Xp"])
    spelt = write("spelt.csv", ["a", "b"], ["Xp", "Xq", "zp", "wr"])
    for file in (more, less, spelt):
        later = printed("audit", file, "--factors", "a,b")
        found[f"two audits, {file.stem}"] = compared(folder, found["audit, plain"], later)
    titled = folder / "titled.csv"
    titled.write_text("Plate 17,,\na,b,growth\n" + "".join(f"{a},{b},{a}.{b}5\n" for a in range(3) for b in range(3)))
    found["audit, titled"] = printed("audit", titled, "--factors", "a,b", "--outcome", "growth")
    grid = folder / "grid.csv"
    grid.write_text("a,b,growth\n" + "".join(f"{a},{b},{a * b + a}\n" for a in range(5) for b in range(4) if a + b < 7))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("recombine.jobs.training.train.TRAINING_LIMITS", TRAINING_LIMITS)
        found["audit, trained"] = printed("audit", grid, "--factors", "a,b", "--outcome", "growth")
    found["two audits, others"] = compared(folder, found["audit, plain"], found["audit, full"])
    words = ["--factors", "a,b", "--outcome", "growth"]
    before = printed("audit", repeated(folder, "a3", 0.01), *words)
    for name, last, noise in (("renamed", "other", 0.01), ("noisier", "a3", 1.0)):
        found[f"two audits, {name}"] = compared(folder, before, printed("audit", repeated(folder, last, noise), *words))
    return found


def repeated(folder: Path, last: str, noise: float) -> Path:
    """Write three measurements of most cells; ``last`` is what the last level of a is called."""
    rng = np.random.default_rng(0)
    names = ["a0", "a1", "a2", last]
    cells = [(i, j) for i in range(4) for j in range(6) if i + j < 8 for _ in range(3)]
    rows = [f"{names[i]},b{j},{i + 0.7 * j + noise * rng.normal()}" for i, j in cells]
    file = folder / f"repeated-{last}-{noise}.csv"
    file.write_text("\n".join(["a,b,growth", *rows]))
    return file


@pytest.mark.slow
def test_the_schema_is_fresh_and_a_schema():
    build = runpy.run_path(str(Path(__file__).parents[2] / "tools" / "build_schema.py"))
    assert FILE.read_text(encoding="utf-8") == build["schema"](), "run python tools/build_schema.py"
    Draft202012Validator.check_schema(ALL)


def test_the_schema_is_printed(run):
    code, out, err = run("schema")
    assert (code, err) == (0, "")
    assert json.loads(out) == ALL


@pytest.mark.slow
def test_every_document_is_of_one_kind_and_one_number(documents):
    whole = Draft202012Validator(ALL)
    for name, document in documents.items():
        problems = [
            f"{list(each.absolute_path)}: {each.message}"
            for each in validator(definition(document)).iter_errors(document)
        ]
        assert problems == [], name
        assert whole.is_valid(document), name
        assert document["schema"] == SCHEMA


def places(schema: dict[str, Any], value: Any, path: tuple[Any, ...] = (), name: str = "") -> Iterator[tuple[Any, ...]]:
    """Yield where each field of a schema stands in a document, its name in the schema, and whether it is a leaf."""
    if "$ref" in schema:
        target = schema["$ref"].removeprefix("#/$defs/")
        yield from places(ALL["$defs"][target], value, path, name)
        return
    if "anyOf" in schema:
        if value is not None:
            yield from places(schema["anyOf"][0], value, path, name)
        return
    if isinstance(value, list):
        for place, entry in enumerate(value):
            yield from places(schema.get("items", {}), entry, (*path, place), name)
    if isinstance(value, dict):
        for key, entry in value.items():
            if key in schema.get("properties", {}):
                yield (*path, key), f"{name}.{key}", schema["properties"][key]
                yield from places(schema["properties"][key], entry, (*path, key), f"{name}.{key}")
            elif isinstance(schema.get("additionalProperties"), dict):
                yield from places(schema["additionalProperties"], entry, (*path, key), f"{name}.*")


def fields(schema: dict[str, Any], name: str) -> Iterator[str]:
    """Yield the name of every field that a schema has."""
    if "$ref" in schema:
        schema = ALL["$defs"][schema["$ref"].removeprefix("#/$defs/")]
    if "anyOf" in schema:
        yield from fields(schema["anyOf"][0], name)
    if "items" in schema:
        yield from fields(schema["items"], name)
    for key, entry in schema.get("properties", {}).items():
        yield f"{name}.{key}"
        yield from fields(entry, f"{name}.{key}")
    if isinstance(schema.get("additionalProperties"), dict):
        yield from fields(schema["additionalProperties"], f"{name}.*")


def test_every_field_of_the_schema_is_printed_somewhere(documents):
    shown = {
        name
        for document in documents.values()
        for _, name, _ in places(ALL["$defs"][definition(document)], document, (), definition(document))
    }
    kinds = {definition(document) for document in documents.values()}
    assert kinds == set(ALL["$defs"]) & kinds
    missing = {name for kind in kinds for name in fields(ALL["$defs"][kind], kind)} - shown
    # How a table was read is written by TableSpec itself.
    unseen = {name for name in missing if ".table." not in name}
    assert (sorted(unseen - NOT_SHOWN), sorted(NOT_SHOWN - unseen)) == ([], [])


def short(value: Any) -> Any:
    """Return a document with the first entries of its lists: the others are alike."""
    if isinstance(value, list):
        return [short(entry) for entry in value[:2]]
    return {key: short(entry) for key, entry in value.items()} if isinstance(value, dict) else value


def changed(document: dict[str, Any], path: tuple[Any, ...], change: Callable[[Any, Any], None]) -> dict[str, Any]:
    changed_copy = copy.deepcopy(document)
    inner: Any = changed_copy
    for step in path[:-1]:
        inner = inner[step]
    change(inner, path[-1])
    return changed_copy


def rename(inner: dict[str, Any], key: str) -> None:
    inner[f"{key}s"] = inner.pop(key)


def mistype(inner: dict[str, Any], key: str) -> None:
    inner[key] = [{}] if not isinstance(inner[key], list) else "text"


@pytest.mark.slow
@pytest.mark.parametrize("change", [rename, mistype])
def test_a_renamed_key_and_a_value_of_another_type_are_refused(documents, change):
    tried = set()
    for document in map(short, documents.values()):
        kind = definition(document)
        check = validator(kind)
        assert check.is_valid(document)
        for path, name, _ in places(ALL["$defs"][kind], document, (), kind):
            if name in tried:
                continue
            tried.add(name)
            assert not check.is_valid(changed(document, path, change)), f"{change.__name__} {name}"
    assert len(tried) > 300
