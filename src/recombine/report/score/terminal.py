"""The score in a screenful: error by verdict, by cause, what stands beside it, and what cannot be told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine.jobs.score import ModelScore, Score
from recombine.jobs.score.causes import CAUSES
from recombine.report.screen import plain_grid, plain_text, print_line, print_title
from recombine.words.score import (
    NOT_BEYOND_CHANCE,
    cause_meaning,
    model_sentences,
    score_answers,
    score_opening,
    unclear_sentences,
    whole_percent,
    written_range,
)
from recombine.writing import few_digits, listing

if TYPE_CHECKING:
    from rich.console import Console

#: Cells that a model misses by most, as many as are shown.
MAX_WORST_SHOWN = 5
#: Causes with less than this share of the error that are not beyond chance stand in one row.
SHARE_OF_A_ROW = 0.05


def score_text(score: Score, width: int = 110) -> str:
    """Return the score as plain text without colours."""
    return plain_text(lambda console: show_score(score, console), width)


def show_score(score: Score, console: Console) -> None:
    """Print the score to a rich console."""
    from rich.text import Text

    print_line(console, f"Recombine score of {listing((model.name for model in score.models), 6)}", "bold")
    print_line(console, score_opening(score))
    console.print()
    for sentence in score_answers(score):
        print_line(console, sentence)
    print_title(console, "Error on held-out cells, by verdict")
    _by_verdict(score, console)
    if score.regressors is not None:
        print_title(console, f"Why: the error on the {score.determined:,} determined cells, by cause (95 % range)")
        for model in score.models:
            _causes(score, model, console)
    if score.determined:
        print_title(console, f"What others would miss, on the {score.determined:,} determined cells")
        table = plain_grid(1)
        for row in score.errors.rows():
            table.add_row("", Text(str(row["predictions"])), few_digits(row["squared error"]))
        console.print(table)
    unclear = unclear_sentences(score)
    if unclear:
        print_title(console, "What cannot be told")
    for sentence in unclear:
        print_line(console, f"  {sentence}")
    if score.determined:
        _worst(score, console)


def _by_verdict(score: Score, console: Console) -> None:
    from rich.text import Text

    table = plain_grid(2 + len(score.models))
    head = ["cells", *(model.name for model in score.models), "plain mean"]
    table.add_row("", "", *(Text(text, style="dim") for text in head))
    tables = [list(model.by_verdict.rows()) for model in score.models]
    for rows in zip(*tables, strict=True):
        numbers = [few_digits(row["squared error"]) for row in rows]
        table.add_row("", rows[0]["verdict"], f"{rows[0]['cells']:,}", *numbers, few_digits(rows[0]["plain mean"]))
        if "importance" in rows[0] and rows[0]["importance"] == rows[0]["importance"]:
            table.add_row("", Text("  of what matters", style="dim"), f"{rows[0]['importance']:.0%}")
        for measure in ("accuracy", "log loss"):
            if any(measure in row for row in rows):
                told = [few_digits(row[measure]) if measure in row else "–" for row in rows]
                table.add_row("", Text(f"  {measure}", style="dim"), "", *told, "")
    console.print(table)


def _causes(score: Score, model: ModelScore, console: Console) -> None:
    assert model.attribution is not None
    assert model.gain is not None
    print_line(console, f"  {model.name}", "bold")
    table = plain_grid(3)
    total = model.attribution.error
    others = 0.0
    for name, amount in model.causes.items():
        words, share = cause_meaning(model, CAUSES[name]), amount.value / total.value if total.value > 0 else 0.0
        if words == NOT_BEYOND_CHANCE and abs(share) < SHARE_OF_A_ROW:
            others += amount.value
            continue
        table.add_row("", f"  {name}", _signed(amount.value), written_range(amount), whole_percent(share), words)
    if others:
        table.add_row("", "  others", _signed(others), "", whole_percent(others / total.value), NOT_BEYOND_CHANCE)
    table.add_row("", "  sum", few_digits(total.value), written_range(total), "100%", "")
    console.print(table)
    for sentence in model_sentences(score, model):
        print_line(console, f"    {sentence}")
    console.print()


def _worst(score: Score, console: Console) -> None:
    from rich.text import Text

    for model in score.models:
        print_title(console, f"Missed by most: {model.name}")
        rows = list(score.worst(model.name, MAX_WORST_SHOWN).rows())
        table = plain_grid(2)
        table.add_row("", "", *(Text(text, style="dim") for text in ("observed", "predicted")), "")
        factors = [name for name in rows[0] if name not in ("observed", "predicted", "cause")]
        for row in rows:
            cell = " · ".join(str(row[name]) for name in factors)
            table.add_row(
                "", Text(cell), Text(_shown(row["observed"])), Text(_shown(row["predicted"])), str(row["cause"])
            )
        console.print(table)


def _shown(value: object) -> str:
    return _signed(value) if isinstance(value, float) else str(value)


def _signed(value: float) -> str:
    return few_digits(value).replace("-", "−")
