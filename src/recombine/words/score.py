"""A score in words: whose the error is, what causes and ranges leave no doubt about, and what cannot be told."""

from __future__ import annotations

from recombine.jobs.findings.reading import RowsLeftOut
from recombine.jobs.limits import SCORE_LIMITS
from recombine.jobs.score import Score
from recombine.jobs.score.amounts import Amount
from recombine.jobs.score.causes import CAUSES, Cause
from recombine.jobs.score.determined import confounded_columns
from recombine.jobs.score.model_score import ModelScore
from recombine.verdicts import Verdict
from recombine.words.examination import models_beside
from recombine.writing import few_digits, join_words, plural, whole_percent

#: What is said of an amount that its range does not tell from none.
NOT_BEYOND_CHANCE = "none beyond chance"

#: Captions of tables, with holes for the model's name and how many determined cells there are.
BY_VERDICT = "{model} on held-out cells, by verdict; shares are of its error on unseen cells"
BY_CAUSE = "{model}: squared error on {cells} by cause, with 95 % ranges"
BESIDE = "Squared error on the {cells}"
WORST = "Determined cells that {model} misses by most"
SLICES = "Where the error of {model} is concentrated: levels and pairs of levels beyond chance, with 95 % ranges"


def score_opening(score: Score) -> str:
    """Say what was scored, under which condition verdicts hold, and what the numbers are."""
    return (
        f"{score.outcome_name} in {score.design.reading.source}: {held_out_phrase(score)}. "
        f"Verdicts hold if {score.audit.choice.assumption}. All numbers are mean squares over cells"
        f"{' summed over classes' if score.classes else ''}"
        f"{', weighted by importance' if score.weights is not None else ''}; ranges are over cells of these levels."
    )


def held_out_phrase(score: Score) -> str:
    """Say how many cells were seen, and how many held out."""
    if score.folds:
        return f"{plural(len(score.codes), 'cell')}, each left out once, in one of {score.folds} folds"
    unseen = int((score.codes != Verdict.SEEN).sum())
    return f"{plural(len(score.design.seen), 'cell')} seen, {unseen:,} held out that were never seen"


def cause_meaning(model: ModelScore, cause: Cause) -> str:
    """Say what a cause is; coefficients on the other side of what is expected are said to be the opposite.

    A part of the model's own that its range does not tell from none is said to be within chance of it, and one below
    zero to make up for others.
    """
    if cause.of == "data" or model.attribution is None:
        return cause.meaning
    if by := model.attribution.by.get(cause.name):
        return cause.meaning_by.format(by=by)
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
    if amounts[True] > SCORE_LIMITS.times_to_prevail * amounts[False]:
        return cause.overdone_meaning
    if amounts[False] > SCORE_LIMITS.times_to_prevail * amounts[True]:
        return cause.meaning
    return f"{cause.meaning}, or {cause.overdone_meaning}"


def score_answers(score: Score) -> list[str]:
    """Say of each model whether its error on unseen cells is the test's, the data's or its own, one sentence each.

    The shares add up: cells that are not determined, and of the others what is noise and structure, and what remains.
    Negative shares are what the model made up for. Predicted classes are told by the share that is wrong.

    Examples
    --------
    >>> import numpy as np, recombine as rc
    >>> cells = np.indices((9, 9)).reshape(2, -1).T
    >>> design = rc.Design.from_cells(cells, cells @ [1.0, 2.0], train=cells.sum(axis=1) % 3 > 0)
    >>> print(score_answers(rc.score(design, {"net": design.held_out @ [1.0, 1.0] + 4}))[0])
    Of net's squared error on 27 unseen cells, 100 % is the model's own (leak 100 %).
    """
    if not (score.codes != Verdict.SEEN).any():
        return [
            "Every held-out cell was seen in training, so that nothing here tests recombination: hold out whole cells "
            "(recombine split makes such a test)."
        ]
    answers = []
    for model in score.models:
        if model.below_noise is not None:
            answers.append(below_noise_sentence(model))
            continue
        whose = _whose_error(score, model) if model.misses is None else whose_classes(score, model)
        answers += [sentence for sentence in (whose, _single_measurements(model)) if sentence]
    return answers + models_beside(score)


