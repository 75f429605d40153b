"""The forecast in words: what networks will do on unseen cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.data.hit_rates import hit_rate
from recombine.jobs.audit.fitted_networks import ForecastSource, NoForecast
from recombine.jobs.audit.noise import cell_noise
from recombine.writing import join_words, listing, number, plural, whole_percent

if TYPE_CHECKING:
    from recombine.jobs.audit.audit import Audit
    from recombine.jobs.audit.forecast import Forecast
    from recombine.tables.table import Table

#: On which cells a forecast was scored.
_SOURCES = {
    ForecastSource.HELD_OUT_ROWS: "held-out rows",
    ForecastSource.SEEN_CELLS: "seen cells, each predicted from the others",
    ForecastSource.HELD_OUT_CELLS: "seen cells, a tenth held out at random",
}
#: Kernels in words, as rows of the table of errors.
ROWS = {
    "values": "the values given here",
    "ntk": "network, all layers learn (NTK)",
    "nngp": "network, its readout learns (NNGP)",
    "additive": "effects added",
    "mean": "plain mean",
    "noise": "the cells' own noise, estimated",
}
ONE_LAYER = ", MLP, 1 hidden layer"


def _error_trust(forecast: Forecast) -> str:
    """Say in how many trials such an error was right; empty of cells that no trial was about."""
    return hit_rate("error" if forecast.held_out else "error on seen cells") if forecast.adding else ""


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


def error_rows(audit: Audit) -> list[tuple[str, float]]:
    """Return the models in words with their errors, those that are known; the noise with its standard error."""
    error, noise = audit.forecast.error, cell_noise(audit.design)
    if error is None:
        return []
    names = dict(ROWS)
    if noise is not None and noise.freedom > 0:
        # What noise makes of so many cells varies by chance, and so does its estimate.
        names["noise"] += f" (± {whole_percent(np.sqrt(0.5 / error.cells + 0.5 / noise.freedom))})"
    values = {name: getattr(error, name) for name in ROWS}
    return [(names[name], value) for name, value in values.items() if value is not None]


def error_sentences(forecast: Forecast) -> list[str]:
    """Say how far the errors that are forecast can be trusted, and what changes with depth and early stopping."""
    if forecast.error is None:
        return []
    if not forecast.adding:
        untried = "How often such a forecast is right is known of all cells that adding determines, not of these alone."
        return [untried, _depth_sentence(forecast)]
    early = hit_rate("error of MLP, early stopping")
    stopped = f"With early stopping expect about the same error (so in {early}); the shares are no guide then."
    return [
        f"Such a forecast was within 20 % of the trained network's error in {_error_trust(forecast)}.",
        _depth_sentence(forecast),
        *([stopped] if forecast.held_out else []),  # tried with held-out rows only
    ]


def _depth_sentence(forecast: Forecast) -> str:
    """Say what deeper networks will be off by, or that none was tried."""
    deeper = [row for row in forecast.depths.rows() if row["hidden layers"] > 1 and not np.isnan(row["nngp"])]
    if not deeper:
        return shallow_sentence(forecast)
    layers = [int(row["hidden layers"]) for row in deeper]
    rates = join_words([hit_rate(f"error of {count} layers").partition(" of ")[0] for count in layers])
    trials = hit_rate(f"error of {layers[0]} layers").partition(" of ")[2]
    errors = join_words([number(row["nngp"]) for row in deeper])
    trust = f": on held-out rows within 20 % in {rates} of {trials}" if forecast.adding else ""
    return (
        f"With {join_words(list(map(str, layers)))} hidden layers: {errors} "
        f"(NNGP, to which deeper networks come nearer{trust})."
    )


def told_slopes(forecast: Forecast) -> list[dict[str, Any]]:
    """Return the rows of factors whose effect is large enough for a slope to mean something."""
    return [row for row in forecast.slopes.rows() if row["told"] and not np.isnan(row["slope"])]


def untold_sentence(forecast: Forecast) -> str:
    """Name the factors that have no slope worth a word; empty without any."""
    shown = {row["factor"] for row in told_slopes(forecast)}
    rest = [str(name) for name in forecast.slopes["factor"] if name not in shown]
    if not rest or not len(forecast.slopes):
        return ""
    return f"Of {join_words(rest)} the effect is too small here for a share to mean something."


def slopes_trust(forecast: Forecast) -> str:
    """Say how often such a share was right of networks that were trained; empty where none is told."""
    case = forecast.scored_as("slopes")
    if case is None or not told_slopes(forecast):
        return ""
    return f"Such a share was within 10 points in {hit_rate(case + ONE_LAYER)}."


def shortcut_sentence(forecast: Forecast) -> str:
    """Say which factors networks follow against what the data determine; empty where that was not read."""
    if not forecast.shortcuts:
        return ""
    names = [item.factor for item in forecast.shortcuts if item.misleads]
    if not names:
        return "No factor was found to be a shortcut."
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


def accuracy_sentences(forecast: Forecast) -> list[str]:
    """Say with which accuracy networks classify held-out cells; empty where that is not known."""
    if forecast.accuracy is None:
        return []
    lines = []
    for loss in ("cross-entropy", "squared"):
        shares = forecast.accuracy["accuracy"][forecast.accuracy["loss"] == loss]
        low, high = whole_percent(shares.min()), whole_percent(shares.max())
        text = low if low == high else f"{low} to {high}"
        lines.append(f"Accuracy on held-out unseen cells with {loss} loss, depth 1 to 4: {text}")
    return lines
