"""Command lines over drawn inputs: every command, options that fit and options that do not, outputs of every kind."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

import forging
import inputs
from inputs import Draw

TABLES = [".csv", ".csv", ".csv", ".tsv", ".csv.gz", ".tsv.gz", ".parquet", ".jsonl", ".txt", ".pq", ".ndjson", ".gz"]
STRUCTURES = ["add", "logit", "log", "multiplicative", "link", "pairs", "link-pairs", "triples", "auto", "sum"]
CORPUS = Path(__file__).parent / "corpus"
#: Commands of the laboratory are tried where there is one.
LAB = find_spec("recombine.lab") is not None


@dataclass
class Drawn:
    """A command line and the files that it may write."""

    arguments: list[str] = field(default_factory=list)
    outputs: list[Path] = field(default_factory=list)
    names: list[str] = field(default_factory=list)  # those of which nothing may be obeyed

    def add(self, *arguments: object) -> None:
        self.arguments += [str(argument) for argument in arguments]


def draw_command(draw: Draw, folder: Path) -> Drawn:
    """Fill a folder with inputs and return what to call on them."""
    makers: list[tuple[Callable[[Draw, Path], Drawn], int]] = [
        (_audit, 40), (_score, 15), (_split, 15), (_inspect, 18),
        (_probe, 8), (_compare, 10), (_words, 4), (_forged, 25), *([(_papers, 2)] if LAB else []),
    ]  # fmt: skip
    draw.bold = draw.choice([0.05, 0.3, 1.0])
    maker = draw.choices([one for one, _ in makers], [share for _, share in makers])[0]
    drawn = maker(draw, folder)
    if draw.odd(0.06) and not drawn.names:
        drawn.arguments.insert(draw.randrange(len(drawn.arguments) + 1), draw.choice(inputs.HOSTILE))
    # No program can be given a NUL.
    drawn.arguments = [argument.replace("\x00", "") for argument in drawn.arguments]
    return drawn


def _table(draw: Draw, folder: Path, stem: str = "table") -> tuple[Path, list[str]]:
    """Write a table of the corpus or a drawn one, whole in most cases."""
    kept = sorted(path for path in CORPUS.iterdir() if path.suffix not in (".npy", ".npz", ".json"))
    if kept and draw.random() < 0.15:
        chosen = draw.choice(kept)
        path = folder / f"{stem}{''.join(chosen.suffixes)}"
        data = chosen.read_bytes()
        inputs.put(draw, path, inputs.mutant(draw, data) if draw.odd(0.5) else data)
        return path, ["a", "b", "y", "n", "sd", "part", "p"]
    suffix = draw.choice(TABLES)
    name = stem if not draw.odd(0.1) else draw.choice(["a b", "é", "[x]*", "it's", "\x1b[31m", "%d", "-x", "日本"])
    columns = inputs.columns_of(draw)
    path = folder / f"{name}{suffix}"
    data = inputs.table_bytes(draw, columns, suffix)
    inputs.put(draw, path, inputs.mutant(draw, data) if draw.odd(0.5) else data)
    return path, columns


def _names(draw: Draw, columns: list[str], most: int = 3) -> str:
    chosen = draw.sample(columns, min(len(columns), draw.randint(1, most)))
    if draw.odd(0.1):
        chosen.append(draw.choice(inputs.HOSTILE))
    return draw.choice([",", ",", ", "]).join(f'"{name}"' if "," in name else name for name in chosen)


def _factors(draw: Draw, columns: list[str]) -> str:
    known = columns if draw.odd(0.2) else columns[:-5]
    return ",".join(f'"{name}"' if "," in name else name for name in known)


def _output(draw: Draw, drawn: Drawn, option: str, given: list[Path], folder: Path, ending: str) -> None:
    """Name an output: a new file mostly, but also an input, a link to one, a pipe, a device, a folder."""
    path = folder / f"out-{option.strip('-')}{ending}"
    way = draw.randrange(8) if draw.odd(0.8) else -1
    source = next((one for one in given if one.is_file() and not one.is_symlink()), None)
    if way == 0:
        path.write_text("old")
    elif way == 1 and source:
        path = source
    elif way == 2 and source:
        os.link(source, path)
    elif way == 3 and source:
        path.symlink_to(source.name)
    elif way == 4:
        os.mkfifo(path)
    elif way == 5:
        path = draw.choice([folder, Path("/dev/full"), Path("/dev/null"), folder / "none" / "x", folder / "table/x"])
    elif way == 6:
        path = Path("/proc/out.html")
    elif way == 7:
        path = folder / (draw.choice(["é", "\x1b[31m", "x" * 250, "x" * 300, "-", "a b"]) + ending)
    drawn.add(option, path)
    if draw.random() < 0.5:
        drawn.add("--force")
    there = os.path.exists(path)  # Path.exists raises where a name is too long
    if not os.path.isdir(path) and not any(there and one.exists() and path.samefile(one) for one in given):
        drawn.outputs.append(path)


def _maybe(draw: Draw, drawn: Drawn, chance: float, *arguments: object) -> bool:
    chosen = draw.random() < chance * (0.3 + 0.7 * draw.bold)
    if chosen:
        value = list(arguments)
        if len(value) > 1 and draw.odd(0.05):
            value[-1] = draw.choice(inputs.HOSTILE)
        drawn.add(*value)
    return chosen


def _audit(draw: Draw, folder: Path) -> Drawn:
    table, columns = _table(draw, folder)
    given = [table]
    drawn = Drawn(["audit", str(table)])
    _maybe(draw, drawn, 0.8, "--factors", _factors(draw, columns))
    _maybe(draw, drawn, 0.5, "--outcome", draw.pick(["y"], columns))
    _maybe(draw, drawn, 0.15, "--split", draw.pick(["part", "part=train"], ["part=", "y", "part=none"]))
    _maybe(draw, drawn, 0.1, "--weight", draw.pick(["n"], columns))
    _maybe(draw, drawn, 0.05, "--sd", "sd")
    _maybe(draw, drawn, 0.1, draw.choice(["--counts", "--means"]))
    _maybe(draw, drawn, 0.15, "--order", draw.pick([1, 2], [0, -1, 9, 10**20]))
    _maybe(draw, drawn, 0.2, "--structure", draw.pick(STRUCTURES[:-1], ["sum"]))
    _maybe(draw, drawn, 0.1, "--symmetric", _names(draw, columns))
    _maybe(draw, drawn, 0.05, "--as-levels", _names(draw, columns))
    _maybe(draw, drawn, 0.05, "--sequence", draw.choice(columns))
    _maybe(draw, drawn, 0.05, "--set", draw.choice(columns))
    _maybe(draw, drawn, 0.05, "--separator", draw.choice(["+", ";", "", "x", "++"]))
    _maybe(draw, drawn, 0.05, "--control", draw.choice(["ctrl", "a,b", ","]))
    _maybe(draw, drawn, 0.08, "--ordered", draw.choice([_names(draw, columns, 1), "f0=a<b<c", "f0=<", "f0<a"]))
    _maybe(draw, drawn, 0.08, "--numeric", _names(draw, columns, 1))
    _maybe(draw, drawn, 0.08, "--nested", draw.choice(["f0/f1", "f0/f0", "/", "f0/", "f0/f1/f2"]))
    _maybe(draw, drawn, 0.1, "--crossed")
    for option in ("--possible", "--targets", "--cost", "--forbidden", "--importance"):
        if draw.random() < 0.07:
            given.append(_side(draw, folder, columns, option.strip("-")))
            drawn.add(option, given[-1])
    if draw.random() < 0.15:
        given.append(_described(draw, folder))
        factor = draw.pick(["f0", "f1"], [*columns, *inputs.HOSTILE])
        drawn.add("--features", draw.pick([f"{factor}={given[-1]}"], [f"{factor}={given[-1]}:f0", factor, "=", "f0="]))
    _maybe(draw, drawn, 0.1, "--new-levels")
    _maybe(draw, drawn, 0.6, "--plan", draw.pick([0, 0, 1, 3], [-1, 10**6]))
    _maybe(draw, drawn, 0.05, "--self-pairs")
    _maybe(draw, drawn, 0.01, "--models")
    _maybe(draw, drawn, 0.15, "--explain", ",".join(inputs.word(draw) for _ in range(draw.choice([1, 2, 3]))))
    _maybe(draw, drawn, 0.3, "--json")
    _maybe(draw, drawn, 0.1, "--fail-on", draw.pick(["RC101", "rc301,RC101"], ["RC999", "lost", ","]))
    _maybe(draw, drawn, 0.1, "--seed", draw.pick([0, 7], [-1, 2**70]))
    if draw.random() < 0.1:
        given.append(_document(draw, folder, "before", "audit"))
        drawn.add("--baseline", given[-1])
        if _maybe(draw, drawn, 0.4, "--markdown", "-"):
            drawn.outputs.append(folder / drawn.arguments[-1])  # a hostile name is a name
    if draw.random() < 0.08:
        _output(draw, drawn, "--html", given, folder, ".html")
    if draw.random() < 0.12:
        _output(draw, drawn, "--verdicts", given, folder, ".csv")
    return drawn


def _side(draw: Draw, folder: Path, columns: list[str], name: str) -> Path:
    """Write a table of cells beside the table: its factors, some blank, and a column of the option's name."""
    factors = columns[:-5]
    rows = [
        {
            **{factor: draw.choice(["", inputs.word(draw, 0.05)]) for factor in factors},
            name: draw.choice([1, 2, -1, "x"]),
        }
        for _ in range(draw.choice([0, 1, 3]))
    ]
    path = folder / f"{name}.csv"
    data = inputs.table_bytes(draw, [*factors, name], ".csv", rows)
    inputs.put(draw, path, inputs.mutant(draw, data) if draw.odd(0.4) else data)
    return path


