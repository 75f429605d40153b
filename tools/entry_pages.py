"""One page of the documentation per finding, cause and structure, written from its entry and run examples."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Mapping
from typing import Any

from entry_examples import CAUSE_EXAMPLES, FINDING_EXAMPLES, STRUCTURE_EXAMPLES, Example, doctest_of
from rates import (
    HEAD,
    cause_rows,
    counted_apart,
    page_name,
    paired_command,
    paired_rows,
    planted_ranges,
    range_rows,
    sentence_rows,
    source_of,
    sources,
)

from recombine.data.hit_rates import hit_rates
from recombine.jobs.findings import FINDINGS, FindingKind
from recombine.jobs.score.causes import CAUSES
from recombine.jobs.score.causes.cause import Cause
from recombine.theory.structures import Structure, simplest_first

WRITTEN = "<!-- Written by tools/build_vocabulary.py from the entry; edit it there. -->"
WIDTH = 100


def finding_page(kind: FindingKind[Any]) -> str:
    """Return the page of a finding."""
    named = " or ".join(f"`--fail-on {word}`" for word in (kind.code, *kind.fail_on))
    return _page(
        f"{kind.code}: {kind.title}",
        f"A **{kind.severity.word}**, raised by {_command(kind)}; {named} ends a build on it. "
        "[All findings](../findings.md).",
        {
            "What it means": [kind.meaning],
            "How often it is right": [_finding_rate(kind)],
            "What to do": [kind.action],
        },
        FINDING_EXAMPLES.get(kind.code),
    )


def cause_page(cause: Cause) -> str:
    """Return the page of a cause of a model's error."""
    what = [f"{_sentence(cause.meaning)} The error is the {cause.of}'s."]
    if cause.overdone_meaning:
        what.append(f"Its opposite has the same name: {cause.overdone_meaning}.")
    measured = [" ".join(inspect.getdoc(type(cause)).split())]
    if cause.coefficient is not None:
        measured.append(f"Its coefficient is called {cause.coefficient.name}: {cause.coefficient.meaning}.")
    counted = next((row for row in cause_rows() if f"[{cause.name}]" in row[0]), None)
    rate = [] if counted is None else [f"Of planted models {counted[1]} ({counted[3]}; [all rates](../rates.md))."]
    if cause.hit_rate is not None:
        rate.append(f"The audit forecasts it before training: {_rate(cause.hit_rate)}")
    return _page(
        f"{_capital(cause.name)}: {cause.title}",
        "One of the [causes](../causes.md) that `recombine score` and `recombine examine` split an error into.",
        {
            "What it is": what,
            "How it is measured": measured,
            "How often it is right": rate,
            "What to do": [cause.action],
        },
        CAUSE_EXAMPLES.get(cause.name),
    )


def structure_page(structure: Structure) -> str:
    """Return the page of a structure."""
    needs = "It needs an outcome." if structure.needs_outcome else "It needs no outcome."
    if structure.hit_rate is None:
        rate = "It is what is assumed where nothing else is shown, and the constant beside all others; the audit says "
        rate += "whether it [holds](../concepts.md#does-additivity-hold) for the table."
    else:
        rate = f"Where it or another one than adding was chosen: {_rate(structure.hit_rate)}"
    return _page(
        f"{_capital(structure.name)}: {structure.assumption}",
        f"One of the [structures](../structures.md): `--structure {structure.name}` takes it, and `auto` where it "
        "predicts held-out cells well and nothing simpler does.",
        {
            "What it says": [structure.help, needs],
            "When it holds": [" ".join(inspect.getdoc(type(structure)).partition("\n\n")[0].split())],
            "How often it is right": [rate],
            "What to do": [
                "Leave the choice to the audit, which says what it took and how much of the outcome that explains; "
                "name it where you know how the factors act."
            ],
        },
        STRUCTURE_EXAMPLES.get(structure.name),
    )