def below_noise_sentence(model: ModelScore) -> str:
    """Say that a model's error is below the noise of the measurements; empty where it is not."""
    below = model.below_noise
    if below is None:
        return ""
    return (
        f"{model.name}'s error {with_range(below.error)} is below the noise of the measurements themselves, "
        f"{with_range(below.noise)}, on "
        f"{plural(below.cells, 'unseen cell')} with replicates: it has seen these rows, or the rows are not "
        "independent."
    )


def _whose(model: ModelScore) -> tuple[dict[str, float], dict[str, float], dict[str, float], float]:
    """Return the shares of a model's error that are the test's, the data's and its own, and what has no cause."""
    shares = model.error_shares
    untold = shares.pop(Verdict.DETERMINED.word, 0.0)
    of_test = {name: share for name, share in shares.items() if name not in CAUSES}
    of_data = {name: share for name, share in shares.items() if name in CAUSES and CAUSES[name].of == "data"}
    of_model = {name: share for name, share in shares.items() if name in CAUSES and CAUSES[name].of == "model"}
    return of_test, of_data, of_model, untold


def shares_phrase(model: ModelScore, *, short: bool = False) -> str:
    """Say in a few words whose a model's error is, ``short`` by its main shares and cause; empty where it has none."""
    if model.below_noise is not None:
        noise = few_digits(model.below_noise.noise.value)
        return f"below the noise, {noise}: it has seen these rows, or they are not independent"
    if not model.unseen_error.value > 0:
        return ""
    of_test, of_data, of_model, untold = _whose(model)
    causes = _main_cause(of_model, model) if short else _listed(of_model, model)
    parts = [
        ("its own" + (f" ({causes})" if of_model and causes else ""), sum(of_model.values())),
        ("noise or structure", sum(of_data.values())),
        ("cells that the data leave open", sum(of_test.values())),
        ("not told why", untold),
    ]
    smallest = SCORE_LIMITS.share_told if short else SCORE_LIMITS.share_shown
    return ", ".join(f"{whole_percent(share)} {name}" for name, share in parts if abs(share) >= smallest)


def _main_cause(shares: dict[str, float], model: ModelScore) -> str:
    """Name the largest cause of a model's own; empty where none is beyond chance."""
    clear = [name for name, share in shares.items() if share > 0 and not model.causes[name].within_chance]
    return f"mostly {max(clear, key=shares.__getitem__)}" if clear else ""


def _whose_error(score: Score, model: ModelScore) -> str:
    if not model.unseen_error.value > 0:
        return ""
    of_test, of_data, of_model, untold = _whose(model)
    clauses = []
    if sum(of_test.values()) >= SCORE_LIMITS.share_shown:
        total = whole_percent(sum(of_test.values()))
        clauses.append(f"{total} lies on cells that these data do not determine ({_listed(of_test)})")
    amounts = {
        f"noise, or what does not follow from the seen cells if {score.audit.choice.assumption}": (
            sum(of_data.values()),
            _listed(of_data),
        ),
        "the model's own": (sum(of_model.values()), _listed(of_model, model)),
    }
    shown = {name: pair for name, pair in amounts.items() if abs(pair[0]) >= SCORE_LIMITS.share_shown}
    clauses += [f"{whole_percent(share)} is {name} ({parts})" for name, (share, parts) in shown.items() if share > 0]
    if untold >= SCORE_LIMITS.share_shown:
        clauses.append(f"{whole_percent(untold)} lies on determined cells, too few to say why")
    opposed = [
        f"what is {name} makes up for {whole_percent(-share)} ({parts})"
        for name, (share, parts) in shown.items()
        if share < 0
    ]
    made_up = f"; {join_words(opposed)}" if opposed else ""
    return f"Of {model.name}'s squared error on {_unseen_cells(score)}, {join_words(clauses)}{made_up}."


def whose_classes(score: Score, model: ModelScore) -> str:
    """Say whose the wrong classes are: of cells that are not determined, of the best class of each cell, or its own."""
    misses = model.misses
    assert misses is not None
    if not misses.wrong > 0:
        return f"{model.name} has every class right on {_unseen_cells(score)}."
    clauses = []
    undetermined = misses.undetermined / misses.wrong
    if undetermined >= SCORE_LIMITS.share_shown:
        clauses.append(f"{whole_percent(undetermined)} are on cells that these data do not determine")
    low, high = (share / misses.wrong for share in (misses.least, misses.most))
    clauses.append(f"{_between(low, high)} even the commonest class of each cell would get wrong (noise)")
    clauses.append(f"{_between(1 - undetermined - high, 1 - undetermined - low)} are the model's own")
    wrong = whole_percent(misses.wrong)
    return f"{model.name} gets {wrong} of the classes wrong on {_unseen_cells(score)}: of these, {join_words(clauses)}."