def _described(draw: Draw, folder: Path) -> Path:
    """Write a table of descriptors of levels: some twice, some blank, numbers that are none."""
    rows = [
        {
            "level": inputs.word(draw, 0.1),
            "mass": draw.choice([1, 2.5, -3, "", "x", "nan", "inf", "1e400"]) if draw.odd(0.3) else draw.random(),
            "salt": draw.choice(["Na", "K", ""]),
        }
        for _ in range(draw.choice([0, 1, 3, 12]))
    ]
    path = folder / "descriptors.csv"
    data = inputs.table_bytes(draw, ["level", "mass", "salt"], ".csv", rows)
    inputs.put(draw, path, inputs.mutant(draw, data) if draw.odd(0.4) else data)
    return path


def _score(draw: Draw, folder: Path) -> Drawn:
    table, columns = _table(draw, folder)
    given = [table]
    drawn = Drawn(["score", str(table), "--factors", _factors(draw, columns)])
    drawn.add("--outcome", draw.pick(["y"], columns), "--prediction", draw.pick(["p"], ["p,y", "q", ","]))
    if draw.random() < 0.2:
        given.append(_table(draw, folder, "training")[0])
        drawn.add("--train", given[-1])
    else:
        _maybe(draw, drawn, 0.95, "--split", draw.pick(["part=train"], ["part", "part=test", "p"]))
    _maybe(draw, drawn, 0.2, "--classes")
    _maybe(draw, drawn, 0.1, "--weight", "n")
    _maybe(draw, drawn, 0.1, "--symmetric", _names(draw, columns))
    _maybe(draw, drawn, 0.2, "--structure", draw.pick(STRUCTURES[:-1], ["sum"]))
    _maybe(draw, drawn, 0.4, "--json")
    _maybe(draw, drawn, 0.05, "--importance", draw.choice(columns))
    if draw.random() < 0.1:
        given.append(_document(draw, folder, "before", "score"))
        drawn.add("--baseline", given[-1])
    if draw.random() < 0.12:
        _output(draw, drawn, "--html", given, folder, ".html")
    return drawn


