"""The score as one HTML file: the answer, why by cause, errors by verdict, what cannot be told, the worst cells."""

from __future__ import annotations

from recombine.jobs.score import Score
from recombine.jobs.score.causes import CAUSES
from recombine.report.score import sections as tables
from recombine.report.score.figures import CausesFigure, PredictionsFigure
from recombine.report.templates import fill_template
from recombine.words.score_answer import score_answer


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
        tables=tables,
        answer=score_answer(score),
        causes=None if score.regressors is None else CausesFigure(score),
        predictions=PredictionsFigure(score),
        kinds=list(CAUSES),
        command=command,
    )
