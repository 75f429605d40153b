"""The score in a notebook: score_answers, one bar of causes per model; no script, no style sheet."""

from __future__ import annotations

from html import escape

from recombine.jobs.score import ModelScore, Score
from recombine.jobs.score.causes import CAUSES
from recombine.words.score import cause_meaning, model_sentences, score_answers, unclear_sentences
from recombine.writing import plural

#: A mid grey that shows on white and on black.
_LINE = "1px solid rgba(128,128,128,.55)"


def score_notebook(score: Score) -> str:
    """Return a compact HTML summary with inline styles and inherited text colour.

    Examples
    --------
    >>> import numpy as np, recombine as rc
    >>> cells = np.indices((6, 6)).reshape(2, -1).T
    >>> design = rc.Design.from_cells(cells, cells @ [1.0, 2.0], train=cells.sum(axis=1) % 3 > 0)
    >>> "leak" in score_notebook(rc.score(design, {"net": design.held_out @ [1.0, 1.0]}))
    True
    """
    design = score.design
    parts = [
        f'<p style="margin:0 0 .3em"><strong>Recombine score</strong> of {escape(score.outcome_name)} in '
        f"{escape(design.source)}: {plural(len(score.codes), 'held-out cell')}, {score.determined:,} determined</p>",
        *(f'<p style="margin:0 0 .35em">{escape(sentence)}</p>' for sentence in score_answers(score)),
        *(_bar(score, model) for model in score.models if model.attribution is not None),
        *(f'<p style="margin:.3em 0;opacity:.75">{escape(sentence)}</p>' for sentence in unclear_sentences(score)),
        '<p style="margin:.6em 0 0;opacity:.75"><code>score.to_html("score.html")</code> writes the whole report; '
        "<code>score.causes</code> lists the amounts.</p>",
    ]
    return f'<div style="max-width:52em;line-height:1.45;padding:.4em 0">{"".join(parts)}</div>'


def _bar(score: Score, model: ModelScore) -> str:
    """Draw the causes that add to the error as one bar, and name them with their shares."""
    assert model.attribution is not None
    causes, total = model.causes, model.attribution.error.value or 1.0
    positive = {name: amount.value / total for name, amount in causes.items() if amount.value > 0}
    pieces = "".join(
        f'<span style="flex:{share:.6f} 0 2px;background:{CAUSES[name].colour}" title="{name} {share:.0%}"></span>'
        for name, share in positive.items()
    )
    names = "".join(
        f'<span title="{escape(cause_meaning(model, CAUSES[name]))}">'
        '<span style="display:inline-block;width:1em;height:1em;'
        f'border:{_LINE};background:{CAUSES[name].colour};vertical-align:-.1em"></span> {name} '
        f"{amount.value / total:.0%}</span>"
        for name, amount in causes.items()
    )
    sentences = " ".join(model_sentences(score, model))
    return (
        f'<p style="margin:.5em 0 .2em"><strong>{escape(model.name)}</strong> {escape(sentences)}</p>'
        f'<div role="img" aria-label="{escape(", ".join(f"{name} {share:.0%}" for name, share in positive.items()))}" '
        f'style="display:flex;height:14px;border:{_LINE};overflow:hidden">{pieces}</div>'
        f'<p style="margin:.35em 0 .5em;display:flex;flex-wrap:wrap;gap:.2em 1.2em">{names}</p>'
    )