def _unseen_cells(score: Score) -> str:
    return plural(int((score.codes != Verdict.SEEN).sum()), "unseen cell")


def _between(low: float, high: float) -> str:
    start, end = whole_percent(max(low, 0.0)), whole_percent(max(high, 0.0))
    return start if start == end else f"{start.removesuffix('%').rstrip()} to {end}"


def _single_measurements(model: ModelScore) -> str:
    """Say what the error of single measurements would be: means of cells hide their noise."""
    if model.of_rows is None or model.misses is not None:
        return ""
    error, noise = model.of_rows
    return (
        f"Against single measurements rather than means of cells the squared error of its mean prediction per cell is "
        f"{few_digits(error)}, of which {whole_percent(noise / error)} is noise."
    )


def _listed(shares: dict[str, float], model: ModelScore | None = None) -> str:
    """List shares from the largest on; of a model's own those within chance of none are summed up."""
    clear = dict(shares)
    if model is not None:
        clear = {name: share for name, share in shares.items() if not model.causes[name].within_chance}
        if not clear:
            return "no single cause is beyond chance"
    large = {name: share for name, share in clear.items() if abs(share) >= SCORE_LIMITS.share_shown} or dict(
        sorted(clear.items(), key=lambda item: -abs(item[1]))[:1]
    )
    texts = [f"{name} {whole_percent(share)}" for name, share in sorted(large.items(), key=lambda item: -item[1])]
    within_chance = sum(share for name, share in shares.items() if name not in large)
    if abs(within_chance) >= SCORE_LIMITS.share_shown:
        texts.append(f"within chance of none {whole_percent(within_chance)}")
    return ", ".join(texts)


def model_sentences(score: Score, model: ModelScore) -> list[str]:
    """Say what the ranges of one model leave no doubt about: gain over adding, and the factors of each cause.

    Effects are known up to the noise of the seen cells, so that a slope near 1 and a small pull are not worth a word.
    """
    gain = model.gain
    if model.attribution is None or gain is None:
        return []
    if model.below_noise is not None:
        return [below_noise_sentence(model)]
    if gain.low > 0:
        beaten = f"It beats adding by {few_digits(gain.value)} {written_range(gain)}{_what_gain_is(score, gain)}."
    elif gain.high < 0:
        loss = Amount(-gain.value, -gain.high, -gain.low)
        beaten = f"Adding beats it by {few_digits(loss.value)} {written_range(loss)}."
    else:
        beaten = f"It is no better and no worse than adding beyond chance (gain {written_range(gain)})."
    sentences = [beaten, calibration_sentence(model), *_factor_sentences(model), *_learned(model), *_best_fix(model)]
    sentences += slice_sentences(model)
    if model.explained == model.explained:
        sentences.append(f"{whole_percent(max(model.explained, 0.0))} of its error over noise has a named cause.")
    return [sentence for sentence in sentences if sentence]


def slice_sentences(model: ModelScore) -> list[str]:
    """Say of each slice how much of the error it carries.

    Examples
    --------
    >>> import numpy as np, recombine as rc
    >>> rng, cells = np.random.default_rng(0), np.indices((8, 8, 4)).reshape(3, -1).T
    >>> design = rc.Design.from_cells(cells, rng.normal(size=256), train=rng.random(256) < 0.5, names=list("abc"))
    >>> missed = design.outcome[~design.train] + 0.3 * rng.normal(size=len(design.held_out))
    >>> missed[design.held_out[:, 1] == 3] += 2
    >>> print(*slice_sentences(rc.score(design, {"net": missed}).models[0]))
    b=3, 13 % of the determined cells, carries 89 % of its squared error: 54.1 [41.2, 71.1] times that of the others,
    and predictions are 2.06 too high on average.
    """
    return [
        f"{worst.name}, {whole_percent(worst.share_of_cells)} of the determined cells, carries "
        f"{whole_percent(worst.share_of_error)} of its squared error: {with_range(worst.times)} times that of the "
        f"others{_which_way(worst.miss)}."
        for worst in model.slices
    ]