def _split(draw: Draw, folder: Path) -> Drawn:
    table, columns = _table(draw, folder)
    drawn = Drawn(["split", str(table), "--factors", _factors(draw, columns)])
    shares = ["determined:0.2", "determined:0.2,seen:0.1", "disconnected:0.3", "unseen level:0.1", "x:1", "determined:"]
    if draw.random() < 0.7:
        drawn.add(
            "--test",
            draw.pick(shares[:4], [*shares, "determined:nan", "determined:1e9", "unseen level of f0:0.2", ":"]),
        )
        _maybe(draw, drawn, 0.2, "--stratify", draw.choice(columns))
        if draw.random() < 0.6:
            _output(draw, drawn, "--out", [table], folder, ".csv")
        _maybe(draw, drawn, 0.1, "--column", draw.pick(["split"], ["y", *inputs.HOSTILE]))
    else:
        drawn.add("--check", draw.pick(["part=train"], ["part", "y", "part=zz"]))
        _maybe(draw, drawn, 0.4, "--outcome", draw.choice(columns))
        _maybe(draw, drawn, 0.2, "--fail-on", draw.pick(["same", "copied,permuted"], ["x"]))
    _maybe(draw, drawn, 0.1, "--symmetric", _names(draw, columns))
    _maybe(draw, drawn, 0.2, "--structure", draw.pick(STRUCTURES[:-1], ["sum"]))
    _maybe(draw, drawn, 0.2, "--order", draw.pick([1, 2], [5, 0]))
    _maybe(draw, drawn, 0.3, "--json")
    return drawn


