"""The score in words: what its ranges leave no doubt about, for every face."""

from __future__ import annotations

from recombine.errors import listing, plural
from recombine.jobs.audit.forecast import LEAKY, SHORTCUT_PULL
from recombine.jobs.audit.noise import few_digits
from recombine.jobs.score.causes import Amount, HeldOutNoise
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
#: What is said of a part that its range does not tell from none.
NOT_BEYOND_CHANCE = "none beyond chance"
#: Whom each cause speaks of: the measurements and what they cannot tell, or the model.
OF_DATA = ("noise", "seen noise", "structure")
#: An effect that arrives this many times is overdone.
OVERDONE = 2 - LEAKY
#: A factor's leak or shortcut is put into words from this share of the squared error on.
TOLD_SHARE = 0.05


def meaning(model: ModelScore, cause: str) -> str:
    """Say what a cause is; slopes on the other side of 1 are no leak but effects that arrive too strongly.

    A part of the model's own that its range does not tell from none is said to be within chance of it, and one below
    zero to make up for others.

    Examples
    --------
    >>> import numpy as np, recombine as rc
    >>> cells = np.indices((9, 9)).reshape(2, -1).T
    >>> design = rc.Design.from_cells(cells, cells @ [1.0, 2.0], train=cells.sum(axis=1) % 3 > 0)
    >>> meaning(rc.score(design, {"net": design.held_out @ [1.0, 4.0] - 8}).models[0], "leak")
    'effects arrive too strongly'
    """
    if cause in OF_DATA or model.attribution is None:
        return MEANINGS[cause]
    amount = model.causes[cause]
    if amount.low <= 0 <= amount.high:
        return NOT_BEYOND_CHANCE
    if amount.high < 0:
        return "makes up for others"
    if cause != "leak":
        return MEANINGS[cause]
    slopes = {name: slope.value for name, slope in model.attribution.slopes.items()}
    amounts = {name: abs(found.value) for name, found in model.attribution.leaks.items()}
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
    Negative parts are what the model made up for. Predicted classes are told by the share that is wrong.

    Examples
    --------
    >>> import numpy as np, recombine as rc
    >>> cells = np.indices((9, 9)).reshape(2, -1).T
    >>> design = rc.Design.from_cells(cells, cells @ [1.0, 2.0], train=cells.sum(axis=1) % 3 > 0)
    >>> print(answers(rc.score(design, {"net": design.held_out @ [1.0, 1.0] + 4}))[0])
    Of net's squared error on 27 unseen cells, 100% is the model's own (leak 100%).
    """
    if not (score.codes != Verdict.SEEN).any():
        return [
            "Every held-out cell was seen in training, so that nothing here tests recombination: hold out whole cells "
            "(recombine split makes such a test)."
        ]
    said = []
    for model in score.models:
        said += [sentence for sentence in (_answer(score, model), _row_by_row(score, model)) if sentence]
    return said


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
    if model.misses is not None:
        return _of_classes(score, model)
    parts = error_parts(score, model)
    unseen = int((score.codes != Verdict.SEEN).sum())
    if not model.unseen_error.value > 0:
        return ""
    test = {name: part for name, part in parts.items() if name not in MEANINGS and name != Verdict.DETERMINED.word}
    data = {name: part for name, part in parts.items() if name in OF_DATA}
    own = {name: part for name, part in parts.items() if name in MEANINGS and name not in OF_DATA}
    untold = parts.get(Verdict.DETERMINED.word, 0.0)
    said = []
    if sum(test.values()) >= 0.005:
        said.append(
            f"{whole_percent(sum(test.values()))} lies on cells that these data do not determine ({_listed(test)})"
        )
    if abs(sum(data.values())) >= 0.005:
        said.append(
            f"{whole_percent(sum(data.values()))} is noise, or what does not follow from the seen cells if "
            f"{score.audit.choice.assumption} ({_listed(data)})"
        )
    if own:
        said.append(f"{whole_percent(sum(own.values()))} is the model's own ({_listed(own, model)})")
    if untold >= 0.005:
        said.append(f"{whole_percent(untold)} lies on determined cells, too few to say why")
    return f"Of {model.name}'s squared error on {plural(unseen, 'unseen cell')}, {join_words(said)}."


def _of_classes(score: Score, model: ModelScore) -> str:
    """Say whose the wrong classes are: of cells that are not determined, of the best class of each cell, or its own."""
    found = model.misses
    assert found is not None
    unseen = int((score.codes != Verdict.SEEN).sum())
    if not found.wrong > 0:
        return f"{model.name} has every class right on {plural(unseen, 'unseen cell')}."
    said = []
    if found.undetermined >= 0.005 * found.wrong:
        said.append(f"{whole_percent(found.undetermined / found.wrong)} are on cells that these data do not determine")
    low, high = (share / found.wrong for share in (found.least, found.most))
    chance = _between(low, high)
    own = _between(*(1 - found.undetermined / found.wrong - share for share in (high, low)))
    said.append(f"{chance} even the commonest class of each cell would get wrong (noise)")
    said.append(f"{own} are the model's own")
    return (
        f"{model.name} gets {whole_percent(found.wrong)} of the classes wrong on {plural(unseen, 'unseen cell')}: of "
        f"these, {join_words(said)}."
    )


def _between(low: float, high: float) -> str:
    one, other = whole_percent(max(low, 0.0)), whole_percent(max(high, 0.0))
    return one if one == other else f"{one.removesuffix('%')} to {other}"


def _row_by_row(score: Score, model: ModelScore) -> str:
    """Say what the error of single measurements would be: means of cells hide their noise."""
    found = model.of_rows
    if found is None or model.misses is not None:
        return ""
    error, noise = found
    return (
        f"For single measurements rather than means of cells its squared error is {few_digits(error)}, of which "
        f"{whole_percent(noise / error)} is noise."
    )


def _listed(parts: dict[str, float], model: ModelScore | None = None) -> str:
    """List parts from the largest on; of a model's own those within chance of none are summed up."""
    clear = dict(parts)
    if model is not None:
        clear = {name: part for name, part in parts.items() if not _within_chance(model.causes[name])}
    large = {name: part for name, part in clear.items() if abs(part) >= 0.005} or dict(
        sorted(parts.items(), key=lambda item: -abs(item[1]))[:1]
    )
    others = sum(part for name, part in parts.items() if name not in large)
    ordered = sorted(large.items(), key=lambda item: -item[1])
    texts = [f"{name} {whole_percent(part)}" for name, part in ordered]
    return ", ".join([*texts, f"within chance of none {whole_percent(others)}"] if abs(others) >= 0.005 else texts)


