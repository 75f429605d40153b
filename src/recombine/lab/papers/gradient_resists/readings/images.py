"""Gradient resists: what is read off the rows of networks on pairs of digits.

Published and reference numbers belong to MNIST. Where the 8x8 digits stood in for it, only the direction is judged.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from recombine.lab.papers.measured import Measured, MissingRowsError, stands_in
from recombine.lab.papers.seeds import Estimate, mean_over_seeds, networks_behind
from recombine.tables.table import Table

#: Errors that would follow the right image by chance: 2 labels of the 9 wrong ones.
CHANCE_SHARE = 2 / 9
#: Steps and loss of the published training.
LAST_STEP, HINGE = 200, "categorical-hinge"
SETTINGS = ("A", "B")


def image_runs(rows: Table, loss: str = HINGE, long: bool = False) -> Table:
    """Return the runs of one loss on MNIST, or on what stood in: the paper's 200 steps, or those that went on.

    Examples
    --------
    >>> rows = Table({"images": ["digits", "mnist"], "loss": ["categorical-hinge"] * 2, "steps": [200, 200]})
    >>> image_runs(rows)["images"].tolist()
    ['mnist']
    """
    images = "mnist" if "mnist" in rows["images"].tolist() else "digits"
    runs = rows.only(images=images, loss=loss)
    return runs.where(runs["steps"] > LAST_STEP) if long else runs.where(runs["steps"] == LAST_STEP)


def networks_of_the_figure(rows: Table) -> int:
    """Return how many networks of five seeds and two settings there are."""
    return sum(min(5, len(image_runs(rows).only(setting=setting).by("seed"))) for setting in "AB")


def _at(rows: Table, setting: str, column: str, step: int = LAST_STEP) -> Estimate:
    return mean_over_seeds(rows, column, setting=setting, step=step)


def _both(rows: Table, column: str, words: str = "") -> dict[str, Estimate]:
    return {f"{words or column} of {setting}": _at(rows, setting, column) for setting in SETTINGS}


def _steps(rows: Table, at_least: int = 0) -> list[int]:
    steps = [step for step in sorted(rows.by("step")) if step >= at_least]
    if not steps:
        raise MissingRowsError(f"nothing was recorded from step {at_least} on")
    return steps


def _leads(rows: Table, column: str, ahead: str, behind: str, steps: Iterable[int]) -> dict[str, Estimate]:
    """Return how far one setting is ahead of the other, by step."""
    leads = {}
    for step in steps:
        leader, follower = (_at(rows, setting, column, step) for setting in (ahead, behind))
        error, networks = float(np.hypot(leader.error, follower.error)), min(leader.networks, follower.networks)
        leads[f"step {step}"] = Estimate(leader.mean - follower.mean, error, networks)
    return leads


def generalisation_gaps(rows: Table, loss: str = HINGE) -> Measured:
    """Return training less test accuracy in both settings, after 200 steps; of another loss, on digits of A alone."""
    main = image_runs(rows, loss)
    settings = SETTINGS[:1] if stands_in(main) and loss != HINGE else SETTINGS
    both = {name: [_at(main, name, f"{kind} accuracy") for kind in ("train", "test")] for name in settings}
    gaps = {f"gap of {name}": train.mean - test.mean for name, (train, test) in both.items()}
    words = "; ".join(f"{name} train {train}, test {test}" for name, (train, test) in both.items())
    count = networks_behind(accuracy for ends in both.values() for accuracy in ends)
    return Measured({**gaps, "test accuracy of A": both["A"][1]}, f"{words}; {count}", stands_in=stands_in(main))


def three_convolutions(rows: Table) -> Measured:
    """Return training less test accuracy in both settings of networks with three convolutions, on enlarged digits."""
    gaps, words = {}, []
    for setting in SETTINGS:
        train, test = (_at(rows, setting, f"{kind} accuracy") for kind in ("train", "test"))
        gaps[f"gap of {setting}"] = train.mean - test.mean
        words.append(f"{setting} train {train}, test {test}")
    return Measured(
        gaps, f"{'; '.join(words)}; 8x8 digits with each pixel repeated thrice", note="on digits, not MNIST"
    )


def training_leads(rows: Table) -> Measured:
    """Return how far the training accuracy of A is ahead of B's in early steps."""
    main = image_runs(rows)
    leads = _leads(main, "train accuracy", "A", "B", (20, 30, 50))
    low = min(lead.mean - lead.error for lead in leads.values())
    numbers = {**{f"lead at {step}": lead for step, lead in leads.items()}, "least lead less two standard errors": low}
    detail = f"training accuracy of A less B; {networks_behind(leads.values())}"
    return Measured(numbers, detail, stands_in=stands_in(main))


