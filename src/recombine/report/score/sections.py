"""The tables of a score, for its page and terminals: error by verdict, by cause, beside others, and the worst cells."""

from __future__ import annotations

from typing import Any

from recombine.jobs.score import ModelScore, Score
from recombine.jobs.score.amounts import Amount
from recombine.jobs.score.causes import CAUSES
from recombine.report.layout import Entry, Line, Section, ShownTable, Value, answer_section, guess_lines, table_of
from recombine.verdicts import Verdict
from recombine.words import captions
from recombine.words import score as words
from recombine.words.score_answer import score_answer
from recombine.words.structure import search_sentences
from recombine.writing import few_digits, plural

#: Cells that a model misses by most, as many as a terminal shows and a page lists.
MAX_WORST_CELLS_SHOWN, MAX_WORST_CELLS_LISTED = 5, 8
_VERDICTS = {verdict.word: verdict for verdict in Verdict}


def score_sections(score: Score) -> list[Section]:
    """Return what a terminal shows of a score."""
    verdicts, causes, worst = [], [], []
    for model in score.models:
        verdicts.append(_section(by_verdict_table(model)))
        sentences = [*words.model_sentences(score, model), words.removals_sentence(model)]
        causes.append(_section(causes_table(score, model), *sentences, _help(model)))
        causes.append(_section(slices_table(model)))
        worst.append(_section(worst_table(score, model, MAX_WORST_CELLS_SHOWN, joined=True)))
    return [
        answer_section(score_answer(score)),
        Section("", [words.score_opening(score), *guess_lines(score.design)]),
        Section("", words.score_answers(score)),
        *verdicts,
        *causes,
        _section(beside_table(score)),
        Section("What cannot be told", words.unclear_sentences(score)),
        *worst,
        Section(captions.LEFT_OUT, search_sentences(score.audit.choice)),
    ]


def _section(table: ShownTable | None, *sentences: str | Line) -> Section:
    return Section("" if table is None else table.caption, [table, *sentences])


def _help(model: ModelScore) -> Line:
    """Return the address of the page about the largest cause; an empty line where none is named."""
    largest = max(model.causes, key=lambda name: model.causes[name].value, default="")
    return Line(CAUSES[largest].address if largest else "", "dim", whole=True)


def by_verdict_table(model: ModelScore, identity: str = "") -> ShownTable | None:
    """Return the error of a model on cells of each verdict, beside that of the plain mean."""
    columns: dict[str, Value] = {
        "verdict": lambda row: _VERDICTS[row["verdict"]],
        "cells": "cells",
        "of what matters": lambda row: row.get("importance", float("nan")),
        "squared error": lambda row: _size(row.get("squared error")),
        "range": lambda row: _range(Amount(row["squared error"], row["low"], row["high"])),
        "share": "share",
        "plain mean": lambda row: _size(row.get("plain mean")),
        "log loss": lambda row: _size(row.get("log loss")),
        "accuracy": lambda row: row.get("accuracy", float("nan")),
    }
    bars = ["share", "accuracy", "of what matters"]
    return table_of(identity, words.BY_VERDICT.format(model=model.name), model.by_verdict.rows(), columns, bars=bars)


def _range(amount: Amount) -> Entry:
    return Entry(words.written_range(amount) if amount.low == amount.low else "–", True)


def causes_table(score: Score, model: ModelScore, identity: str = "") -> ShownTable | None:
    """Return the amount of each cause and their sum, with ranges; None where causes are not told apart."""
    if model.attribution is None:
        return None
    total = model.attribution.error
    columns: dict[str, Value] = {
        "cause": lambda item: Entry(
            item[0], note=words.cause_meaning(model, CAUSES[item[0]]) if item[0] in CAUSES else ""
        ),
        "squared error": lambda item: _signed(item[1].value),
        "range": lambda item: _range(item[1]),
        "share": lambda item: model.share(item[1].value),
    }
    if identity:  # a terminal has no room for one more column: a sentence says it there
        columns["removed alone"] = lambda item: _with_range(model.removals.get(item[0]))
    rows = [*model.causes.items(), ("sum", total)]
    return table_of(
        identity,
        words.BY_CAUSE.format(model=model.name, cells=plural(score.determined, "determined cell")),
        rows,
        columns,
        bars=["share"],
    )


def _with_range(amount: Amount | None) -> Entry:
    return Entry("–" if amount is None else words.with_range(amount), True)


def factors_table(model: ModelScore, identity: str) -> ShownTable | None:
    """Return each cause's coefficients factor by factor, with the error that each factor makes."""
    if model.attribution is None:
        return None
    tables = [(CAUSES[name], table) for name, table in model.attribution.per_factor.items()]
    columns: list[tuple[str, Any]] = [("factor", str)]
    for cause, table in tables:
        if cause.coefficient is not None:
            columns.append(
                (cause.coefficient.heading, lambda factor, of=table.coefficients: _coefficient(of.get(factor)))
            )
        columns.append((cause.name, lambda factor, of=table.amounts: _size(of[factor].value if factor in of else None)))
    factors = dict.fromkeys(factor for _, table in tables for factor in table.amounts)
    return table_of(identity, words.factors_caption(model), factors, columns)


def slices_table(model: ModelScore, identity: str = "") -> ShownTable | None:
    """Return the levels and pairs of levels that carry a model's error; None where none does beyond chance."""
    columns: dict[str, Value] = {
        "where": "name",
        "cells": "cells",
        "of cells": "share_of_cells",
        "of the error": "share_of_error",
        "times others": lambda worst: _with_range(worst.times),
        "mean miss": lambda worst: _with_range(worst.miss),
    }
    bars = ["of cells", "of the error"]
    return table_of(identity, words.SLICES.format(model=model.name), model.slices, columns, bars=bars)


def _size(value: float | None) -> Entry:
    return Entry("–" if value is None else few_digits(value), True)


def _coefficient(amount: Amount | None) -> Entry:
    return Entry("–" if amount is None else f"{amount.value:.2f} {words.written_range(amount)}", True)


def beside_table(score: Score) -> ShownTable | None:
    """Return what models and simpler predictions miss on determined cells; None without such cells."""
    if not score.determined:
        return None
    columns: dict[str, Value] = {"predictions": "predictions", "squared error": lambda row: _size(row["squared error"])}
    return table_of(
        "errors-beside",
        words.BESIDE.format(cells=plural(score.determined, "determined cell")),
        score.errors.rows(),
        columns,
    )


def worst_table(
    score: Score, model: ModelScore, count: int, identity: str = "", *, joined: bool = False
) -> ShownTable | None:
    """Return the cells that a model misses by most; with ``joined`` levels one column holds all of them."""
    if not score.determined:
        return None
    rows = list(score.worst(model.name, count).rows())
    names = [name for name in rows[0] if name not in ("observed", "predicted", "cause")]
    columns: list[tuple[str, Any]] = [(name, lambda row, name=name: str(row[name])) for name in names]
    if joined:
        columns = [("", lambda row: " · ".join(str(row[name]) for name in names))]
    for name in ("observed", "predicted"):
        columns.append((name, lambda row, name=name: _signed(row[name])))
    return table_of(identity, words.WORST.format(model=model.name), rows, [*columns, ("mostly", "cause")])


def _signed(value: object) -> Entry:
    return Entry(few_digits(value).replace("-", "−"), True) if isinstance(value, float) else Entry(str(value))