def _within_chance(amount: Amount) -> bool:
    return amount.low <= 0 <= amount.high


def whole_percent(part: float) -> str:
    """Write a share of an error in whole percent.

    Examples
    --------
    >>> whole_percent(0.256), whole_percent(-0.02)
    ('26%', '−2%')
    """
    return f"{100 * part:.0f}%".replace("-0%", "0%").replace("-", "−")


def _why_ahead(model: ModelScore, noise: HeldOutNoise | None) -> str:
    """Say what a gain is made of: adding carries the noise of the seen cells, and a model need not."""
    assert model.gain is not None
    carried = 0.0 if noise is None else float(noise.carried.mean())
    if carried and model.gain.high <= carried:
        return ", no more than the noise of the seen cells that adding carries"
    if carried and model.gain.low > carried:
        return ": departures that it got right"
    return ": departures that it got right, or less of the seen cells' noise"


def sentences(model: ModelScore, noise: HeldOutNoise | None = None) -> list[str]:
    """Say what the ranges of one model leave no doubt about: gain over adding, effects that leak, marginals followed.

    Effects are known up to the noise of the seen cells, so that a slope near 1 and a small pull are not worth a word.
    """
    found, gain = model.attribution, model.gain
    if found is None or gain is None:
        return []
    said = []
    if gain.low > 0:
        said.append(f"It beats adding by {few_digits(gain.value)} {written_range(gain)}{_why_ahead(model, noise)}.")
    elif gain.high < 0:
        less = Amount(-gain.value, -gain.high, -gain.low)
        said.append(f"Adding beats it by {few_digits(less.value)} {written_range(less)}.")
    else:
        said.append(f"It is no better and no worse than adding beyond chance (gain {written_range(gain)}).")
    least = TOLD_SHARE * found.error.value
    told = {
        name: f"{name} {_hundredths(slope.value)} {written_range(slope)}"
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
        f"{name} {_hundredths(pull.value)} {written_range(pull)}"
        for name, pull in found.pulls.items()
        if pull.low > SHORTCUT_PULL and found.shortcuts[name].low > 0 and found.shortcuts[name].value >= least
    ]
    if pulled:
        said.append(f"Share of the way from effect to marginal: {listing(pulled)}.")
    if model.explained == model.explained:
        said.append(f"{max(model.explained, 0.0):.0%} of its error over noise has a named cause.")
    return said


def _hundredths(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")


def written_range(amount: Amount) -> str:
    """Write the range of an amount.

    Examples
    --------
    >>> written_range(Amount(0.5, 0.4, 0.6))
    '[0.4, 0.6]'
    """
    return f"[{few_digits(amount.low)}, {few_digits(amount.high)}]".replace("-", "−")