def _arrays(draw: Draw, folder: Path, stem: str) -> Path:
    kept = sorted(path for path in CORPUS.iterdir() if path.suffix in (".npy", ".npz"))
    suffix = draw.choice([".npy", ".npz"])
    way = draw.random()
    if kept and way < 0.1:
        chosen = draw.choice(kept)
        suffix, data = chosen.suffix, chosen.read_bytes()
    else:
        data = inputs.forged_array(draw, suffix) if draw.odd(0.3) else inputs.array_bytes(draw, suffix)
    path = folder / f"{stem}{suffix if not draw.odd(0.03) else '.npy'}"
    inputs.put(draw, path, inputs.mutant(draw, data) if draw.odd(0.5) else data)
    return path


def _inspect(draw: Draw, folder: Path) -> Drawn:
    drawn = Drawn(["inspect", str(_arrays(draw, folder, "layers"))])
    drawn.add("--factors", draw.pick(["x,y", "x,y", "x,y,z"], ["x", "x,y,z", ",", "x,x", draw.choice(inputs.HOSTILE)]))
    if draw.random() < 0.3:
        drawn.add("--seen", draw.choice([_arrays, lambda *a: _table(*a)[0]])(draw, folder, "seen"))
    if draw.random() < 0.2:
        drawn.add("--truth", _arrays(draw, folder, "truth"))
    _maybe(draw, drawn, 0.3, "--background", draw.pick(["mean", "none", "median"], ["x"]))
    _maybe(draw, drawn, 0.4, "--json")
    return drawn


def _probe(draw: Draw, folder: Path) -> Drawn:
    table, columns = _table(draw, folder)
    drawn = Drawn(["probe", str(table), "--prediction", draw.pick(["p"], columns)])
    if not draw.odd(0.3):
        drawn.add("--outcome", draw.pick(["y"], ["part"]))
    _maybe(draw, drawn, 0.3, "--factor", _names(draw, columns))
    _maybe(draw, drawn, 0.6, "--factors", _factors(draw, columns))
    drawn.add("--permutations", draw.pick([60, 100], [1, 0, -1]))
    _maybe(draw, drawn, 0.2, "--level", draw.pick([0.05], [0, 2, "nan", -1]))
    _maybe(draw, drawn, 0.2, "--bins", draw.pick([2, 5], [1, 10**9]))
    _maybe(draw, drawn, 0.3, "--json")
    return drawn


