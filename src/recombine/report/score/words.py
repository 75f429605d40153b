"""The score in words: what its ranges leave no doubt about, for every face."""

from __future__ import annotations

from recombine.errors import listing, plural
from recombine.jobs.audit.forecast import LEAKY, SHORTCUT_PULL
from recombine.jobs.audit.noise import few_digits
from recombine.jobs.score.causes import Amount
from recombine.jobs.score.score import ModelScore, Score
from recombine.report.written import join_words
from recombine.verdicts import Verdict

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
#: Whom each cause speaks of: the measurements and what they cannot tell, or the model.
OF_DATA = ("noise", "seen noise", "structure")
#: An effect that arrives this many times is overdone.
OVERDONE = 2 - LEAKY
#: A factor's leak or shortcut is put into words from this share of the squared error on.
TOLD_SHARE = 0.05


def meaning(model: ModelScore, cause: str) -> str:
    """Say what a cause is; slopes on the other side of 1 are no leak but effects that arrive too strongly.

    Examples
    --------
    >>> import numpy as np, recombine as rc
    >>> cells = np.indices((6, 6)).reshape(2, -1).T
    >>> design = rc.Design.from_cells(cells, cells @ [1.0, 2.0], train=cells.sum(axis=1) % 3 > 0)
    >>> meaning(rc.score(design, {"net": design.held_out @ [1.0, 4.0]}).models[0], "leak")
    'effects arrive too strongly'
    """
    if cause != "leak" or model.attribution is None:
        return MEANINGS[cause]
    slopes = {name: slope.value for name, slope in model.attribution.slopes.items()}
    amounts = {name: abs(amount.value) for name, amount in model.attribution.leaks.items()}
    strong = sum(amounts[name] for name, slope in slopes.items() if slope > 1)
    weak = sum(amounts[name] for name, slope in slopes.items() if slope <= 1)
    if strong > 4 * weak:
        return "effects arrive too strongly"
    return MEANINGS[cause] if weak > 4 * strong else "effects arrive too weakly, or too strongly"


def shown_causes(score: Score, model: ModelScore) -> dict[str, Amount]:
    """Return the causes without those that nothing is known of: seen noise that stays with the structure."""
    untold = score.noise is not None and not score.noise.carried.any()
    return {name: amount for name, amount in model.causes.items() if not (untold and name == "seen noise")}


def answers(score: Score) -> list[str]:
    """Say of each model whether its error on unseen cells is the test's, the data's or its own, one sentence each.

    The parts add up: cells that are not determined, and of the others what is noise and structure, and what is left.
    Negative parts are what the model made up for.

    Examples
    --------
    >>> import numpy as np, recombine as rc
    >>> cells = np.indices((6, 6)).reshape(2, -1).T
    >>> design = rc.Design.from_cells(cells, cells @ [1.0, 2.0], train=cells.sum(axis=1) % 3 > 0)
    >>> print(answers(rc.score(design, {"net": design.held_out @ [1.0, 1.0]}))[0])
    Of net's squared error on 12 unseen cells, 100% is the model's own (offset 68%, leak 32%).
    """
    return [sentence for model in score.models if (sentence := _answer(score, model))]


def error_parts(score: Score, model: ModelScore) -> dict[str, float]:
    """Return the shares of one model's error on all unseen cells: by verdict where not determined, else by cause."""
    rows = {row["verdict"]: row for row in model.by_verdict.rows()}
    own = rows.get(Verdict.DETERMINED.word)
    found = {}
    if own is not None and model.attribution is not None and model.attribution.error.value > 0:
        whole = model.attribution.error.value
        for name, amount in shown_causes(score, model).items():
            found[name] = own["share"] * amount.value / whole
    elif own is not None:
        found[Verdict.DETERMINED.word] = own["share"]
    skipped = (Verdict.SEEN.word, Verdict.DETERMINED.word)
    return found | {word: row["share"] for word, row in rows.items() if word not in skipped}


def _answer(score: Score, model: ModelScore) -> str:
    parts = error_parts(score, model)
    unseen = int((score.codes != Verdict.SEEN).sum())
    if not unseen or not model.unseen_error.value > 0 or model.attribution is None:
        return ""
    test = {name: part for name, part in parts.items() if name not in MEANINGS}
    data = {name: part for name, part in parts.items() if name in OF_DATA}
    own = {name: part for name, part in parts.items() if name in MEANINGS and name not in OF_DATA}
    said = []
    if test:
        said.append(f"{_percent(sum(test.values()))} lies on cells that no data determine ({_listed(test)})")
    if sum(data.values()) >= 0.005:
        said.append(f"{_percent(sum(data.values()))} is what the data cannot tell ({_listed(data)})")
    said.append(f"{_percent(sum(own.values()))} is the model's own ({_listed(own)})")
    return f"Of {model.name}'s squared error on {plural(unseen, 'unseen cell')}, {join_words(said)}."


def _listed(parts: dict[str, float]) -> str:
    large = {name: part for name, part in parts.items() if abs(part) >= 0.005}
    ordered = sorted((large or parts).items(), key=lambda item: -item[1])
    return ", ".join(f"{name} {_percent(part)}" for name, part in ordered)


def _percent(part: float) -> str:
    return f"{100 * part:.0f}%".replace("-0%", "0%").replace("-", "−")


def sentences(model: ModelScore) -> list[str]:
    """Say what the ranges of one model leave no doubt about: gain over adding, effects that leak, marginals followed.

    Effects are known up to the noise of the seen cells, so that a slope near 1 and a small pull are not worth a word.
    """
    found, gain = model.attribution, model.gain
    if found is None or gain is None:
        return []
    said = []
    if gain.low > 0:
        said.append(f"It beats adding by {few_digits(gain.value)} {written_range(gain)}: departures that it got right.")
    elif gain.high < 0:
        less = Amount(-gain.value, -gain.high, -gain.low)
        said.append(f"Adding beats it by {few_digits(less.value)} {written_range(less)}.")
    else:
        said.append(f"It is no better and no worse than adding beyond chance (gain {written_range(gain)}).")
    least = TOLD_SHARE * found.error.value
    told = {
        name: f"{name} {slope.value:.2f} {written_range(slope)}"
        for name, slope in found.slopes.items()
        if found.leaks[name].low > 0 and found.leaks[name].value >= least
    }
    weak = [text for name, text in told.items() if found.slopes[name].high < LEAKY]
    if weak:
        said.append(f"Share of an effect that arrives: {listing(weak)}.")
    strong = [text for name, text in told.items() if found.slopes[name].low > OVERDONE]
    if strong:
        said.append(f"Effects that arrive too strongly, how many times: {listing(strong)}.")
    pulled = [
        f"{name} {pull.value:.2f} {written_range(pull)}"
        for name, pull in found.pulls.items()
        if pull.low > SHORTCUT_PULL and found.shortcuts[name].low > 0 and found.shortcuts[name].value >= least
    ]
    if pulled:
        said.append(f"Share of the way from effect to marginal: {listing(pulled)}.")
    if model.explained == model.explained:
        said.append(f"{max(model.explained, 0.0):.0%} of its error over noise has a named cause.")
    return said


def written_range(amount: Amount) -> str:
    """Write the range of an amount.

    Examples
    --------
    >>> written_range(Amount(0.5, 0.4, 0.6))
    '[0.4, 0.6]'
    """
    return f"[{few_digits(amount.low)}, {few_digits(amount.high)}]".replace("-", "−")
