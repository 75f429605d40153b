"""The score in words: what its ranges leave no doubt about, for every output."""

from __future__ import annotations

from recombine.jobs.score.amounts import Amount
from recombine.jobs.score.causes import CAUSES, Cause
from recombine.jobs.score.error_split import HeldOutNoise
from recombine.jobs.score.score import ModelScore, Score
from recombine.verdicts import Verdict
from recombine.writing import few_digits, join_words, plural

#: What is said of a part that its range does not tell from none.
NOT_BEYOND_CHANCE = "none beyond chance"
#: A factor's part in a cause is put into words from this share of the squared error on.
SHARE_TOLD = 0.05
#: Factors of one cause that are put into words.
MAX_FACTORS_TOLD = 12
#: Coefficients above the expected value prevail with so many times the error of those below, or the reverse.
TIMES_TO_PREVAIL = 4


def meaning(model: ModelScore, cause: Cause) -> str:
    """Say what a cause is; coefficients on the other side of what is expected are said to be the opposite.

    A part of the model's own that its range does not tell from none is said to be within chance of it, and one below
    zero to make up for others.

    Examples
    --------
    >>> import numpy as np, recombine as rc
    >>> from recombine.jobs.score import CAUSES
    >>> cells = np.indices((9, 9)).reshape(2, -1).T
    >>> design = rc.Design.from_cells(cells, cells @ [1.0, 2.0], train=cells.sum(axis=1) % 3 > 0)
    >>> meaning(rc.score(design, {"net": design.held_out @ [1.0, 4.0] - 8}).models[0], CAUSES["leak"])
    'more than all of an effect arrives'
    """
    if cause.of == "data" or model.attribution is None:
        return cause.meaning
    amount = model.causes[cause.name]
    if amount.within_chance:
        return NOT_BEYOND_CHANCE
    if amount.high < 0:
        return "makes up for others"
    if cause.overdone_meaning is None or cause.coefficient is None:
        return cause.meaning
    table = model.attribution.per_factor[cause.name]
    amounts = {True: 0.0, False: 0.0}
    for factor, coefficient in table.coefficients.items():
        amounts[coefficient.value > cause.coefficient.expected] += abs(table.amounts[factor].value)
    if amounts[True] > TIMES_TO_PREVAIL * amounts[False]:
        return cause.overdone_meaning
    if amounts[False] > TIMES_TO_PREVAIL * amounts[True]:
        return cause.meaning
    return f"{cause.meaning}, or {cause.overdone_meaning}"


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
        for name, amount in model.causes.items():
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
    test = {name: part for name, part in parts.items() if name not in CAUSES and name != Verdict.DETERMINED.word}
    data = {name: part for name, part in parts.items() if name in CAUSES and CAUSES[name].of == "data"}
    own = {name: part for name, part in parts.items() if name in CAUSES and CAUSES[name].of == "model"}
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
        clear = {name: part for name, part in parts.items() if not model.causes[name].within_chance}
    large = {name: part for name, part in clear.items() if abs(part) >= 0.005} or dict(
        sorted(parts.items(), key=lambda item: -abs(item[1]))[:1]
    )
    others = sum(part for name, part in parts.items() if name not in large)
    ordered = sorted(large.items(), key=lambda item: -item[1])
    texts = [f"{name} {whole_percent(part)}" for name, part in ordered]
    return ", ".join([*texts, f"within chance of none {whole_percent(others)}"] if abs(others) >= 0.005 else texts)


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
    said += factor_sentences(model)
    if model.explained == model.explained:
        said.append(f"{max(model.explained, 0.0):.0%} of its error over noise has a named cause.")
    return said


def factor_sentences(model: ModelScore) -> list[str]:
    """Say of each cause which factors it is clearly about, and how far."""
    if model.attribution is None:
        return []
    smallest = SHARE_TOLD * model.attribution.error.value
    said = []
    for name, table in model.attribution.per_factor.items():
        messages = [
            CAUSES[name].message(factor, coefficient)
            for factor, coefficient in table.coefficients.items()
            if table.amounts[factor].low > 0 and table.amounts[factor].value >= smallest
        ]
        told = [f"{message}." for message in messages if message]
        said += told[:MAX_FACTORS_TOLD]
        if len(told) > MAX_FACTORS_TOLD:
            said.append(f"The same cause, {name}, holds of {plural(len(told) - MAX_FACTORS_TOLD, 'more factor')}.")
    return said


def written_range(amount: Amount) -> str:
    """Write the range of an amount.

    Examples
    --------
    >>> written_range(Amount(0.5, 0.4, 0.6))
    '[0.4, 0.6]'
    """
    return f"[{few_digits(amount.low)}, {few_digits(amount.high)}]".replace("-", "−")
