"""The forecast in words: what networks will do on unseen cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.data.hit_rates import hit_rate
from recombine.jobs.audit.fitted_networks import ForecastSource, NoForecast
from recombine.jobs.audit.noise import cell_noise
from recombine.jobs.training.expected_range import TableKind
from recombine.writing import join_words, listing, number, plural, share, whole_percent

if TYPE_CHECKING:
    from recombine.jobs.audit.audit import Audit
    from recombine.jobs.audit.forecast import Forecast
    from recombine.jobs.training.expected_range import ExpectedRange
    from recombine.tables.table import Table

#: On which cells a forecast was scored.
_SOURCES = {
    ForecastSource.HELD_OUT_ROWS: "held-out rows",
    ForecastSource.SEEN_CELLS: "seen cells, each predicted from the others",
    ForecastSource.HELD_OUT_CELLS: "seen cells, a tenth held out at random",
}
#: Trained models in words, the rows of the table of errors.
TRAINED = {
    "network": "network of one layer, trained",
    "deep-network": "network of two layers, trained",
    "boosting": "boosted trees, trained",
    "forest": "random forest, trained",
    "neighbours": "nearest neighbours, trained",
    "stopped-network": "network stopped early, trained",
}
#: Kernels and what needs no training in words, the rows after them.
ROWS = {
    "ntk": "network by theory, all layers learn (NTK)",
    "nngp": "network by theory, its readout learns (NNGP)",
    "additive": "effects added",
    "mean": "plain mean",
    "noise": "the cells' own noise, estimated",
}
VALUES = "the values given here"
#: What is special about tables, after "tables".
KINDS = {
    TableKind.HEAVY: "with heavy tails",
    TableKind.THIN: "as thin as this one",
    TableKind.FEW: "judged on as few combinations",
    TableKind.USUAL: "like this one",
    None: "of all kinds",
}
#: Medians of what networks did over what theory said, from which on theory is called too low or too high.
MIN_RATIO_TOLD = 1.1


def error_caption(audit: Audit) -> str:
    """Say what the errors of the forecast are: of which outcome, on which cells; empty where none is known."""
    error = audit.forecast.error
    if error is None:
        return ""
    unit = f" in {audit.design.outcome_column.name}" if audit.design.outcome_column.name else ""
    labels = ", every level a label" if audit.design.scales else ""
    cells = plural(error.cells, "determined cell")
    if not audit.forecast.adding:
        cells = f"{plural(error.cells, 'cell')} determined if {audit.choice.assumption}"
    models = f"models trained to convergence{labels}"
    return f"Error{unit} of {models} (root mean square over {cells}: {_SOURCES[error.source]})"


def error_rows(audit: Audit) -> list[dict[str, Any]]:
    """Return the models in words: what each is ``off by``, the ``range`` of the next one, and its ``right`` answers."""
    forecast, noise = audit.forecast, cell_noise(audit.design)
    error = forecast.error
    if error is None:
        return []
    rows = [] if error.values is None else [_row(VALUES, error.values)]
    for model in () if forecast.trained is None else forecast.trained.models:
        expected = forecast.range_of(model.name)
        rows.append(_row(TRAINED[model.name], model.error, expected, model.accuracy))
    names = dict(ROWS)
    if noise is not None and noise.freedom > 0:
        # What noise makes of so many cells varies by chance, and so does its estimate.
        names["noise"] += f" (± {whole_percent(np.sqrt(0.5 / error.cells + 0.5 / noise.freedom))})"
    values = {name: getattr(error, name) for name in ROWS}
    alone = forecast.range_of() if forecast.trained is None else None
    told = [(name, value) for name, value in values.items() if value is not None]
    return rows + [_row(names[name], value, alone if name == "ntk" else None) for name, value in told]


def error_columns(rows: list[dict[str, Any]]) -> dict[str, str]:
    """Return heading -> field of the columns of the table of errors, those that say something."""
    columns = {"model": "model", "off by": "off by", "the next one": "range", "right answers": "right"}
    return {heading: name for heading, name in columns.items() if any(row[name] != "" for row in rows)}


def _row(
    model: str, error: float, expected: ExpectedRange | None = None, accuracy: float | None = None
) -> dict[str, Any]:
    ends = "" if expected is None else f"{number(expected.low)} to {number(expected.high)}"
    return {"model": model, "off by": error, "range": ends, "right": "" if accuracy is None else share(accuracy)}


def error_sentences(forecast: Forecast) -> list[str]:
    """Say how models were trained, how near the next one will be, and what the theory says beside."""
    if forecast.error is None:
        return []
    training = forecast.trained
    if training is None:
        return [_untrained_sentence(forecast), _range_sentence(forecast), shallow_sentence(forecast)]
    times = "once, on the training rows"
    if training.folds:
        times = f"{training.folds} times, each time on all seen combinations but one fold, which they were asked about"
    if training.fewer_folds:
        times += "; further folds would take longer (--forecast trained)"
    lines = [f"Models were trained {times}.", _range_sentence(forecast), _theory_sentence(forecast)]
    if training.left_out:
        names = join_words([TRAINED[name].partition(",")[0] for name in training.left_out])
        lines.append(f"Not trained, to save time: {names} (--forecast trained does).")
    return lines


def _untrained_sentence(forecast: Forecast) -> str:
    """Say that the theory alone speaks, and how to ask for more."""
    if forecast.task is None:
        return "Nothing was trained: this is what theory says of networks."
    return "Nothing was trained, to save time (--forecast trained does): this is what theory says of networks."


def _range_sentence(forecast: Forecast) -> str:
    """Say how often the next network was inside the range, on tables like this one."""
    expected = forecast.range_of()
    if expected is None:
        untried = "How often such a forecast is right is known of all cells that adding determines, not of these alone."
        return "" if forecast.adding else untried
    text = (
        f"On {expected.trials} tables {KINDS[expected.kind]} another network of one layer was trained: its error "
        f"lay in such a range on {expected.held}, and within 20 % of the forecast on {expected.within}"
    )
    if forecast.trained is None and not 1 / MIN_RATIO_TOLD < expected.middle < MIN_RATIO_TOLD:
        too = "low" if expected.middle > 1 else "high"
        text += f"; theory is too {too} for these, networks missed by {expected.middle:.2f} times as much in the median"
    return f"{text}."


def _theory_sentence(forecast: Forecast) -> str:
    """Say how far the theory is from the network that was trained."""
    if forecast.theory is None or not forecast.network:
        return ""
    ratio = forecast.theory / forecast.network
    beside = f"{whole_percent(abs(ratio - 1))} {'more' if ratio > 1 else 'less'}"
    return f"Theory says {number(forecast.theory)} of the network on the same combinations, {beside} than it missed by."


def untold_sentence(forecast: Forecast) -> str:
    """Name the factors that have no slope worth a word; empty without any."""
    shown = {str(row["factor"]) for row in forecast.arrives}
    rest = [str(name) for name in forecast.slopes["factor"] if name not in shown]
    if not rest or not len(forecast.slopes):
        return ""
    return f"Of {join_words(rest)} the effect is too small here for a share to mean something."


def slopes_trust(forecast: Forecast) -> str:
    """Say how often such a share was right of networks that were trained; empty where none is told."""
    case = forecast.scored_as("slopes")
    if case is None or not forecast.arrives:
        return ""
    return f"Such a share was within 10 points in {hit_rate(case)}."


def shortcut_sentence(forecast: Forecast) -> str:
    """Say which factors networks follow against what the data determine; empty without any: silence is no evidence."""
    names = [item.factor for item in forecast.expected_shortcuts if item.misleads]
    if not names:
        return ""
    return f"A network will follow the mean outcome of {join_words(names)} against what the data determine."


def nothing_sentence(forecast: Forecast) -> str:
    """Say why there is no forecast; empty if there is one."""
    return f"Not forecast: {why_not_forecast(forecast)}." if forecast.obstacle else ""


def why_not_forecast(forecast: Forecast) -> str:
    """Say why there is no forecast, after a colon; empty if there is one."""
    if (obstacle := forecast.obstacle) is None:
        return ""
    return {
        NoForecast.NO_OUTCOME: "no outcome was named, on which all that a network does depends (--outcome)",
        NoForecast.CONSTANT_OUTCOME: "the outcome is the same in every seen cell",
        NoForecast.NUMERIC_FACTORS: f"networks are known to take labels, and {listing(obstacle.factors)} is a number",
        NoForecast.MANY_CELLS: f"to fit more than {obstacle.limit:,} seen cells would take too long",
        NoForecast.MANY_STEPS: f"networks are not fitted within {obstacle.limit:,} steps, and more would take too long",
        NoForecast.CHANCE: "nothing was found beyond chance that a network could carry over",
        NoForecast.FEW_CELLS: f"fewer than {obstacle.limit} cells are determined by the others",
    }[obstacle.reason]


def shallow_sentence(forecast: Forecast) -> str:
    """Say that deeper networks were left out; empty where none was."""
    left_out = forecast.shallow and forecast.error is not None
    return "Networks of two layers and more were left out to save time." if left_out else ""


def models_sentence(audit: Audit, models: Table) -> str:
    """Say that other models saw a part of the seen cells only; empty where they did not."""
    seen = len(audit.design.seen)
    if not len(models) or (shown := int(models["cells"][0])) == seen:
        return ""
    return (
        f"The models were trained on parts of {shown:,} of the {seen:,} seen cells, those of levels drawn at random, "
        f"to save time; in Python audit.compare_models(max_cells={seen}) takes all."
    )


def accuracy_sentence(forecast: Forecast) -> str:
    """Say which share of right answers the next network gives; empty where that is not known."""
    expected = forecast.accuracy_range
    if expected is None:
        return ""
    return (
        f"Right answers of the next network: {share(expected.low)} to {share(expected.high)} (such ranges held in "
        f"{expected.held} of {expected.trials} tables {KINDS[expected.kind]}, within 5 points in {expected.within})."
    )
