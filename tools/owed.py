"""Which experiments still owe units, and which sets of images those need; asked at home, before a pack is made."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from recombine.lab.papers import available, find
from recombine.lab.papers.reproduce import Order, owed_experiments
from recombine.lab.runs import Store


@dataclass(frozen=True)
class Owed:
    """Papers by name, and for each of their experiments that owe units the sets of images those name."""

    papers: list[str]
    experiments: dict[str, frozenset[str]]

    @property
    def images(self) -> list[str]:
        """Every set of images that some unit names."""
        return sorted(set().union(*self.experiments.values()))

    def runs_without(self, images: Collection[str]) -> list[str]:
        """Return the calls of ``run`` that name the owed claims which do without these sets of images."""
        owed = {name for name, needs in self.experiments.items() if needs.isdisjoint(images)}
        claims = {
            name: [claim.number for claim in find(name).claims if f"{name}/{claim.reads}" in owed]
            for name in self.papers
        }
        return [f"run {name} --only {','.join(numbers)}" for name, numbers in claims.items() if numbers]


def owed_units(names: Sequence[str], results: Path) -> Owed:
    """Return what the papers (all, where none is named) owe at full size beyond the results."""
    papers = [find(name) for name in names] or list(available().values())
    with tempfile.TemporaryDirectory() as empty:
        owed = [
            experiment
            for paper in papers
            for experiment in owed_experiments(Order(paper, "full"), Store(empty), results=results)
        ]
    images = {work.name: {unit.setting.get("images") for unit in work.units("full")} for work in owed}
    needs = {name: frozenset(map(str, named - {None, "digits"})) for name, named in images.items()}
    return Owed([paper.name for paper in papers], needs)
