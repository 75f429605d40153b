"""Results in a notebook: no script, no style sheet, inherited text colour, so that they read by day and by night."""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import TYPE_CHECKING

from recombine import words
from recombine.jobs.findings.finding import Finding, Severity
from recombine.report.theme import ink_on
from recombine.tables.table import Table
from recombine.verdicts import Verdict
from recombine.words import captions
from recombine.writing import percent, printable, whole_percent

if TYPE_CHECKING:
    from recombine.jobs.advice import Plan
    from recombine.jobs.audit.audit import Audit
    from recombine.jobs.score import ModelScore, Score

#: A mid grey that shows on white and on black.
_LINE = "1px solid rgba(128,128,128,.55)"
_SOFT = "margin:.3em 0;opacity:.75"
_WEIGHT = {Severity.PROBLEM: 700, Severity.WARNING: 600, Severity.NOTE: 400}


def notebook(audit: Audit) -> str:
    """Return a compact HTML summary of an audit: the answer, verdict counts as a bar, findings.

    Examples
    --------
    >>> import recombine as rc
    >>> "determined" in notebook(rc.audit(rc.Design.from_cells([[0, 0], [0, 1], [1, 0]])))
    True
    """
    tally, design = words.verdicts.Tally.of(audit), audit.design
    answer = audit.answer
    notes = [words.table.impossible_sentence(design), words.importance.importance_statement(audit.decided.matters)]
    counts = {verdict: tally.counts[verdict] for verdict in Verdict if tally.counts[verdict]}
    findings = "".join(f"<li>{_finding(finding)}</li>" for finding in audit.findings)
    return _frame(
        _paragraph(f": {design.space.title}", lead=answer.title),
        *(_paragraph(f" {line.text}", lead=line.name) for line in answer.content),
        *map(_paragraph, notes),
        _bar([(f"{count:,} {verdict.word}", count / tally.total, verdict.colour) for verdict, count in counts.items()]),
        _legend(_verdict_chip(audit, verdict, tally) for verdict in counts),
        _paragraph("" if tally.exact else captions.ESTIMATED, _SOFT),
        f'<ul style="margin:0;padding-left:1.2em">{findings}</ul>'
        if findings
        else _paragraph(words.importance.no_findings(audit)),
        _paragraph(captions.MORE_IN.format(page="audit.to_html", table="audit.verdicts"), _SOFT),
    )


def _shown(text: str) -> str:
    """Return text as HTML that shows it and obeys nothing of it."""
    return html.escape(printable(text))


def _finding(finding: Finding) -> str:
    title = f"{_linked(finding.code, finding.address)} {_shown(finding.kind.title)}"
    weight = _WEIGHT[finding.severity]
    return f'<span style="font-weight:{weight}">{title}</span> ({finding.severity.word}): {_shown(finding.message)}'


def _linked(name: str, address: str) -> str:
    return f'<a href="{_shown(address)}">{_shown(name)}</a>' if address else _shown(name)


def _verdict_chip(audit: Audit, verdict: Verdict, tally: words.verdicts.Tally) -> str:
    weighted = words.importance.importance_column(audit, verdict)
    share = f"{percent(tally.counts[verdict], tally.total)}{f'; {weighted}' if weighted else ''}"
    meaning = words.verdicts.verdict_meaning(verdict, audit.choice.assumption)
    return _chip(verdict.colour, f"{tally.number(verdict)} {verdict.word} ({share})", meaning, verdict.symbol)


def plan_notebook(plan: Plan) -> str:
    """Return a plan as HTML: what it takes, and the cells to collect with what each brings.

    Examples
    --------
    >>> import recombine as rc
    >>> "become determined" in plan_notebook(rc.audit(rc.Design.from_cells([[0, 0], [1, 1], [2, 1]])).plan())
    True
    """
    gains = [{"collect": plan.design.label(pick.cell), "gain": words.plan.gain_text(plan, pick)} for pick in plan.picks]
    sentences = [*words.plan.plan_sentences(plan), words.plan.gains_sentence(plan)]
    return _frame(*map(_paragraph, sentences), Table.from_rows(gains)._repr_html_() if gains else "")


