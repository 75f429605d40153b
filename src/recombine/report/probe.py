"""The probe in a screenful: a line per factor, then the same in words; and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._version import __version__
from recombine.jobs.probe.probe import Probe
from recombine.measures.dependence.independence import bits_text, share_text
from recombine.report.json_text import json_text
from recombine.report.screen import plain_grid, plain_text, print_line, print_title
from recombine.table_spec import plain_spec
from recombine.words.probe import dependence_sentence, probe_notes, probe_opening
from recombine.words.table import GUESS

if TYPE_CHECKING:
    from rich.console import Console

_SYMBOLS = {"depends": "✕", "no dependence found": "●", "cannot tell": "?"}
_STYLES = {"depends": "bold red", "no dependence found": "", "cannot tell": "yellow"}


#: Version of the JSON document: it grows when a field is renamed, removed or means something else.
SCHEMA = 2


def probe_text(probe: Probe, width: int = 110) -> str:
    """Return the probe as plain text without colours."""
    return plain_text(lambda console: show_probe(probe, console), width)


def show_probe(probe: Probe, console: Console) -> None:
    """Print the probe to a rich console."""
    print_line(console, f"Recombine probe of {probe.source}", "bold")
    for sentence in probe_opening(probe):
        print_line(console, sentence)
    if probe.proposals:
        print_line(console, GUESS, "bold yellow")
    print_title(console, f"Does {probe.prediction} depend on a factor beyond {' and '.join(probe.given)}?")
    _verdicts(probe, console)
    for item in probe.tests:
        console.print()
        print_line(console, f"  {dependence_sentence(probe, item)}")
    notes = probe_notes(probe)
    if notes:
        print_title(console, "Notes")
    for note in notes:
        print_line(console, f"  {note}")


def _verdicts(probe: Probe, console: Console) -> None:
    """One line per factor: verdict, bits beyond chance, share of what is left open, p-value."""
    from rich.text import Text

    adjusted = len([item for item in probe.tests if item.test.varied]) > 1
    table = plain_grid()
    table.add_column()
    for _ in range(3):
        table.add_column(justify="right")
    head = ["bits above chance", "of what is left", "adjusted p" if adjusted else "p"]
    table.add_row("", "", "", *(Text(text, style="dim") for text in head))
    for item in probe.tests:
        words = Text(f"{_SYMBOLS[item.verdict]} {item.verdict}", style=_STYLES[item.verdict])
        numbers = [bits_text(item.test.excess), share_text(item.test.effect), f"{item.adjusted:.3g}"]
        table.add_row("", words, Text(item.factor), *(numbers if item.test.varied else ["–"] * 3))
    console.print(table)


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
            "sentence": dependence_sentence(probe, item),
        }
        for row, item in zip(probe.table.rows(), probe.tests, strict=True)
    ]
    record = {
        "recombine": __version__,
        "kind": "probe",
        "schema": SCHEMA,
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
        "findings": [finding.record for finding in probe.findings],
        "notes": probe_notes(probe),
    }
    return json_text(record)
