"""What an inspection may say of models that fail without pasting or stopping: nothing that sounds like praise."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import recombine as rc
from recombine.lab.inspection.reading import LayerReading, judge_layer
from recombine.lab.inspection.words import inspection_sentence, layer_sentence
from recombine.lab.worlds.rendered.bumps import BumpWorld, Hole

WORLD = BumpWorld(side=16, hole=Hole.square(4, 11))
SEEN, FACTORS = WORLD.seen(), ["x", "y"]
CODE = WORLD.grid().codes.reshape(16, 16, -1)
RIGHT = WORLD.grid().images.reshape(16, 16, -1)

PRAISE = ("no sign", "composes", "outputs are right")


def shuffled() -> Any:
    """The right images, dealt out anew among the unseen cells."""
    outputs = RIGHT.copy()
    outputs[~SEEN] = np.random.default_rng(0).permutation(outputs[~SEEN])
    return outputs


def noisy() -> Any:
    noise = RIGHT.std() * np.random.default_rng(0).standard_normal(RIGHT.shape)
    return np.where(SEEN[..., None], RIGHT, noise)


def sums() -> Any:
    """One part per factor, fitted to the seen images."""
    levels = np.hstack([np.repeat(np.eye(16), 16, axis=0), np.tile(np.eye(16), (16, 1))])
    rows = SEEN.reshape(-1)
    parts = np.linalg.lstsq(levels[rows], RIGHT.reshape(256, -1)[rows], rcond=None)[0]
    return (levels @ parts).reshape(RIGHT.shape)


@cache
def trained_decoder() -> Any:
    """Outputs of a rectified network of one hidden layer, trained with Adam on the seen cells until it has them."""
    rng = np.random.default_rng(0)
    codes = np.hstack([CODE.reshape(256, -1), np.ones((256, 1))]).astype(np.float32)
    rows = SEEN.reshape(-1)
    inputs, targets = codes[rows], RIGHT.reshape(256, -1)[rows].astype(np.float32)
    shapes = {(33, 128): 1 / 3, (128, 256): 1 / 128}
    weights = [(scale * rng.standard_normal(shape)).astype(np.float32) for shape, scale in shapes.items()]
    means, squares = [np.zeros_like(w) for w in weights], [np.zeros_like(w) for w in weights]
    for step in range(1, 501):
        hidden = np.maximum(inputs @ weights[0], 0)
        error = (hidden @ weights[1] - targets) / len(inputs)
        for place, slope in enumerate([inputs.T @ (error @ weights[1].T * (hidden > 0)), hidden.T @ error]):
            means[place] = 0.9 * means[place] + 0.1 * slope
            squares[place] = 0.999 * squares[place] + 0.001 * slope**2
            size = np.sqrt(squares[place] / (1 - 0.999**step)) + 1e-8
            weights[place] = weights[place] - 0.01 * (1 - step / 501) * means[place] / (1 - 0.9**step) / size
    return (np.maximum(codes @ weights[0], 0) @ weights[1]).reshape(16, 16, -1)


@pytest.mark.parametrize("outputs", [shuffled, noisy, trained_decoder])
def test_failures_that_neither_paste_nor_stop_are_not_called_right(outputs: Callable[[], Any]) -> None:
    found = rc.inspect(outputs(), FACTORS, seen=SEEN)
    against = rc.inspect(outputs(), FACTORS, seen=SEEN, truth=RIGHT)
    assert against.verdict == "does not compose"
    assert against.truth is not None
    assert against.truth.seen_error < 0.05 * against.truth.variance, "seen cells are learned"
    assert against.truth.relative_error > 1
    assert found.verdict == "keeps moving", "if it pastes or stops, this test says nothing"
    assert "hether predictions of unseen cells are right cannot be told without truth" in inspection_sentence(found)
    assert "? right or wrong cannot be told; the last layer keeps moving" in str(found)
    assert "truth" not in inspection_sentence(against)
    assert not any(words in str(found) for words in PRAISE)


def test_right_outputs_get_the_words_that_wrong_ones_get() -> None:
    """Without the truth the two cannot be told apart, so neither may be praised."""
    right, wrong = (rc.inspect(values, FACTORS, seen=SEEN) for values in (RIGHT, shuffled()))
    assert right.verdict == wrong.verdict
    assert "●" not in str(right)


def test_only_outputs_unlike_mixtures_are_called_no_mixture() -> None:
    assert "no mixture" in inspection_sentence(rc.inspect(RIGHT, FACTORS, seen=SEEN))
    decoder = rc.inspect(trained_decoder(), FACTORS, seen=SEEN)
    assert decoder.layers[0].pasted > 0.3
    assert "no mixture" not in inspection_sentence(decoder)
    assert f"correlates {decoder.layers[0].pasted:.2f}" in inspection_sentence(decoder)


def stored_networks() -> list[tuple[str, LayerReading, float]]:
    """Decoder, what was measured and error on unseen cells of each network with a hole, trained on bright bumps."""
    frame = pd.read_parquet(Path(__file__).parents[3] / "results" / "forced-rendering" / "donut-full.parquet")
    measures = {"volume_ratio": "volume ratio", "pasted": "pasted", "pasted_seen": "pasted seen"}
    return [
        (
            f"{row['model'].upper()} | {row['code']}",
            LayerReading(
                "output",
                784,
                row["additive share"],
                row["factorization"],
                (1.0, 1.0),
                (1.0, 1.0),
                None,
                **{name: row[column] for name, column in measures.items()},
            ),
            row["relative error"],
        )
        for row in frame[frame["target"] == "images"].to_dict("records")
    ]


def test_stored_networks_that_fail_are_not_praised_and_the_manual_counts_them() -> None:
    counts: dict[str, dict[str, int]] = {}
    for decoder, reading, error in stored_networks():
        assert error > 0.5
        layer = judge_layer(reading, seen_given=True)
        sentence = layer_sentence(layer, ("x", "y"))
        assert not any(words in sentence for words in PRAISE)
        assert "no mixture" not in sentence or reading.pasted < 0.3
        row = counts.setdefault(decoder, dict.fromkeys(["pastes", "stops moving", "keeps moving"], 0))
        row[layer.verdict] += 1
    manual = (Path(__file__).parents[3] / "docs" / "inspect.md").read_text(encoding="utf-8")
    for decoder, row in counts.items():
        total = sum(row.values())
        shares = " | ".join(f"{count / total:.0%}".replace("%", " %") for count in row.values())
        assert f"| {decoder} | {total} | {shares} |" in manual


@pytest.mark.parametrize("kind", ["sums fitted to seen images", "untrained"])
def test_outputs_that_add_are_not_said_to_compose(kind: str) -> None:
    rng = np.random.default_rng(0)
    untrained = np.maximum(CODE @ rng.standard_normal((32, 64)), 0) @ rng.standard_normal((64, 256))
    outputs = sums() if kind.startswith("sums") else untrained
    found = rc.inspect(outputs, FACTORS, seen=SEEN)
    assert found.verdict == "adds"
    assert "unseen cells are right cannot be told without truth" in " ".join(str(found).split())
    assert "? right or wrong cannot be told; the last layer adds" in str(found)
    assert not any(words in str(found) for words in PRAISE)
    assert ("unseen cells are sums" in inspection_sentence(found)) == kind.startswith("sums")
    assert rc.inspect(outputs, FACTORS, seen=SEEN, truth=RIGHT).verdict == "does not compose"


def test_sums_painted_into_the_hole_alone_paste() -> None:
    """Even where they make most of the variance additive."""
    found = rc.inspect(np.where(SEEN[..., None], RIGHT, sums()), FACTORS, seen=SEEN)
    assert found.layers[0].additive > 0.5
    assert found.verdict == "pastes"
