"""The options that say what a table holds, the same for every command that audits one."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recombine.interrupts import interrupts_wait
from recombine.tables.text_files import named
from recombine.words.structure import listed_orders, listed_structures

if TYPE_CHECKING:
    from recombine.design.design import Design

FactorsOption = Annotated[str | None, typer.Option(help="Factor columns, separated by commas. Guessed if left out.")]
OutcomeOption = Annotated[str | None, typer.Option(help="Numeric (or two-valued) outcome column.")]
SplitOption = Annotated[str | None, typer.Option(help="Split column, or column=value naming the training value.")]
WeightOption = Annotated[str | None, typer.Option(help="Column of counts, for a table already aggregated.")]
SdOption = Annotated[str | None, typer.Option(help="Column of standard deviations, likewise.")]
CountsOption = Annotated[
    bool | None,
    typer.Option("--counts/--means", help="Is a row with weight n that many equal measurements, or their mean?"),
]
OrderOption = Annotated[
    int | None, typer.Option(help=f"How many factors may interact ({listed_orders()}); by default as the data show.")
]
StructureOption = Annotated[
    str,
    typer.Option(help=f"What effects do: {listed_structures()}; auto chooses."),
]
SymmetricOption = Annotated[str | None, typer.Option(help="Factors that are one factor used twice: gene_a,gene_b.")]
AsLevelsOption = Annotated[str | None, typer.Option(help="Numeric columns with very many values that are labels.")]
SequenceOption = Annotated[str | None, typer.Option(help="Column of texts of one length: each position is a factor.")]
SetsOption = Annotated[
    str | None, typer.Option("--set", help="Column of sets such as A+B+ctrl: each member is a factor.")
]
SeparatorOption = Annotated[str | None, typer.Option(help="What separates members; + ; , | are recognised.")]
ControlOption = Annotated[
    str | None, typer.Option(help="Words for no member of a set, by commas: ctrl,control by default.")
]
OrderedOption = Annotated[
    list[str] | None,
    typer.Option(help="Factors whose levels are ordered, by commas: dose, or grade=low<mid<high. May be repeated."),
]
NumericOption = Annotated[
    list[str] | None, typer.Option(help="Factors whose effect is a smooth curve, by commas. May be repeated.")
]
NestedOption = Annotated[
    list[str] | None, typer.Option(help="A factor inside another: plant/treatment. May be repeated.")
]
CrossedOption = Annotated[bool, typer.Option("--crossed", help="Infer no nesting: every combination can exist.")]
PossibleOption = Annotated[Path | None, typer.Option(help="Table of cells that can exist; blanks match all.")]


@contextmanager
def pandas_left_alone() -> Iterator[None]:
    """Keep DuckDB from loading pandas only to see that no constant of a query is one of its missing values.

    That would take a sixth of the time of a command on a small table. What wants pandas afterwards finds it.
    """
    _load_engine()
    if "pandas" in sys.modules:
        yield
        return
    sys.modules["pandas"] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        sys.modules.pop("pandas", None)


def _load_engine() -> None:
    """Load DuckDB with Ctrl-C held back: in the middle of it the process would end in a segmentation fault."""
    with interrupts_wait(True) as interrupted:
        import duckdb  # noqa: F401
    if interrupted():
        raise KeyboardInterrupt


def read_design(
    file: Path,
    *,
    factors: str | None = None,
    outcome: str | None = None,
    split: str | None = None,
    weight: str | None = None,
    sd: str | None = None,
    counts: bool | None = None,
    symmetric: str | None = None,
    as_levels: str | None = None,
    sequence: str | None = None,
    sets: str | None = None,
    separator: str | None = None,
    control: str | None = None,
    ordered: Sequence[str] | None = None,
    numeric: Sequence[str] | None = None,
    nested: Sequence[str] | None = None,
    crossed: bool = False,
    possible: Path | None = None,
) -> Design:
    """Return the design of the table in ``file``, its columns named as on the command line."""
    from recombine import Design

    with pandas_left_alone():
        return Design.from_frame(
            file,
            factors=None if factors is None else named(factors, "--factors"),
            outcome=outcome,
            weight=weight,
            sd=sd,
            counts=counts,
            split=split,
            symmetric=named(symmetric, "--symmetric"),
            as_levels=named(as_levels, "--as-levels"),
            nested=[name for text in nested or () for name in named(text, "--nested")],
            crossed=crossed,
            possible=possible,
            sequence=sequence,
            sets=sets,
            separator=separator,
            control=None if control is None else named(control, "--control"),
            ordered=[name for text in ordered or () for name in named(text, "--ordered")],
            numeric=[name for text in numeric or () for name in named(text, "--numeric")],
        )
