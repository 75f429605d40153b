"""The score as one HTML file: the answer, why by cause, errors by verdict, what cannot be told, the worst cells."""

from __future__ import annotations

import platform
from importlib.metadata import version
from typing import Any

from recombine._version import __version__
from recombine.jobs.score import ModelScore, Score
from recombine.jobs.score.causes import CAUSES
from recombine.report.audit.page import LIBRARIES
from recombine.report.audit.page_tables import Entry, PageTable, page_table
from recombine.report.score.causes_figure import CausesFigure
from recombine.report.score.predictions_figure import PredictionsFigure
from recombine.report.templates import fill_template, inline_both
from recombine.verdicts import Verdict
from recombine.words.score import (
    cause_meaning,
    causes_caption,
    factors_caption,
    model_sentences,
    score_answers,
    unclear_sentences,
    written_range,
)
from recombine.writing import few_digits

#: Cells that a model misses by most, as many as are listed.
MAX_WORST_CELLS = 8


def score_page(score: Score, *, command: str | None = None) -> str:
    """Return the score as one self-contained HTML document.

    Parameters
    ----------
    score : Score
    command : str, optional
        The command that made it, for its last section.

    Examples
    --------
    >>> import numpy as np, recombine as rc
    >>> cells = np.indices((6, 6)).reshape(2, -1).T
    >>> design = rc.Design.from_cells(cells, cells @ [1.0, 2.0], train=cells.sum(axis=1) % 3 > 0)
    >>> text = score_page(rc.score(design, {"net": design.held_out @ [1.0, 1.0]}))
    >>> text.startswith("<!doctype html>"), "leak" in text
    (True, True)
    """
    return fill_template(
        "score.html.j2",
        score=score,
        design=score.design,
        unseen=int((score.codes != Verdict.SEEN).sum()),
        answers=score_answers(score),
        unclear=unclear_sentences(score),
        causes_svg=inline_both(CausesFigure(score)) if score.regressors is not None else None,
        models=[_model(score, model, position) for position, model in enumerate(score.models)],
        by_verdict=[_by_verdict(model, position) for position, model in enumerate(score.models)],
        predictions_svg=inline_both(PredictionsFigure(score)),
        beside=_beside(score),
        causes=list(CAUSES),
        assumption=score.audit.choice.assumption,
        verdicts=[verdict for verdict in Verdict if (score.codes == verdict).any()],
        command=command,
        versions=[("recombine", __version__), ("Python", platform.python_version())]
        + [(name, version(name)) for name in LIBRARIES],
    )


def _model(score: Score, model: ModelScore, position: int) -> dict[str, Any]:
    table = None
    if model.attribution is not None:
        total = model.attribution.error
        rows = [
            {
                "cause": name,
                "amount": few_digits(amount.value).replace("-", "−"),
                "range": written_range(amount),
                "share": amount.value / total.value if total.value > 0 else float("nan"),
                "what": cause_meaning(model, CAUSES[name]),
            }
            for name, amount in model.causes.items()
        ]
        rows.append(
            {"cause": "sum", "amount": few_digits(total.value), "range": written_range(total), "share": 1.0, "what": ""}
        )
        table = page_table(
            f"causes-{position}",
            causes_caption(score, model),
            rows,
            [
                ("cause", lambda row: Entry(row["cause"], note=row["what"])),
                ("squared error", lambda row: Entry(row["amount"], True)),
                ("range", lambda row: Entry(row["range"], True)),
                ("share", "share"),
            ],
            bars=["share"],
        )
    return {
        "name": model.name,
        "table": table,
        "factors": _factors(model, position),
        "sentences": model_sentences(score, model),
        "worst": _worst(score, model, position),
    }


def _factors(model: ModelScore, position: int) -> PageTable | None:
    """Return each cause's coefficients factor by factor, with the error that each factor makes."""
    if model.attribution is None:
        return None
    tables = [(CAUSES[name], table) for name, table in model.attribution.per_factor.items()]
    factors = dict.fromkeys(factor for _, table in tables for factor in table.amounts)
    columns: list[tuple[str, Any]] = [("factor", "factor")]
    rows: list[dict[str, str]] = [{"factor": factor} for factor in factors]
    for cause, table in tables:
        if cause.coefficient is not None:
            columns.append(
                (cause.coefficient.heading, lambda row, key=f"{cause.name} coefficient": Entry(row[key], True))
            )
        columns.append((cause.name, lambda row, key=cause.name: Entry(row[key], True)))
        for row in rows:
            amount, coefficient = table.amounts.get(row["factor"]), table.coefficients.get(row["factor"])
            row[cause.name] = "–" if amount is None else few_digits(amount.value)
            row[f"{cause.name} coefficient"] = (
                "–" if coefficient is None else f"{coefficient.value:.2f} {written_range(coefficient)}"
            )
    return page_table(f"factors-{position}", factors_caption(model), rows, columns)


def _by_verdict(model: ModelScore, position: int) -> PageTable | None:
    of_word = {verdict.word: verdict for verdict in Verdict}
    rows = [
        {
            **row,
            "kind": of_word[row["verdict"]],
            "error": few_digits(row["squared error"]),
            "range": f"[{few_digits(row['low'])}, {few_digits(row['high'])}]" if row["low"] == row["low"] else "–",
            "plain": few_digits(row["plain mean"]),
            "loss": few_digits(row["log loss"]) if "log loss" in row else "–",
            "right": row.get("accuracy", float("nan")),
            "matters": row.get("importance", float("nan")),
        }
        for row in model.by_verdict.rows()
    ]
    return page_table(
        f"by-verdict-{position}",
        f"{model.name} on held-out cells, by verdict; shares are of its error on unseen cells",
        rows,
        [
            ("verdict", "kind"),
            ("cells", "cells"),
            ("of what matters", "matters"),
            ("squared error", lambda row: Entry(row["error"], True)),
            ("range", lambda row: Entry(row["range"], True)),
            ("share", "share"),
            ("plain mean", lambda row: Entry(row["plain"], True)),
            ("log loss", lambda row: Entry(row["loss"], True)),
            ("right", "right"),
        ],
        bars=["share", "right", "of what matters"],
    )


def _beside(score: Score) -> PageTable | None:
    rows = [{**row, "text": few_digits(row["squared error"])} for row in score.errors.rows()]
    return page_table(
        "errors-beside",
        f"Squared error on the {score.determined:,} determined cells",
        rows,
        [("predictions", "predictions"), ("squared error", lambda row: Entry(row["text"], True))],
    )


def _worst(score: Score, model: ModelScore, position: int) -> PageTable | None:
    if not score.determined:
        return None
    rows = list(score.worst(model.name, MAX_WORST_CELLS).rows())
    last = ("observed", "predicted", "cause")
    names = [name for name in rows[0] if name not in last]
    columns: list[tuple[str, Any]] = [(name, lambda row, name=name: str(row[name])) for name in names]
    for name in last[:2]:
        columns.append((name, lambda row, name=name: _shown(row[name])))
    return page_table(
        f"worst-{position}", f"Determined cells that {model.name} misses by most", rows, [*columns, ("mostly", "cause")]
    )


def _shown(value: object) -> Entry:
    return Entry(few_digits(value), True) if isinstance(value, float) else Entry(str(value))
