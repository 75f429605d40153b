"""The score in a screenful: error by verdict, by cause, what stands beside it, and what cannot be told; and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recombine._version import __version__
from recombine.errors import listing, plural
from recombine.jobs.audit.forecast import LEAKY, SHORTCUT_PULL
from recombine.jobs.audit.noise import few_digits
from recombine.jobs.comparison.cell_maps import cells_digest
from recombine.jobs.comparison.documents import SCHEMAS
from recombine.jobs.score.causes import Amount
from recombine.jobs.score.score import ModelScore, Score
from recombine.report.json_text import json_text
from recombine.report.screen import plain_grid, plain_text, print_line, print_title

if TYPE_CHECKING:
    from rich.console import Console

#: What each cause is, in words.
MEANINGS = {
    "noise": "measurements of one cell differ",
    "seen noise": "noise of the seen cells, in what they determine",
    "structure": "outcomes are not what the seen cells determine",
    "leak": "less than all of an effect arrives",
    "shortcut": "a factor's marginal is followed against its effect",
    "interaction": "what the structure says beyond adding is lost",
    "memorization": "what a wide network makes of the seen cells beyond that",
    "offset": "off by a constant",
    "rest": "no named cause",
}
#: Cells that a model misses by most, as many as are shown.
WORST = 5
#: A factor's leak or shortcut is put into words from this share of the squared error on.
TOLD_SHARE = 0.05


def score_text(score: Score, width: int = 110) -> str:
    """Return the score as plain text without colours."""
    return plain_text(lambda console: show_score(score, console), width)


def show_score(score: Score, console: Console) -> None:
    """Print the score to a rich console."""
    from rich.text import Text

    design = score.design
    print_line(console, f"Recombine score of {listing((model.name for model in score.models), 6)}", "bold")
    unseen = len(score.codes) - int((score.codes == 0).sum())
    print_line(
        console,
        f"{design.outcome_name} in {design.source}: {plural(len(design.seen), 'cell')} seen, {unseen:,} held out that "
        f"were never seen. Verdicts hold if {score.audit.choice.assumption}. All numbers are mean squares over cells.",
    )
    print_title(console, "Error on held-out cells, by verdict")
    _by_verdict(score, console)
    if score.regressors is not None:
        print_title(console, f"Why: the error on the {score.determined:,} determined cells, by cause (95 % range)")
        for model in score.models:
            _causes(model, console)
    print_title(console, f"Beside it, on the {score.determined:,} determined cells")
    table = plain_grid(1)
    for row in score.errors.rows():
        table.add_row("", Text(str(row["predictions"])), few_digits(row["squared error"]))
    console.print(table)
    if score.unclear:
        print_title(console, "What cannot be told")
    for sentence in score.unclear:
        print_line(console, f"  {sentence[0].upper()}{sentence[1:]}.")
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
    console.print(table)


def _causes(model: ModelScore, console: Console) -> None:
    found = model.attribution
    assert found is not None
    assert model.gain is not None
    print_line(console, f"  {model.name}", "bold")
    table = plain_grid(3)
    whole = found.error.value
    for name, amount in found.causes.items():
        share = f"{amount.value / whole:.0%}" if whole > 0 else "–"
        table.add_row("", f"  {name}", few_digits(amount.value), _range(amount), share, MEANINGS[name])
    table.add_row("", "  sum", few_digits(whole), _range(found.error), "100%", "")
    console.print(table)
    for sentence in sentences(model):
        print_line(console, f"    {sentence}")
    console.print()


def sentences(model: ModelScore) -> list[str]:
    """Say what the ranges of one model leave no doubt about: gain over adding, effects that leak, marginals followed.

    Effects are known up to the noise of the seen cells, so that a slope near 1 and a small pull are not worth a word.
    """
    found, gain = model.attribution, model.gain
    if found is None or gain is None:
        return []
    said = []
    if gain.low > 0:
        said.append(f"It beats adding by {few_digits(gain.value)} {_range(gain)}: departures that it got right.")
    elif gain.high < 0:
        said.append(f"Adding beats it by {few_digits(-gain.value)} {_range(_negative(gain))}.")
    else:
        said.append(f"It is no better and no worse than adding beyond chance (gain {_range(gain)}).")
    least = TOLD_SHARE * found.error.value
    weak = [
        f"{name} {slope.value:.2f} {_range(slope)}"
        for name, slope in found.slopes.items()
        if slope.high < LEAKY and found.leaks[name].low > 0 and found.leaks[name].value >= least
    ]
    if weak:
        said.append(f"Share of an effect that arrives: {listing(weak)}.")
    pulled = [
        f"{name} {pull.value:.2f} {_range(pull)}"
        for name, pull in found.pulls.items()
        if pull.low > SHORTCUT_PULL and found.shortcuts[name].low > 0 and found.shortcuts[name].value >= least
    ]
    if pulled:
        said.append(f"Share of the way from effect to marginal: {listing(pulled)}.")
    if model.explained == model.explained:
        said.append(f"{max(model.explained, 0.0):.0%} of its error over noise has a named cause.")
    return said


def _worst(score: Score, console: Console) -> None:
    from rich.text import Text

    for model in score.models:
        print_title(console, f"Missed by most: {model.name}")
        rows = list(score.worst(model.name, WORST).rows())
        table = plain_grid(2)
        table.add_row("", "", *(Text(text, style="dim") for text in ("observed", "predicted")), "")
        factors = [name for name in rows[0] if name not in ("observed", "predicted", "cause")]
        for row in rows:
            cell = " · ".join(str(row[name]) for name in factors)
            table.add_row("", Text(cell), few_digits(row["observed"]), few_digits(row["predicted"]), str(row["cause"]))
        console.print(table)


def _negative(amount: Amount) -> Amount:
    return Amount(-amount.value, -amount.high, -amount.low)


def _range(amount: Amount) -> str:
    return f"[{few_digits(amount.low)}, {few_digits(amount.high)}]"


def score_json(score: Score) -> str:
    """Return the score as JSON text.

    Examples
    --------
    >>> import json, numpy as np, recombine as rc
    >>> cells = np.indices((6, 6)).reshape(2, -1).T
    >>> design = rc.Design.from_cells(cells, cells @ [1.0, 2.0], train=cells.sum(axis=1) % 3 > 0)
    >>> found = rc.score(design, {"net": design.held_out @ [1.0, 1.0]})
    >>> json.loads(score_json(found))["models"][0]["name"]
    'net'
    """
    design = score.design
    record = {
        "recombine": __version__,
        "kind": "score",
        "schema": SCHEMAS["score"],
        "source": design.source,
        "outcome": design.outcome_name,
        "factors": list(design.names),
        "structure": score.audit.choice.name,
        "assumption": score.audit.choice.assumption,
        "seen cells": len(design.seen),
        "held-out cells": len(score.codes),
        "determined cells": score.determined,
        "held-out digest": cells_digest(design, design.held_out),
        "models": [_model_record(model) for model in score.models],
        "beside": list(score.errors.rows()),
        "unclear": list(score.unclear),
        "seed": score.audit.seed,
    }
    return json_text(record)


def _model_record(model: ModelScore) -> dict[str, Any]:
    found = model.attribution
    record: dict[str, Any] = {
        "name": model.name,
        "error on unseen cells": _amount(model.unseen_error),
        "by verdict": list(model.by_verdict.rows()),
    }
    if found is None or model.gain is None:
        return record
    each = {"leak": found.leaks, "shortcut": found.shortcuts, "slope": found.slopes, "pull": found.pulls}
    return record | {
        "error on determined cells": _amount(found.error),
        "causes": {name: _amount(amount) for name, amount in found.causes.items()},
        **{
            f"{word} by factor": {name: _amount(amount) for name, amount in some.items()} for word, some in each.items()
        },
        "gain over adding": _amount(model.gain),
        "explained": model.explained,
        "sentences": sentences(model),
    }


def _amount(amount: Amount) -> dict[str, float]:
    return {"value": amount.value, "low": amount.low, "high": amount.high}
