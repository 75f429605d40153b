"""The probe in a screenful: a line per factor, then the same in words; and as JSON."""

from __future__ import annotations

import dataclasses

from recombine import words
from recombine.jobs.probe.probe import FactorTest, Probe
from recombine.measures.dependence.independence import DependenceState
from recombine.report.json_text import json_document
from recombine.report.layout import Entry, Line, Section, text_grid
from recombine.table_spec import plain_spec
from recombine.words.probe import bits_text, share_text
from recombine.writing import printable

_SYMBOLS = dict(zip(DependenceState, "✕●?", strict=True))
_STYLES = dict(zip(DependenceState, ("bold red", "", "yellow"), strict=True))


def probe_sections(probe: Probe) -> list[Section]:
    """Return what the probe shows: per factor verdict, bits beyond chance, share of what is left open, p-value."""
    adjusted = len([item for item in probe.tests if item.test.varied]) > 1
    head = ["", "", "bits above chance", "of what is left", "adjusted p" if adjusted else "p"]
    guess = [Line(words.table.GUESS, "bold yellow")] if probe.proposals else []
    grid = text_grid([_row(item) for item in probe.tests], head, numbers=3, labels=2)
    sentences = [words.probe.dependence_sentence(probe, item) for item in probe.tests]
    return [
        Section(f"Recombine probe of {probe.source}", [*words.probe.probe_opening(probe), *guess]),
        Section(words.probe.probe_question(probe), [grid]),
        *(Section("", [f"  {sentence}"]) for sentence in sentences),
        *(Section("", [f"  {words.probe.swap_sentence(swap)}"]) for swap in probe.swaps),
        Section("Notes", words.probe.probe_notes(probe)),
    ]


def _row(item: FactorTest) -> list[str | Entry]:
    verdict = Entry(f"{_SYMBOLS[item.verdict]} {item.verdict}", style=_STYLES[item.verdict])
    numbers = [bits_text(item.test.excess), share_text(item.test.effect), f"{item.adjusted:.3g}"]
    return [verdict, item.factor, *(numbers if item.test.varied else ["–"] * 3)]


def probe_json(probe: Probe) -> str:
    """Return the probe as JSON text.

    Examples
    --------
    >>> import json, pandas as pd, recombine as rc
    >>> frame = pd.DataFrame({"guess": [0, 1] * 50, "y": [0, 1] * 50, "site": [0, 0, 1, 1] * 25})
    >>> json.loads(probe_json(rc.probe(frame, prediction="guess", outcome="y", factors=["site"])))["depends"]
    []
    """
    rows = [
        {
            **row,
            "degrees of freedom": item.test.freedom,
            "varied": item.test.varied,
            "sentence": printable(words.probe.dependence_sentence(probe, item)),
        }
        for row, item in zip(probe.table.rows(), probe.tests, strict=True)
    ]
    record = {
        "source": probe.source,
        "table": plain_spec(probe.spec),
        "prediction": probe.prediction,
        "given": list(probe.given),
        "rows": probe.rows,
        "level": probe.level,
        "permutations": probe.permutations,
        "seed": probe.seed,
        "entropy": probe.entropy,
        "left_open": probe.left_open,
        "factors_guessed": bool(probe.proposals),
        "depends": list(probe.depends),
        "factors": rows,
        "swaps": [
            {**dataclasses.asdict(swap), "sentence": printable(words.probe.swap_sentence(swap))} for swap in probe.swaps
        ],
        "findings": [finding.record for finding in probe.findings],
        "notes": list(map(printable, words.probe.probe_notes(probe))),
    }
    return json_document("probe", record)
