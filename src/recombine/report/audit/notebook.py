"""The audit in a notebook: no script, no style sheet, colours that follow the notebook's own."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from recombine.jobs.findings.finding import Finding, Severity
from recombine.report.theme import ink_on
from recombine.verdicts import Verdict
from recombine.words.answer import answer
from recombine.words.importance import importance_column, importance_statement, no_findings
from recombine.words.table import impossible_sentence, rows_phrase
from recombine.words.verdicts import Tally, verdict_meaning
from recombine.writing import percent

if TYPE_CHECKING:
    from recombine.jobs.audit.audit import Audit

#: A mid grey that shows on white and on black.
_LINE = "1px solid rgba(128,128,128,.55)"
_WEIGHT = {Severity.PROBLEM: 700, Severity.WARNING: 600, Severity.NOTE: 400}


def notebook(audit: Audit) -> str:
    """Return a compact HTML summary: the answer, verdict counts as a bar, findings.

    Only inline styles and inherited text colour, so that it reads in dark mode and in untrusted notebooks.

    Examples
    --------
    >>> import recombine as rc
    >>> "determined" in notebook(rc.audit(rc.Design.from_cells([[0, 0], [0, 1], [1, 0]])))
    True
    """
    design, found = audit.design, Tally.of(audit)
    notes = [
        impossible_sentence(design),
        "" if audit.decided.matters is None else importance_statement(audit.decided.matters),
    ]
    parts = [
        f'<p style="margin:0 0 .3em"><strong>Recombine audit of {escape(design.source)}</strong>: '
        f"{escape(design.title)}; {rows_phrase(audit.coverage)}</p>",
        *(f'<p style="margin:0 0 .35em">{escape(sentence)}</p>' for sentence in answer(audit)),
        *(f'<p style="margin:0 0 .6em">{escape(note)}</p>' for note in notes if note),
        _bar(found),
        _legend(found, audit),
        _findings(audit.findings, no_findings(audit)),
        '<p style="margin:.6em 0 0;opacity:.75"><code>audit.to_html("report.html")</code> writes the whole report; '
        "<code>audit.verdicts</code> lists the cells.</p>",
    ]
    return f'<div style="max-width:52em;line-height:1.45;padding:.4em 0">{"".join(parts)}</div>'


def _bar(found: Tally) -> str:
    """Draw the counts as one bar; a verdict that occurs is never too thin to see."""
    pieces = "".join(
        f'<span style="flex:{found.counts[verdict] / max(found.total, 1):.6f} 0 3px;background:{verdict.colour}" '
        f'title="{found.counts[verdict]:,} {verdict.word}"></span>'
        for verdict in Verdict
        if found.counts[verdict]
    )
    words = ", ".join(f"{found.counts[verdict]:,} {verdict.word}" for verdict in Verdict if found.counts[verdict])
    return (
        f'<div role="img" aria-label="{words}" style="display:flex;height:14px;border:{_LINE};overflow:hidden">'
        f"{pieces}</div>"
    )


def _legend(found: Tally, audit: Audit) -> str:
    chips = "".join(_chip(verdict, found, audit) for verdict in Verdict if found.counts[verdict])
    about = "" if found.exact else '<span style="opacity:.75">estimated from a random sample</span>'
    return f'<p style="margin:.4em 0 .6em;display:flex;flex-wrap:wrap;gap:.2em 1.4em">{chips}{about}</p>'


def _chip(verdict: Verdict, found: Tally, audit: Audit) -> str:
    count, weighted = found.counts[verdict], importance_column(audit, verdict)
    meaning = escape(verdict_meaning(verdict, audit.choice.assumption))
    box = (
        f"display:inline-block;width:1.2em;text-align:center;line-height:1.2em;border:{_LINE};"
        f"background:{verdict.colour};color:{ink_on(verdict.colour)}"
    )
    text = (
        f"{found.number(verdict)} {verdict.word} ({percent(count, found.total)}{f'; {weighted}' if weighted else ''})"
    )
    return f'<span title="{meaning}"><span style="{box}">{verdict.symbol}</span> {text}</span>'


def _findings(findings: tuple[Finding, ...], none: str) -> str:
    if not findings:
        return f'<p style="margin:0">{none}</p>'
    items = "".join(
        f'<li style="margin:.15em 0"><span style="font-weight:{_WEIGHT[finding.severity]}">{finding.code} '
        f"{escape(finding.kind.title)}</span> ({finding.severity.word}): {escape(finding.message)}</li>"
        for finding in findings
    )
    return f'<ul style="margin:0;padding-left:1.2em">{items}</ul>'
