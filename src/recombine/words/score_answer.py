"""The answer of a score: whose the error of each model is, in a screen."""

from __future__ import annotations

from recombine.jobs.limits import SCORE_LIMITS
from recombine.jobs.score import Score
from recombine.jobs.score.model_score import ModelScore
from recombine.verdicts import Verdict
from recombine.words.answer import CAREFUL, LOOK, MORE_NAME, NAME_LETTERS, PREDICTABLE, Answer, AnswerLine
from recombine.words.examination import best_sentences, failed_sentences, foretold_in_short, foretold_sentences
from recombine.words.score import held_out_phrase, score_answers, shares_phrase, unclear_sentences, whose_classes
from recombine.words.table import GUESSED
from recombine.writing import few_digits, listing, plural, whole_percent

#: Models that are told one by one; a screen has room for no more.
MAX_MODELS_TOLD = 4
#: What is left of exact predictions by rounding, as a share of the largest squared error.
SQUARED_ROUNDING = 1e-20
MORE = "--full (score.summary) prints all of it, --html (score.to_html) writes the report"


def score_answer(score: Score) -> Answer:
    """Return the answer of ``score``: what was read, whose each model's error is, what cannot be told.

    Examples
    --------
    >>> import numpy as np, recombine as rc
    >>> cells = np.indices((9, 9)).reshape(2, -1).T
    >>> design = rc.Design.from_cells(cells, cells @ [1.0, 2.0], train=cells.sum(axis=1) % 3 > 0)
    >>> print(score_answer(rc.score(design, {"net": design.held_out @ [1.0, 1.0] + 4})))
    Recombine score of net
    Read          outcome in the table: 54 cells seen, 27 held out that were never seen
    Predictable   27 of 27, if effects add
    net           squared error 6.67: 100 % its own (leak 100 %)
    Beside them   on 27 predictable cells: adding 0, plain mean 34.7, forecast: wide network 0.488,
                    forecast: wide network, readout 0.138
    Not told      Noise cannot be told from structure: no row repeats, so structure holds both.
    Look at       RC601 worse than adding: net misses determined cells by more than adding effects does
    More          --full (score.summary) prints all of it, --html (score.to_html) writes the report
    """
    unseen = int((score.codes != Verdict.SEEN).sum())
    about = f"{score.outcome_name} in {score.design.reading.source}"
    told, guess = score.models[:MAX_MODELS_TOLD], GUESSED if score.design.reading.proposals else ""
    lines = [
        AnswerLine("Read", f"{about}: {held_out_phrase(score)}{guess}"),
        AnswerLine(PREDICTABLE, f"{score.determined:,} of {unseen:,}, if {score.audit.choice.assumption}"),
    ]
    if not unseen:
        lines = [lines[0], AnswerLine(CAREFUL, score_answers(score)[0])]
    lines += [_missed(score, model) for model in told if unseen]
    if len(score.models) > len(told):
        lines.append(AnswerLine("Besides", plural(len(score.models) - len(told), "more model")))
    if unseen:
        best, foretold, failed = (told(score) for told in (best_sentences, foretold_sentences, failed_sentences))
        lines += [
            AnswerLine("Compared", " ".join(best), best[0] if best else ""),
            AnswerLine("Foretold", " ".join(foretold), foretold_in_short(score)),
            AnswerLine("Failed", " ".join(failed), failed[0] if failed else ""),
        ]
    lines.append(_beside(score))
    unclear = unclear_sentences(score)
    lines += [
        AnswerLine("Not told", unclear[0] if unclear else ""),
        _finding(score),
        AnswerLine(MORE_NAME, MORE),
    ]
    title = (
        f"Recombine {'examination' if score.folds else 'score'} of {listing((model.name for model in score.models), 6)}"
    )
    return Answer(title, tuple(lines), _numbers(score))


def _numbers(score: Score) -> dict[str, float]:
    numbers: dict[str, float] = {"predictable": score.determined}
    for model in score.models:
        if model.misses is None:
            numbers[f"squared error of {model.name}"] = model.unseen_error.value
    return numbers


def _missed(score: Score, model: ModelScore) -> AnswerLine:
    """Say what a model misses by, and whose that is."""
    name = model.name if len(model.name) < NAME_LETTERS else f"{model.name[: NAME_LETTERS - 2]}…"
    if model.misses is not None and model.below_noise is None:
        return AnswerLine(name, whose_classes(score, model), last=True)
    error, shares = few_digits(model.unseen_error.value), shares_phrase(model)
    if model.slices and model.slices[0].share_of_error >= SCORE_LIMITS.share_of_main_slice:
        shares += f"; {model.slices[0].name} carries {whole_percent(model.slices[0].share_of_error)} of it"
    squared, in_short = f"squared error {error}", shares_phrase(model, short=True)
    return AnswerLine(
        name, f"{squared}: {shares}" if shares else squared, f"{squared}: {in_short}" if in_short else "", last=True
    )


def _beside(score: Score) -> AnswerLine:
    """Say what simpler predictions miss by on determined cells."""
    names = {model.name for model in score.models}
    errors = {row["predictions"]: row["squared error"] for row in score.errors.rows() if score.determined}
    rounding = SQUARED_ROUNDING * max([error for error in errors.values() if error == error], default=0.0)
    parts = {
        name: f"{name} {few_digits(error if error > rounding else 0.0)}"
        for name, error in errors.items()
        if name not in names and error == error and not (score.folds and name in score.forecasts)
    }
    cells = plural(score.determined, "predictable cell")
    simple = ", ".join(text for name, text in parts.items() if name not in score.forecasts)
    return AnswerLine(
        "Beside them", f"on {cells}: {', '.join(parts.values())}" if parts else "", f"on {cells}: {simple}"
    )


def _finding(score: Score) -> AnswerLine:
    if not score.findings:
        return AnswerLine(LOOK, "")
    worst = score.findings[0]
    short = f"{worst.code} {worst.kind.title}"
    return AnswerLine(LOOK, f"{short}: {worst.message}", short)
