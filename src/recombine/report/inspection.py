"""Activations in a screenful: the verdict in words, then a line per layer; and as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from recombine._version import __version__
from recombine.jobs.inspection.inspection import Inspection
from recombine.jobs.inspection.reading import LayerReading
from recombine.report.json_text import json_text
from recombine.report.screen import plain_grid, plain_text, print_line
from recombine.words.inspection import VERDICT_MEANINGS, inspection_legend, inspection_notes, inspection_sentence
from recombine.writing import plural

if TYPE_CHECKING:
    from rich.console import Console

#: A cross for a sign of failure, a question mark for what is open, a ring for a layer that only behaves in some way;
#: the disc is kept for outputs that were found right.
_SYMBOLS = {"pastes": "✕", "stops moving": "✕", "does not compose": "✕", "composes": "●"}
_BEHAVIOUR = ("adds", "keeps moving")
_STYLES = {"✕": "bold red", "?": "yellow", "●": "bold", "○": ""}
#: Width of the bar of the additive share, and of a terminal that has room for it.
_BAR, NARROW_COLUMNS = 8, 100


def inspection_text(inspection: Inspection, width: int = 110) -> str:
    """Return the inspection as plain text without colours."""
    return plain_text(lambda console: show_inspection(inspection, console), width)


def show_inspection(inspection: Inspection, console: Console) -> None:
    """Print the inspection to a rich console."""
    sizes = " × ".join(f"{name} ({size})" for name, size in zip(inspection.factors, inspection.levels, strict=True))
    cells = "" if inspection.seen is None else f"; {inspection.seen:,} cells seen, {inspection.unseen:,} unseen"
    print_line(console, f"Recombine inspection of {inspection.source}", "bold")
    print_line(console, f"{plural(len(inspection.layers), 'layer')} over {sizes}{cells}")
    console.print()
    symbol = _SYMBOLS.get(inspection.verdict, "?")
    print_line(console, f"{symbol} {inspection.verdict}: {VERDICT_MEANINGS[inspection.verdict]}", _STYLES[symbol])
    print_line(console, f"  {inspection_sentence(inspection)}")
    console.print()
    _layers(inspection, console)
    console.print()
    for line in (*inspection_legend(inspection), *inspection_notes(inspection)):
        print_line(console, f"  {line}", "dim")


def _layers(inspection: Inspection, console: Console) -> None:
    """One line per layer; columns about unseen cells only where these are known."""
    from rich.text import Text

    table, seen_given, bars = plain_grid(), inspection.seen is not None, console.width >= NARROW_COLUMNS
    head = ["layer", "", "additive", "F", "F_K", *(["volume", "pasted (seen)"] if seen_given else []), "readout"]
    table.add_column(no_wrap=True)
    for _ in head[2:]:
        table.add_column(justify="right", no_wrap=True)
    table.add_row("", *(Text(text, style="dim") for text in head))
    for layer in inspection.layers:
        symbol = _SYMBOLS.get(layer.verdict, "○" if layer.verdict in _BEHAVIOUR else "?")
        words = Text(f"{symbol} {layer.verdict}", style=_STYLES[symbol])
        table.add_row("", Text(layer.name), words, *(Text(text) for text in _numbers(layer, seen_given, bars)))
    console.print(table)


def _numbers(layer: LayerReading, seen_given: bool, bars: bool) -> list[str]:
    bar = "█" * round(_BAR * layer.additive) + " " if bars and layer.additive == layer.additive else ""
    texts = [f"{bar}{_short(layer.additive)}", _short(layer.F), _short(layer.F_K)]
    if seen_given:
        texts += [_short(layer.volume_ratio), f"{_short(layer.pasted)} ({_short(layer.pasted_seen)})"]
    worst = min((share for share in layer.readout if share == share), default=float("nan"))
    return [*texts, _short(worst)]


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
        "recombine": __version__,
        "source": inspection.source,
        "factors": list(inspection.factors),
        "levels": list(inspection.levels),
        "seen": inspection.seen,
        "unseen": inspection.unseen,
        "verdict": inspection.verdict,
        "meaning": VERDICT_MEANINGS[inspection.verdict],
        "sentence": inspection_sentence(inspection),
        "truth": None if inspection.truth is None else asdict(inspection.truth),
        "layers": [asdict(layer) for layer in inspection.layers],
        "notes": inspection_notes(inspection),
    }
    return json_text(record)