def _document(draw: Draw, folder: Path, stem: str, kind: str) -> Path:
    """Write what audit or score has printed as JSON, or something near it."""
    data = (CORPUS / f"{draw.pick([kind], ['audit', 'score'])}.json").read_bytes()
    way = draw.random() / (draw.bold + 1e-9)
    if way < 0.3:
        data = inputs.mutant(draw, data)
    elif way < 0.6:
        data = json.dumps(_twisted(draw, json.loads(data))).encode()
    elif way < 0.65:
        data = draw.choice([b"", b"[]", b"null", b"[" * 10**5, b"1e999", b'{"a":' * 2000, b"NaN", b'"x"'])
    path = folder / f"{stem}.json"
    inputs.put(draw, path, data)
    return path


def _twisted(draw: Draw, value: object) -> object:
    """Put something of another kind in the place of one value."""
    if draw.random() < 0.15 or not isinstance(value, dict | list) or not value:
        return draw.choice([None, -1, 1e308, "", [], {}, True, draw.choice(inputs.HOSTILE)])
    if isinstance(value, dict):
        key = draw.choice(sorted(value))
        if draw.random() < 0.1:
            return {name: one for name, one in value.items() if name != key}
        return {**value, key: _twisted(draw, value[key])}
    place = draw.randrange(len(value))
    return [*value[:place], _twisted(draw, value[place]), *value[place + 1 :]]


def _compare(draw: Draw, folder: Path) -> Drawn:
    kind = draw.choice(["audit", "score"])
    given = [_document(draw, folder, "before", kind), _document(draw, folder, "after", kind)]
    drawn = Drawn(["compare", *map(str, given)])
    _maybe(draw, drawn, 0.3, "--json")
    _maybe(draw, drawn, 0.3, "--fail-on", draw.pick(["lost", "gone-levels,new-findings", "RC101"], ["worse", "x"]))
    if draw.random() < 0.4:
        _output(draw, drawn, "--markdown", given, folder, ".md")
    return drawn


def _forged(draw: Draw, folder: Path) -> Drawn:
    """Draw a call that gets far on a table in which every name would forge something, with outputs of every kind."""
    draw.bold, names = 0.0, forging.Names(draw)
    job = draw.choice(["audit", "audit", "audit", "score", "split", "check", "probe", "inspect", "compare", "refused"])
    if draw.random() < 0.1:
        return _forged_compare(draw, folder, names)
    if job == "inspect":
        table = names.file(folder, ".npz")
        forging.write_layers(table, names)
        drawn = Drawn(["inspect", str(table), "--factors", "x,y"], names=names.drawn)
        _maybe(draw, drawn, 1.5, "--json")
        return drawn
    columns, rows = forging.table_of(names, draw.choice([2, 2, 3]), draw.choice([3, 4]))
    *factors, outcome, classes, part, prediction = columns
    table, design = names.file(folder, ".csv"), folder / "design.toml"
    forging.write_table(table, columns, rows)
    said: dict[str, object] = {"factors": factors, "outcome": outcome}
    if job in ("score", "check", "compare") or draw.random() < 0.3:
        said["split"] = f"{part}={rows[0][-2]}"
    if job == "refused":
        said[draw.choice(["weight", "split", "outcome"])] = names.name()
    drawn = Drawn([{"score": job, "split": job, "probe": job, "check": "split"}.get(job, "audit"), str(table)])
    drawn.names = names.drawn
    if job == "score":
        said["outcome"] = draw.choice([outcome, outcome, outcome, f"{classes}={rows[0][-3]}"])
        drawn.add("--prediction", f'"{prediction}"')
    elif job == "split":
        said = {"factors": factors}
        drawn.add("--test", draw.choice(["determined:0.1", "unseen level:0.1"]), "--column", names.name())
    elif job == "check":
        drawn.add("--check", said.pop("split"), "--fail-on", "same")
    elif job == "probe":
        drawn.add("--prediction", prediction, "--permutations", 60)
    forging.write_design(design, **said)
    drawn.add("--design", design)
    _forged_outputs(draw, drawn, job, names, folder, rows)
    return drawn