def _which_way(miss: Amount | None) -> str:
    """Say whether predictions of a slice are too high or too low, if beyond chance."""
    if miss is None or not (miss.low > 0 or miss.high < 0):
        return ""
    return f", and predictions are {few_digits(abs(miss.value))} too {'high' if miss.value > 0 else 'low'} on average"


def calibration_sentence(model: ModelScore) -> str:
    """Say whether a model's chances are right, too extreme, too timid, too high or too low; empty of other outcomes.

    Examples
    --------
    >>> import numpy as np, recombine as rc
    >>> rng, cells = np.random.default_rng(0), np.repeat(np.indices((8, 6, 5)).reshape(3, -1).T, 8, axis=0)
    >>> odds = (cells - cells.mean(axis=0)) @ [0.4, 0.3, 0.2]
    >>> y = (rng.random(len(cells)) < 1 / (1 + np.exp(-odds))).astype(float)
    >>> design = rc.Design.from_cells(cells, y, train=cells.sum(axis=1) % 3 > 0)
    >>> odds = 2 * (design.held_out - cells.mean(axis=0)) @ [0.4, 0.3, 0.2]
    >>> print(calibration_sentence(rc.score(design, {"net": 1 / (1 + np.exp(-odds))}).models[0]))
    Its chances are over-confident: to be right, log odds would have to be multiplied by 0.472 [0.383, 0.561] and
    raised by 0.00159 [−0.17, 0.173].
    """
    told = model.calibration
    if told is None:
        return ""
    phrases = {
        "over-confident": told.over_confident,
        "under-confident": told.under_confident,
        "too high throughout": told.too_high,
        "too low throughout": told.too_low,
    }
    verdict = join_words([phrase for phrase, holds in phrases.items() if holds])
    slope = f"log odds would have to be multiplied by {with_range(told.slope)}"
    if told.intercept is not None:
        slope += f" and raised by {with_range(told.intercept)}"
    clipped = (
        f" ({plural(told.clipped, 'cell')} had chances of 0 or 1, taken as a little less sure)" if told.clipped else ""
    )
    if verdict:
        return f"Its chances are {verdict}: to be right, {slope}{clipped}."
    return f"Its chances are not off beyond what is told on {plural(told.cells, 'cell')}: {slope}{clipped}."


def _learned(model: ModelScore) -> list[str]:
    """Say how much of what the structure leaves another model got right, and how much none did."""
    assert model.attribution is not None
    of_structure = [name for name in model.causes if CAUSES[name].of == "data" and not CAUSES[name].is_noise]
    by_none = whole_percent(sum(model.share(model.causes[name].value) for name in of_structure))
    sentences = []
    for name, by in model.attribution.by.items():
        amount = model.causes[name]
        share = Amount(*(model.share(end) for end in (amount.value, amount.low, amount.high)))
        sentences.append(
            f"{share.percent} of its error ({share.percent_range}) {by} got right from the same seen cells although "
            f"it does not follow from what is assumed; {by_none} no other model got right."
        )
    return sentences


def _best_fix(model: ModelScore) -> list[str]:
    """Say which cause is best undone if only one is, where that is beyond chance."""
    name, removed = max(model.removals.items(), key=lambda item: item[1].value)
    if not removed.low > 0:
        return []
    share = Amount(*(min(model.share(end), 1.0) for end in (removed.value, removed.low, removed.high)))
    return [f"Undoing the {name} alone would remove {share.percent} of its error ({share.percent_range})."]


def removals_sentence(model: ModelScore) -> str:
    """Say what undoing each cause alone removes; empty where causes are not told apart."""
    if model.below_noise is not None or not model.removals:
        return ""
    texts = [f"{name} {with_range(amount)}" for name, amount in model.removals.items()]
    return f"What undoing one cause alone removes: {', '.join(texts)}."


def _what_gain_is(score: Score, gain: Amount) -> str:
    """Say what a gain is made of: adding carries the noise of the seen cells, and a model need not."""
    carried, choice = 0.0 if score.noise is None else float(score.noise.carried.mean()), score.audit.choice
    adds = choice.structure.is_sum and choice.order == 1  # larger sums carry more of it than adding does
    if adds and carried and gain.high <= carried:
        return ", no more than the noise of the seen cells that adding carries"
    if carried and gain.low > carried:
        return ": departures that it got right"
    return ": departures that it got right, or less of the seen cells' noise"


