"""The score as one HTML file: the answer, why by cause, errors by verdict, what cannot be told, the worst cells."""

from __future__ import annotations

from typing import Any

from recombine.jobs.score import ModelScore, Score
from recombine.jobs.score.causes import CAUSES
from recombine.report.score import sections as tables
from recombine.report.score.figures import CausesFigure, PredictionsFigure
from recombine.report.templates import fill_template, inline_both
from recombine.verdicts import Verdict
from recombine.words.score import held_out_phrase, model_sentences, score_answers, unclear_sentences
from recombine.words.score_answer import score_answer
from recombine.words.structure import search_sentences


def score_page(score: Score, *, command: str | None = None) -> str:
    """Return the score as one self-contained HTML document; ``command`` is the one that made it.

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
        job="examination" if score.folds else "score",
        held_out=held_out_phrase(score),
        answer=score_answer(score).content,
        answers=score_answers(score),
        unclear=unclear_sentences(score),
        left_out=search_sentences(score.audit.choice),
        causes_svg=inline_both(CausesFigure(score)) if score.regressors is not None else None,
        models=[_model(score, model, position) for position, model in enumerate(score.models)],
        by_verdict=[tables.by_verdict_table(model, f"by-verdict-{row}") for row, model in enumerate(score.models)],
        predictions_svg=inline_both(PredictionsFigure(score)),
        beside=tables.beside_table(score),
        causes=list(CAUSES),
        assumption=score.audit.choice.assumption,
        verdicts=[verdict for verdict in Verdict if (score.codes == verdict).any()],
        command=command,
    )


def _model(score: Score, model: ModelScore, position: int) -> dict[str, Any]:
    return {
        "name": model.name,
        "table": tables.causes_table(score, model, f"causes-{position}"),
        "factors": tables.factors_table(model, f"factors-{position}"),
        "sentences": model_sentences(score, model),
        "slices": tables.slices_table(model, f"slices-{position}"),
        "worst": tables.worst_table(score, model, tables.MAX_WORST_CELLS_LISTED, f"worst-{position}"),
    }