def _forged_compare(draw: Draw, folder: Path, names: forging.Names) -> Drawn:
    """Draw a comparison of two documents about tables in which every name would forge something."""
    draw.bold, files = 0.0, []
    columns, rows = forging.table_of(names, 2, 4)
    levels = [names.name() for _ in range(2)]
    renamed = [[levels[0] if row[0] == rows[0][0] else row[0], *row[1:]] for row in rows]  # a level goes, one comes
    kind = draw.choice(["audit", "score"])
    for content in (rows, draw.choice([renamed, rows[len(rows) // 3 :]])):
        files.append(names.file(folder, ".json"))
        files[-1].write_text(forging.document_of(kind, columns, content, str(rows[0][-2])), encoding="utf-8")
    drawn = Drawn(["compare", *map(str, files)], names=names.drawn)
    if draw.random() < 0.4:
        drawn.outputs.append(names.file(folder, ".md"))
        drawn.add("--markdown", draw.choice(["-", drawn.outputs[-1]]))
    elif draw.random() < 0.4:
        drawn.add("--json")
    _maybe(draw, drawn, 1.0, "--fail-on", "lost" if kind == "audit" else "worse")
    return drawn


def _forged_outputs(
    draw: Draw, drawn: Drawn, job: str, names: forging.Names, folder: Path, rows: list[list[object]]
) -> None:
    """Ask for outputs under hostile names, and about cells and changes."""
    endings = {"audit": [("--html", ".html"), ("--verdicts", ".csv"), ("--save-design", ".toml")]}
    endings |= {"split": [("--out", ".csv")], "score": [("--html", ".html")]}
    for option, ending in endings.get(job, []):
        if draw.random() < 0.4:
            drawn.outputs.append(names.file(folder, ending))
            drawn.add(option, drawn.outputs[-1])
    if job == "audit" and draw.random() < 0.3:
        drawn.add("--explain", ",".join(f'"{level}"' for level in draw.choice(rows)[:-4]))
    if job == "compare":
        before = json.loads((CORPUS / "audit.json").read_bytes())
        before["findings"] = [{**item, "message": names.name()} for item in before["findings"]]
        (folder / "before.json").write_text(json.dumps(before))
        summary = names.file(folder, ".md")
        drawn.outputs.append(summary)
        drawn.add("--baseline", folder / "before.json", "--markdown", draw.choice(["-", summary]))
        drawn.add("--fail-on", "new-findings")
    elif draw.random() < 0.35:
        drawn.add("--json")


def _papers(draw: Draw, folder: Path) -> Drawn:
    results = folder / "results"
    results.mkdir()
    (results / "verdicts.json").write_bytes(draw.choice([b"{}", b"[]", b"{", b'{"kernel-theory/1": {}}', b"\xff"]))
    drawn = Drawn(["papers"])
    _maybe(draw, drawn, 0.3, draw.choice(["kernel-theory", "kernel", "\x1b[31m"]))
    drawn.add("--results", results)
    _maybe(draw, drawn, 0.4, "--json")
    return drawn


def _words(draw: Draw, folder: Path) -> Drawn:
    """Draw commands without inputs: help, versions, slips, and reproductions that are refused before they run."""
    store, kernel = ["--store", str(folder / "store")], ["reproduce", "kernel-theory"]
    of_the_lab = [
        ["reproduce"],
        ["reproduce", "nothing"],
        [*kernel, "--minutes", "0", *store, "--only", "zz"],
        [*kernel, "--minutes", "-1"],
        [*kernel, "--scale", "huge"],
        [*kernel, "--merge", str(folder / "none.tar"), *store],
        [*kernel, "--store", "/proc/x"],
        [*kernel, "--device", "gpu"],
    ]
    words = [
        [],
        ["--version"],
        ["--help"],
        ["audit", "--help"],
        ["aduit"],
        ["--x"],
        ["audit"],
        ["explore", "--no-open"],
        ["explore", "--x"],
        ["score", "--help"],
        ["split"],
        ["demo", "--x"],
    ]
    return Drawn(draw.choice([*words, *(of_the_lab if LAB else [])]))
