"""Figures of multi-task learning and pretraining on made-up rows: what they show, and what their words spell out."""

from __future__ import annotations

import re

import numpy as np
import pytest
from multitask_rows import PAPER, SAMPLES, SEEDS, bent, evidence, made_up, table_of

from recombine.lab.papers.multitask.experiments.students import CORRELATIONS
from recombine.lab.papers.reproduce import Reproduction
from recombine.lab.report.figure import PaperFigure
from recombine.lab.report.page import paper_page


def figure(name: str) -> PaperFigure:
    return PaperFigure(next(plot for plot in PAPER.figures if plot.name == name), made_up())


@pytest.mark.parametrize("name", [plot.name for plot in PAPER.figures])
def test_figures_tell_their_lines_apart(name: str) -> None:
    drawn = figure(name)
    assert drawn.alternative.endswith(".")
    for axes in drawn.draw().axes:
        named = [line for line in axes.get_lines() if not line.get_label().startswith("_")]
        looks = {(str(line.get_color()), str(line.get_linestyle()), str(line.get_marker())) for line in named}
        assert len(looks) == len(named)


@pytest.mark.parametrize(
    ("name", "experiment", "column"),
    [
        ("relu", "relu-correlation", "correlation"),
        pytest.param("relu", "relu-correlation", "method", marks=pytest.mark.slow),
        pytest.param("relu-published", "relu-correlation", "method", marks=pytest.mark.slow),
        pytest.param("relu-units", "relu-units", "units", marks=pytest.mark.slow),
        ("relu-units", "relu-units", "method"),
        ("relu-magnitude", "relu-magnitude", "cosine"),
        ("rescaling", "rescaling", "network"),
    ],
)
def test_figures_of_runs_that_were_stopped_early_can_be_drawn(name: str, experiment: str, column: str) -> None:
    plot, results = next(plot for plot in PAPER.figures if plot.name == name), made_up()
    rows = results[experiment].table
    for value in sorted(set(rows[column].tolist())):
        part = rows.where(rows[column] == value)
        drawn = PaperFigure(plot, {**results, experiment: evidence(experiment, "full", part)})
        assert drawn.alternative.endswith(".")
        assert drawn.draw().axes


@pytest.mark.slow
def test_every_network_and_every_student_is_shown() -> None:
    titles = [axes.get_title(loc="left") for axes in figure("rescaling").draw().axes]
    assert titles == ["ResNet-18", "Gain over s = 1, points", "ViT", "Gain over s = 1, points"]
    named = [axes.get_title(loc="left") for axes in figure("layers").draw().axes]
    networks = ("ResNet-18", "ResNet-18, centred", "ViT")
    assert named == [f"{name}, s = {factor}" for factor in ("1", "1/8") for name in networks], "and no empty panel"
    assert len(figure("relu").draw().axes) == len(CORRELATIONS)
    names = {plot.name for plot in PAPER.figures}
    shown = {claim.number for claim in PAPER.claims if names.intersection(claim.figures)}
    assert {"14a", "14b", "14c", "20", "21b", "23a"} <= shown


def test_gains_are_written_as_the_claims_have_them() -> None:
    """From below: the control, then 1/8 to 2; the last column is what claims 15a, 15b and 15c judge."""
    canvas, control, tuned = figure("rescaling").draw(), ["1/8*"], ["1/8", "1/4", "1/2", "2"]
    for axes, factors in zip(canvas.axes[1::2], (control + tuned, tuned), strict=True):
        assert [label.get_text() for label in axes.get_yticklabels()] == factors
        assert [label.get_text() for label in axes.get_xticklabels()] == [*map(str, SAMPLES), "mean"]
        assert len(axes.texts) == 2 * len(factors) * (len(SAMPLES) + 1)
    table = figure("rescaling").table.only(network="resnet", samples=0, factor=0.125)
    written = {row["method"]: f"{row['gain']:+.1f}" for row in table.rows()}
    assert written == {
        method: PAPER.claim(number).read(table_of(number)).parts[0].value.split()[0]
        for number, method in (("15a", "pt+ft"), ("15c", "pt+ft recalibrated"))
    }


