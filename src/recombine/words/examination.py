"""Several models side by side in words: which misses least, what was foretold of them, and which failed."""

from __future__ import annotations

from collections.abc import Iterator

from recombine.data.hit_rates import hit_rate, hit_rates
from recombine.jobs.comparison.model_pairs import model_pairs
from recombine.jobs.examination.foretold import BEFORE
from recombine.jobs.score import Score
from recombine.writing import few_digits, join_words


def models_beside(score: Score) -> list[str]:
    """Say how models compare, with each other and with what was forecast of them, and which of them failed."""
    return [*best_sentences(score), *foretold_sentences(score), *failed_sentences(score)]


def best_sentences(score: Score) -> list[str]:
    """Say which model misses unseen cells least, and whether beyond chance; nothing of one model.

    Examples
    --------
    >>> import numpy as np, recombine as rc
    >>> cells = np.indices((9, 9)).reshape(2, -1).T
    >>> design = rc.Design.from_cells(cells, cells @ [1.0, 2.0], train=cells.sum(axis=1) % 3 > 0)
    >>> right, noise = design.held_out @ [1.0, 2.0], np.random.default_rng(0).normal(size=27)
    >>> print(best_sentences(rc.score(design, {"rough": right + noise, "near": right + 0.1 * noise}))[0])
    near misses least: rough by 0.696 [0.226, 1.17] more in squared error.
    """
    pairs = model_pairs(score)
    if not pairs:
        return []
    errors = {model.name: model.unseen_error.value for model in score.models}
    best = min(errors, key=errors.__getitem__)
    beaten, level = [], []
    for pair in sorted(pairs, key=lambda pair: -pair.difference.value):
        if best in (pair.better, pair.other):
            worse = pair.other if pair.better == best else pair.better
            low, high = (few_digits(end).replace("-", "−") for end in (pair.difference.low, pair.difference.high))
            text = f"{worse} by {few_digits(pair.difference.value)} [{low}, {high}]"
            beaten += [text] if pair.beyond_chance else []
            level += [] if pair.beyond_chance else [worse]
    if not beaten:
        return [f"{best} misses least, but its lead over {join_words(level)} may be chance."]
    sentences = [f"{best} misses least: {join_words(beaten)} more in squared error."]
    return sentences + ([f"Its lead over {join_words(level)} may be chance."] if level else [])


def foretold_sentences(score: Score) -> list[str]:
    """Say what the training cells foretold of models, beside what happened, and how often that is right."""
    told = [
        f"{name} missed by {few_digits(error)} (roots within 20 % in {hit_rate(case)} of a {family})"
        for name, family, case, error in _foretold(score)
    ]
    if not told:
        return []
    lead = f"The other folds' cells foretold {few_digits(score.forecasts[BEFORE])} before training"
    return [f"{lead}; {join_words(told)}."]


def foretold_in_short(score: Score) -> str:
    """Say it on one line."""
    told: list[str] = []
    for name, _, case, error in _foretold(score):
        rate, missed = hit_rates()["sentences"][case], few_digits(error)
        right = f"{rate['right']} of {rate['of']}"
        told.append(f"{name} by {missed} ({right})" if told else f"{name} missed by {missed} (right in {right})")
    return f"{few_digits(score.forecasts[BEFORE])}; {', '.join(told)}" if told else ""


def _foretold(score: Score) -> Iterator[tuple[str, str, str, float]]:
    """Yield each model whose error was foretold: name, family, the case whose rate of hits is known, and its error."""
    errors = {row["predictions"]: row["squared error"] for row in score.errors.rows() if BEFORE in score.forecasts}
    for name, family in score.families.items():
        case = f"error of {family} before training"
        if name in errors and case in hit_rates()["sentences"]:
            yield name, family, case, errors[name]


def failed_sentences(score: Score) -> list[str]:
    """Say which models could not be examined, and why."""
    return [
        f"{name} could not be examined: in fold {stop.fold} of {stop.folds}, on {stop.training_rows:,} training rows, "
        f"it {stop.problem}."
        for name, stop in score.failed.items()
    ]