def rates_page() -> str:
    """Return the page of rates."""
    lead = (
        "Every rate that Recombine quotes is on this page, beside that of a constant, which says the same of every "
        "table. Numbers are from records that come with the package (`recombine.data.hit_rates()`) or stand under "
        "`results/`; `FOLDER` keeps what a benchmark trained."
    )
    lines = ["# How right is each sentence", "", WRITTEN, "", _prose(lead), ""]
    for source in sources():
        lines += [f"## {source.heading}", "", _prose(f"{source.tables} Counted again by `{source.command}`."), ""]
        lines += [*_table(HEAD, sentence_rows(source)), ""]
    heading = "Counted on published tables, with a word in the finding"
    rows = [(f"[{row.code}](findings/{row.code}.md)", *row[1:5], f"`{row.command}`") for row in counted_apart()]
    head = ("finding", "said", "right", "a constant", "counted on", "counted again by")
    lines += [f"## {heading}", "", *_table(head, rows), ""]
    lead = (
        "Amounts of causes come with 95 % ranges; the third column counts causes that make more than a tenth of the "
        "error and whose range holds 0, so that they are not named. Of the same models "
        f"{planted_ranges()}."
    )
    head = ("cause", "of planted models", "not named", "counted again by")
    lines += ["## Amounts of causes", "", _prose(lead), "", *_table(head, cause_rows()), ""]
    lead = (
        "Where two causes are planted at once, beside one: how often the 95 % range holds the true amount, of the "
        "planted causes, and of all causes by kind of table. Heavy tails are those of Student's law with 2.5 degrees "
        "of freedom, whose fourth moment is infinite; a model that lacks seen noise is made of effects without the "
        "noise of the seen cells. The seeds were kept back until the ranges stood. Counted again by "
        f"`{paired_command()}`."
    )
    head = ("cause, or table", "one cause", "two causes", "a model that lacks seen noise")
    lines += ["## Amounts of two causes", "", _prose(lead), "", *_table(head, paired_rows()), ""]
    lead = (
        "A forecast of an error comes with a range: the middle four fifths of what came out over what was said, on "
        "tables of the same kind (of a share of right answers, their difference). *Held* is how often it did, on "
        "tables that had no part in it; *within* how often what was said was within 20 % (a share: 5 points), and the "
        "last column how often a constant was."
    )
    head = ("forecast", "tables", "range", "held", "on tables kept back", "within", "a constant within")
    lines += ["## Ranges of forecasts", "", _prose(lead), "", *_table(head, range_rows()), ""]
    return "\n".join(lines)


def entry_pages() -> dict[str, Any]:
    """Return what writes the page of each entry, by its path."""
    pages = {f"docs/findings/{kind.code}.md": lambda kind=kind: finding_page(kind) for kind in FINDINGS}
    pages |= {f"docs/causes/{page_name(cause.name)}.md": lambda cause=cause: cause_page(cause) for cause in CAUSES}
    pages |= {f"docs/structures/{item.name}.md": lambda item=item: structure_page(item) for item in simplest_first()}
    return pages | {"docs/rates.md": rates_page}


def _page(title: str, lead: str, sections: Mapping[str, list[str]], example: Example | None) -> str:
    lines = [f"# {title}", "", WRITTEN, "", _prose(lead), ""]
    for heading, paragraphs in sections.items():
        lines += [f"## {heading}", ""]
        for paragraph in paragraphs:
            lines += [_prose(paragraph), ""]
    if example is not None:
        lines += ["## Example", "", _prose(example.why), "", "```python", doctest_of(example.code), "", "```", ""]
    return "\n".join(lines)


def _command(kind: FindingKind[Any]) -> str:
    commands = {"audits": "audit", "checks of splits": "split --check", "scores": "score", "probes": "probe"}
    return f"`recombine {commands.get(kind.of.value, 'compare')}`"


def _finding_rate(kind: FindingKind[Any]) -> str:
    apart = next((row for row in counted_apart() if row.code == kind.code), None)
    if apart is not None:
        beside = "" if apart.constant == "–" else f" Beside it: {apart.constant}."
        said = f"{_sentence(apart.said)[:-1]}: {apart.right}.{beside} Counted on {apart.tables}"
        return f"{said} (`{apart.command}`; [all rates](../rates.md))."
    if kind.hit_rate is not None:
        return _capital(_rate(kind.hit_rate))
    return (
        "It says what the rows hold and forecasts nothing, so that no rate is counted; where it speaks of chance, "
        "[limits](../limits.md) say at which level."
    )


def _rate(key: str) -> str:
    rate, source = hit_rates()["sentences"][key], source_of(key)
    text = f"{rate['says']} in {rate['right']:,} of {rate['of']:,} trials"
    if "constant" in rate:
        text += f", where a constant guess is right in {rate['constant']:.0%}".replace("%", " %")
    return f"{text} ({rate['measure']}). {source.tables} Counted again by `{source.command}`; [all rates](../rates.md)."


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _sentence(text: str) -> str:
    return f"{_capital(text)}."


def _prose(text: str) -> str:
    return textwrap.fill(text, WIDTH, break_on_hyphens=False, break_long_words=False)


def _table(head: Any, rows: Any) -> list[str]:
    return [f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *rows]]