def score_notebook(score: Score) -> str:
    """Return a compact HTML summary of a score: answers, one bar of causes per model.

    Examples
    --------
    >>> import numpy as np, recombine as rc
    >>> cells = np.indices((6, 6)).reshape(2, -1).T
    >>> design = rc.Design.from_cells(cells, cells @ [1.0, 2.0], train=cells.sum(axis=1) % 3 > 0)
    >>> "leak" in score_notebook(rc.score(design, {"net": design.held_out @ [1.0, 1.0]}))
    True
    """
    return _frame(
        _paragraph("", lead=score.answer.title),
        *(_paragraph(f" {line.text}", lead=line.name) for line in score.answer.content),
        *(_causes(score, model) for model in score.models if model.attribution is not None),
        *(_paragraph(sentence, _SOFT) for sentence in words.score.unclear_sentences(score)),
        _paragraph(captions.MORE_IN.format(page="score.to_html", table="score.causes"), _SOFT),
    )


def _causes(score: Score, model: ModelScore) -> str:
    """Draw the causes that add to a model's error as one bar, and name them with their shares."""
    from recombine.jobs.score.causes import CAUSES

    assert model.attribution is not None
    total = model.attribution.error.value or 1.0
    shares = {CAUSES[name]: amount.value / total for name, amount in model.causes.items()}
    if model.below_noise is not None:
        return _paragraph(f" {words.score.below_noise_sentence(model)}", "margin:.5em 0 .2em", model.name)
    texts = {cause: f"{cause.name} {whole_percent(share)}" for cause, share in shares.items()}
    sentences = " ".join(words.score.model_sentences(score, model))
    return (
        _paragraph(f" {sentences}", "margin:.5em 0 .2em", model.name)
        + _bar([(texts[cause], share, cause.colour) for cause, share in shares.items() if share > 0])
        + _legend(
            _chip(cause.colour, texts[cause], words.score.cause_meaning(model, cause), address=cause.address)
            for cause in shares
        )
    )


def _frame(*texts: str) -> str:
    return f'<div style="max-width:52em;line-height:1.45;padding:.4em 0">{"".join(texts)}</div>'


def _paragraph(text: str, style: str = "margin:0 0 .35em", lead: str = "") -> str:
    title = f"<strong>{_shown(lead)}</strong>" if lead else ""
    return f'<p style="{style}">{title}{_shown(text)}</p>' if text or lead else ""


def _bar(pieces: Iterable[tuple[str, float, str]]) -> str:
    """Draw texts, shares and colours as one bar; what occurs is never too thin to see."""
    shown = [(_shown(text), share, colour) for text, share, colour in pieces]
    spans = "".join(
        f'<span style="flex:{share:.6f} 0 3px;background:{colour}" title="{text}"></span>'
        for text, share, colour in shown
    )
    label = ", ".join(text for text, _, _ in shown)
    frame = f"display:flex;height:14px;border:{_LINE};overflow:hidden"
    return f'<div role="img" aria-label="{label}" style="{frame}">{spans}</div>'


def _legend(chips: Iterable[str]) -> str:
    return f'<p style="margin:.4em 0 .6em;display:flex;flex-wrap:wrap;gap:.2em 1.4em">{"".join(chips)}</p>'


def _chip(colour: str, text: str, meaning: str, symbol: str = "&nbsp;", address: str = "") -> str:
    box = f"display:inline-block;width:1.2em;text-align:center;line-height:1.2em;border:{_LINE}"
    sign = f'<span style="{box};background:{colour};color:{ink_on(colour)}">{symbol}</span>'
    return f'<span title="{_shown(meaning)}">{sign} {_linked(text, address)}</span>'