def test_every_network_of_the_nested_study_has_a_mark_joined_to_theory_of_its_seed() -> None:
    table = figure("nested").table
    seen = table.only(source="trained")
    assert len(seen) == 2 * 4 * 5 * len(SEEDS)
    late = seen.where(seen["reached 1e-10"] == 0)
    assert set(zip(late["scaling"].tolist(), late["active"].tolist(), strict=True)) == {(0.1, 5), (0.01, 5), (0.001, 5)}
    assert late["relative loss"] - late["theory of these seeds"] == pytest.approx(1, abs=1e-9), "ten times too large"
    drawn = [line for axes in figure("nested").draw().axes for line in axes.get_lines()]
    lines = [line for line in drawn if line.get_color() != "0.5"]
    assert len(drawn) - len(lines) == 2 * 4, "published ones, by place and scaling"
    assert sum(line.get_marker() in tuple("osD^") for line in lines) == len(seen)
    assert sum(line.get_marker() in tuple("osD^") and line.get_markerfacecolor() == "none" for line in lines) == len(
        late
    )
    assert sum(line.get_marker() == "_" for line in lines) == len(seen)


def test_a_setting_of_which_some_seeds_learned_has_one_mark_half_full() -> None:
    results = made_up()
    rows = results["overlap-networks"].table
    whole = (rows["method"] == "pt+ft") & (rows["overlap"] == 40)
    few = whole & (rows["n"] == rows["n"][whole].min())
    some = bent(rows, stopped=lambda rows: np.where(few, rows["seed"] == rows["seed"].min(), True))
    drawn = PaperFigure(figure("samples").plot, {**results, "overlap-networks": evidence("x", "full", some)})
    seen = drawn.table.only(source="trained", method="pt+ft", overlap=40)
    assert sorted(seen["samples"].tolist()) == sorted(set(rows["n"][whole].tolist())), "one mark a setting"
    assert seen["samples"][(seen["reached 1e-10"] > 0) & (seen["reached 1e-10"] < 1)].tolist() == [rows["n"][few][0]]
    lines = [line for axes in drawn.draw().axes for line in axes.get_lines()]
    assert sum(line.get_fillstyle() == "left" for line in lines) == 1


@pytest.mark.parametrize("name", ["samples", "relu", "rescaling"])
def test_every_number_of_samples_that_fits_is_written(name: str) -> None:
    canvas = figure(name).draw()
    written = [[label.get_text() for label in axes.get_xticklabels()] for axes in canvas.axes]
    assert any({"32", "128"} <= set(labels) or {"20", "100", "500"} <= set(labels) for labels in written)


def test_captions_say_how_much_was_run_of_networks_as_well() -> None:
    results = {**made_up(), "nested": evidence("nested", "quick", made_up()["nested"].table)}
    caption = PaperFigure(figure("nested").plot, results).caption
    assert "Run: nested all of the small grid, nested-networks all of our full grid." in caption


def test_the_page_spells_out_every_abbreviation_before_the_first_claim() -> None:
    texts = [text for claim in PAPER.claims for text in (claim.statement, claim.expected)]
    texts += [plot.caption for plot in PAPER.figures]
    found = set(re.findall(r"\b[A-Z][A-Z+]*[A-Z0-9]\b", " ".join(texts))) - {"CIFAR", "HTML"}
    assert found == set(PAPER.words) - {"m, s", "n"}
    head, _, _ = paper_page(Reproduction(PAPER, PAPER.chosen(["16b"]), {})).partition("<main>")
    for word, meaning in PAPER.words.items():
        assert f"<dt>{word}</dt><dd>{meaning}</dd>" in head