def _factor_sentences(model: ModelScore) -> list[str]:
    """Say of each cause which factors it is clearly about, and how far."""
    assert model.attribution is not None
    smallest = SCORE_LIMITS.share_told * model.attribution.error.value
    sentences = []
    for name, table in model.attribution.per_factor.items():
        messages = [
            CAUSES[name].message(factor, coefficient)
            for factor, coefficient in table.coefficients.items()
            if table.amounts[factor].low > 0 and table.amounts[factor].value >= smallest
        ]
        told = [f"{message}." for message in messages if message]
        sentences += told[: SCORE_LIMITS.max_factors_told]
        if len(told) > SCORE_LIMITS.max_factors_told:
            sentences.append(
                f"The same cause, {name}, holds of {plural(len(told) - SCORE_LIMITS.max_factors_told, 'more factor')}."
            )
    return sentences


def unclear_sentences(score: Score) -> list[str]:
    """Say what cannot be told apart, or was not told at all."""
    sentences = []
    if score.regressors is None:
        number = {0: "No held-out cell is", 1: "1 held-out cell is"}.get(
            score.determined, f"{score.determined:,} held-out cells are"
        )
        sentences.append(
            f"{number} determined, and it takes {SCORE_LIMITS.min_cells_for_causes} to tell causes apart: hold out "
            "whole cells whose levels were trained on (recombine split --test determined:0.2 does)."
        )
    else:
        sentences += [_confounded(group) for group in confounded_columns(score.regressors)]
        sentences += [_nested(*pair) for pair in score.regressors.nested]
        if score.regressors.network is None:
            sentences.append("Memorization is part of the rest: no wide network was fitted to these seen cells.")
        if score.noise is None:
            sentences.append("Noise cannot be told from structure: no row repeats, so structure holds both.")
    if score.noise is not None and not score.noise.carried.any():
        sentences.append("The noise of the seen cells cannot be told from structure: structure holds both.")
    repeated = int((score.codes == Verdict.SEEN).sum())
    if repeated:
        sentences.append(f"{plural(repeated, 'held-out cell')} were seen in training too: they test no recombination.")
    gaps = RowsLeftOut().find(score.design)
    return sentences if gaps is None else [*sentences, f"{gaps.message}."]


def _confounded(group: tuple[tuple[str, str], ...]) -> str:
    """Say which causes the cells confound."""
    names = [f"the {cause} of {factor}" if factor else f"the {cause}" for cause, factor in group]
    return f"T{' and '.join(names)[1:]} cannot be told apart: only their sum is known."


def _nested(child: str, parent: str) -> str:
    """Say what slopes of nested factors mean."""
    return (
        f"{child} lies inside {parent}: the data know only the sum of their effects. What is called the effect of "
        f"{parent} is the mean over the levels of {child} in it, that of {child} how much each differs from this mean."
    )


def factors_caption(model: ModelScore) -> str:
    """Say what a model's table of factors holds, and what its coefficients are."""
    causes = [CAUSES[name] for name in (model.attribution.per_factor if model.attribution else ())]
    coefficients = [cause.coefficient for cause in causes if cause.coefficient is not None]
    meanings = "; ".join(f"{coefficient.heading}: {coefficient.meaning}" for coefficient in coefficients)
    return f"{model.name}, factor by factor, and the squared error of each cause. {meanings}."


def causes_alternative(score: Score, largest: int = 3) -> str:
    """Say in words what the bars of causes show: the ``largest`` of each model."""
    texts = []
    for model in score.models:
        assert model.attribution is not None
        ordered = sorted(model.causes.items(), key=lambda item: -item[1].value)[:largest]
        told = ((name, model.share(amount.value)) for name, amount in ordered)
        shares = ", ".join(f"{name} {whole_percent(share)}" for name, share in told if share == share)
        texts.append(f"{model.name}: {shares or 'no share has a meaning'}")
    return f"Stacked bars of squared error by cause; the largest of {'; '.join(texts)}. The table gives all numbers."


def with_range(amount: Amount) -> str:
    """Write an amount and its range."""
    return f"{few_digits(amount.value)} {written_range(amount)}".replace("-", "−")


def written_range(amount: Amount) -> str:
    """Write the range of an amount."""
    return f"[{few_digits(amount.low)}, {few_digits(amount.high)}]".replace("-", "−")
