"""Splits of five published tables: the mix asked for beside the mix got, and beside splits that others make.

Verdicts in the columns are the audit's, of the training rows that each split leaves. Then: how alike outcomes become,
how often planted copies of a level are found and how often chance is taken for one, and a million rows.

Run with ``python benchmarks/split.py``; needs what ``benchmarks/real_tables.py`` needs.
"""

from __future__ import annotations

import time
import warnings

import numpy as np
import pandas as pd
from sklearn.model_selection import GroupKFold, ShuffleSplit

import recombine as rc
from real_tables import INSTALL, real_frames
from recombine.jobs.split import check_split, split_table
from recombine.jobs.split.balance import bin_outcomes

TABLES = (
    "nycflights13/flights",
    "lme4/InstEval",
    "ggplot2/diamonds",
    "modeldata/ames",
    "plyr/baseball",
)
MIXES = (
    "determined:0.2",
    "disconnected:0.1",
    "unseen level:0.1",
    "determined:0.2,disconnected:0.1",
    "determined:0.1,disconnected:0.05,unseen level:0.1,seen:0.05",
)
WORDS = ("seen", "determined", "disconnected", "unseen level")


def judged(frame: pd.DataFrame, factors: list[str], train: np.ndarray, test: np.ndarray) -> dict[str, float]:
    """Share of the table's rows in the test, by the audit's verdict on their cells."""
    part = np.full(len(frame), "", dtype=object)
    part[train], part[test] = "train", "test"
    rows = frame[part != ""].assign(part=part[part != ""])
    design = rc.Design.from_frame(rows, factors=factors, split="part=train", crossed=True, as_levels=factors)
    codes, count = rc.audit(design, 1).decided.verdicts_of(design.held_out), design.observed.rows[~design.train]
    return {word: count[codes == place].sum() / len(frame) for place, word in enumerate(WORDS)}


def line(name: str, shares: dict[str, float], more: str) -> None:
    print(f"  {name:<62} " + "  ".join(f"{shares[word]:>12.4f}" for word in WORDS) + f"  {more}", flush=True)


def mixes() -> None:
    for name, frame, factors, outcome in real_frames():
        if name not in TABLES:
            continue
        cells = frame[factors].drop_duplicates().shape[0]
        print(f"\n{name}: {' x '.join(factors)}, {len(frame):,} rows in {cells:,} cells")
        print(f"  {'asked for':<62} " + "  ".join(f"{word:>12}" for word in WORDS) + "  unused, seconds")
        for mix in MIXES:
            start = time.perf_counter()
            (found,) = rc.CellSplit(mix, factors=factors, n_splits=1, random_state=0).row_splits(frame)
            spent = time.perf_counter() - start
            shares = judged(frame, factors, found.train, found.test)
            line(mix, shares, f"{found.unused / len(frame):.4f}  {spent:.1f}")
        groups = frame[factors].agg("/".join, axis=1)
        widest = max(factors, key=lambda factor: frame[factor].nunique())
        others = {
            "random rows, 0.2": next(ShuffleSplit(1, test_size=0.2, random_state=0).split(frame)),
            f"GroupKFold by {widest}": next(GroupKFold(5).split(frame, groups=frame[widest])),
            "GroupKFold by whole cells": next(GroupKFold(5).split(frame, groups=groups)),
        }
        for other, (train, test) in others.items():
            line(other, judged(frame, factors, train, test), "")
        plain, alike = (
            split_table(frame, "determined:0.2", factors=factors, stratify=outcome if wanted else None, seed=1)
            for wanted in (False, True)
        )
        tenth = bin_outcomes(frame[outcome].to_numpy())
        print(f"  outcomes in another tenth than in training: {unlike(plain, tenth):.3f}, stratified", end=" ")
        print(f"{unlike(alike, tenth):.3f}", flush=True)


def unlike(found: object, tenth: np.ndarray) -> float:
    split = found.split  # type: ignore[attr-defined]
    shares = [np.bincount(tenth[rows], minlength=tenth.max() + 1) / len(rows) for rows in (split.train, split.test)]
    return float(np.abs(shares[0] - shares[1]).sum() / 2)


def copies() -> None:
    """Of each table, half of one factor's levels are held out: as they are, and one a copy of a level in training."""
    found = planted = alarms = tables = 0
    named = []
    for name, frame, factors, outcome in real_frames():
        rng = np.random.default_rng(0)
        for factor in factors:
            levels = rng.permutation(np.unique(frame[factor]))
            if len(levels) < 6:
                continue
            held = set(levels[: len(levels) // 2])
            rows = frame.assign(part=np.where(frame[factor].isin(held), "test", "train"))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                before = check_split(rows, factors=factors, split="part", outcome=outcome, as_levels=factors).leaks
            tables += 1
            if any(leak.kind == "copied level" for leak in before):
                alarms += 1
                named += [
                    f"{name}: {text}" for leak in before if leak.kind == "copied level" for text in leak.examples[:1]
                ]
            original = rows[rows[factor] == levels[-1]]
            copy = original.assign(**{factor: "a copy", "part": "test"})
            after = check_split(
                pd.concat([rows, copy]), factors=factors, split="part", outcome=outcome, as_levels=factors
            ).leaks
            planted += 1
            found += any("'a copy'" in text for leak in after if leak.kind == "copied level" for text in leak.examples)
    print(f"\ncopied levels: {found} of {planted} planted ones found; told in {alarms} of {tables} without any planted")
    for text in named:
        print(f"  {text}")


def million() -> None:
    rng = np.random.default_rng(0)
    codes = np.stack(
        [rng.zipf(1.3, 10**6) % 3000, (rng.random(10**6) ** 2 * 500).astype(int), rng.integers(12, size=10**6)]
    )
    frame = pd.DataFrame(codes.T, columns=["user", "item", "month"]).astype(str)
    print("\n1,000,000 rows, user (3,000) x item (500) x month (12)")
    for mix in MIXES:
        start = time.perf_counter()
        (found,) = rc.CellSplit(mix, n_splits=1, random_state=0).row_splits(frame)
        got = ",".join(f"{row['part']}:{row['got']:.5g}" for row in found.shares.rows())
        print(f"  {mix:<62} {got}, unused {found.unused:,}: {time.perf_counter() - start:.1f} s", flush=True)


if __name__ == "__main__":
    if not any(name in TABLES for name, *_ in real_frames()):
        raise SystemExit(f"no table is installed: {INSTALL}")
    mixes()
    copies()
    million()