def unseen_accuracies(rows: Table) -> Measured:
    """Return test accuracies of both settings, and how far B is ahead from step 30 on."""
    main = image_runs(rows)
    ends = _both(main, "test accuracy")
    leads = _leads(main, "test accuracy", "B", "A", _steps(main, 30))
    numbers = {**ends, **{f"B ahead at {step}": lead for step, lead in leads.items()}}
    return Measured(numbers, f"after {LAST_STEP} steps; {networks_behind(ends.values())}", stands_in=stands_in(main))


def late_accuracy(rows: Table) -> Measured:
    """Return the test accuracy of A long after 200 steps, and how far it is below that of B after 200."""
    long = image_runs(rows, long=True)
    last = _steps(long)[-1]
    a, before = _at(long, "A", "test accuracy", last), _at(image_runs(rows), "B", "test accuracy")
    early, control = _at(long, "A", "test accuracy"), long.only(setting="B", step=last)["test accuracy"]
    then = f", and {control.mean():.3f} after {last:,}" if len(control) else ""
    detail = f"A had {early} after {LAST_STEP}; B has {before} after {LAST_STEP}{then}; {networks_behind((a, before))}"
    numbers = {"test accuracy of A": a, "steps": last, f"below B after {LAST_STEP} steps by": before.mean - a.mean}
    return Measured(numbers, detail, stands_in=stands_in(long))


def conditional_bits(rows: Table) -> Measured:
    """Return what predictions tell about the right image beyond the left one, and how much more so in A than in B."""
    main, column = image_runs(rows), "excess information"
    early, late = ({name: _at(main, name, column, step) for name in SETTINGS} for step in (30, LAST_STEP))
    # B is as good as nothing: below a hundredth of a bit, how often A has it says little.
    ratio = late["A"].mean / max(late["B"].mean, 0.01)
    numbers = {
        "A at step 30": early["A"],
        f"A at step {LAST_STEP}": late["A"],
        "B at step 30": early["B"],
        f"B at step {LAST_STEP}": late["B"],
        "A / B at the end": ratio,
    }
    null = mean_over_seeds(main, "null information", setting="B", step=LAST_STEP)
    detail = (
        f"bits beyond chance, of which B counts as 0.01 at least; a predictor that ignores the right image would be "
        f"estimated at {null.mean:.3f} bits, which are subtracted. Untrained networks have "
        f"{_at(main, 'A', column, 0).mean:.3f}; {networks_behind(late.values())}"
    )
    return Measured(numbers, detail, stands_in=stands_in(main))


def marginal_bits(rows: Table) -> Measured:
    """Return how what predictions tell about the right image alone rises and falls."""
    main, column = image_runs(rows), "marginal information"
    steps = _steps(main)
    a, b = ({step: _at(main, setting, column, step).mean for step in steps} for setting in SETTINGS)
    peak, after = max(a, key=a.__getitem__), [b[step] for step in _steps(main, 10)]
    numbers = {
        "peak of A at step": peak,
        "rise of A to its peak": a[peak] - a[steps[0]],
        "fall of A from it": a[peak] - a[steps[-1]],
        "largest rise of B from step 10 on": max((later - earlier for earlier, later in pairwise(after)), default=0.0),
        "B at the end": after[-1],
    }
    bits = [", ".join(f"{value:.3f}" for value in curve.values()) for curve in (a, b)]
    detail = f"steps {', '.join(map(str, steps))}: A {bits[0]}; B {bits[1]} bits"
    return Measured(numbers, detail, stands_in=stands_in(main))


def gradient_shares(rows: Table) -> Measured:
    """Return the share of the right image in the gradient, untrained and after 200 steps."""
    main, column = image_runs(rows), "gradient share"
    start, (a, b) = _at(main, "A", column, 0), (_at(main, setting, column) for setting in SETTINGS)
    numbers = {"untrained": start, "A": a, "B": b, "A less untrained": a.mean - start.mean, "A less B": a.mean - b.mean}
    long, more = image_runs(rows, long=True).only(setting="A"), ""
    if len(long):
        last = _steps(long)[-1]
        more = f"; in A {mean_over_seeds(long, column, step=last).mean:.3f} after {last:,} steps"
    return Measured(numbers, f"after {LAST_STEP} steps; {networks_behind((a, b))}{more}", stands_in=stands_in(main))


def digit_accuracies(rows: Table) -> Measured:
    """Return test accuracies on the bundled digits, after 200 steps."""
    ends = _both(rows.only(images="digits", loss=HINGE, steps=LAST_STEP), "test accuracy")
    return Measured(ends, f"{networks_behind(ends.values())}; 1,300 images to train on, 497 to test")


def errors_by_the_right_image(rows: Table) -> Measured:
    """Return the share of errors in the test that are answers to the right image."""
    main = image_runs(rows)
    shares = _both(main, "errors that follow", "errors")
    words = f"share that are labels that the right image goes with in A's training; by chance {CHANCE_SHARE:.2f}"
    return Measured(shares, f"{words}; {networks_behind(shares.values())}", stands_in=stands_in(main))
