"""Activations in a screenful: the verdict in words, then a line per layer; and as JSON."""

from __future__ import annotations

from dataclasses import asdict, replace

from recombine.lab.inspection import words
from recombine.lab.inspection.inspection import Inspection
from recombine.lab.inspection.reading import Composes, LayerReading
from recombine.report.json_text import json_document
from recombine.report.layout import Entry, Line, Section, ShownTable, text_grid
from recombine.writing import printable

#: A cross for a sign of failure, a question mark for what is open, a ring for a layer that only behaves in some way;
#: the disc is kept for outputs that were found right.
_SYMBOLS = {Composes.PASTES: "✕", Composes.STOPS_MOVING: "✕", Composes.WRONG: "✕", Composes.RIGHT: "●"}
_STYLES = {"✕": "bold red", "?": "yellow", "●": "bold", "○": ""}


def inspection_sections(inspection: Inspection) -> list[Section]:
    """Return the verdict in words, a line per layer, and what the columns are."""
    symbol = _SYMBOLS.get(inspection.verdict, "?")
    meaning = Line(f"{symbol} {words.inspection_headline(inspection)}", _STYLES[symbol])
    notes = [*words.inspection_legend(inspection), *words.inspection_notes(inspection)]
    return [
        Section(f"Recombine inspection of {inspection.source}", [words.inspection_opening(inspection)]),
        Section("", [meaning, f"  {words.inspection_sentence(inspection)}"]),
        Section("", [_layers(inspection)]),
        Section("", [Line(f"  {note}", "dim") for note in notes]),
    ]


def _layers(inspection: Inspection) -> ShownTable:
    """One line per layer; columns about unseen cells only where these are known."""
    about_unseen = ["volume", "pasted (seen)"] if inspection.seen is not None else []
    head = ["layer", "", "additive", "F", "F_K", *about_unseen, "readout"]
    rows = [_row(layer, bool(about_unseen)) for layer in inspection.layers]
    return replace(text_grid(rows, head, numbers=len(head) - 2, labels=2), bars=True)


def _row(layer: LayerReading, seen_given: bool) -> list[str | Entry]:
    symbol = _SYMBOLS.get(layer.verdict, "○" if layer.verdict in words.BEHAVIOUR else "?")
    bar = layer.additive if layer.additive == layer.additive else None
    row: list[str | Entry] = [
        layer.name,
        Entry(f"{symbol} {layer.verdict}", style=_STYLES[symbol]),
        Entry(_short(layer.additive), bar=bar),
    ]
    row += [_short(layer.F), _short(layer.F_K)]
    if seen_given:
        row += [_short(layer.volume_ratio), f"{_short(layer.pasted)} ({_short(layer.pasted_seen)})"]
    return [*row, _short(min((share for share in layer.readout if share == share), default=float("nan")))]


def _short(value: float) -> str:
    return "–" if value != value else f"{value:.2f}".replace("-", "−")


def inspection_json(inspection: Inspection) -> str:
    """Return the inspection as JSON text; what could not be measured is null.

    Examples
    --------
    >>> import json, numpy as np, recombine as rc
    >>> json.loads(inspection_json(rc.inspect(np.eye(6).reshape(2, 3, 6), ["x", "y"])))["levels"]
    [2, 3]
    """
    record = {
        "source": inspection.source,
        "factors": list(inspection.factors),
        "levels": list(inspection.levels),
        "seen": inspection.seen,
        "unseen": inspection.unseen,
        "verdict": inspection.verdict,
        "meaning": words.VERDICT_MEANINGS[inspection.verdict],
        "sentence": printable(words.inspection_sentence(inspection)),
        "truth": None if inspection.truth is None else asdict(inspection.truth),
        "layers": [asdict(layer) for layer in inspection.layers],
        "notes": list(map(printable, words.inspection_notes(inspection))),
    }
    return json_document("inspection", record)
