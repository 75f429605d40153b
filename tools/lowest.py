"""Print the lowest versions that pyproject.toml allows, as a pip constraints file.

    python tools/lowest.py test,nets > lowest.txt

Every direct dependency of the package and of the named extras is pinned to its lower bound; what these need in turn is
left to pip. A dependency without a lower bound is an error: nobody could say what it was tested with.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).parents[1] / "pyproject.toml"
REQUIREMENT = re.compile(r"(?P<name>[A-Za-z0-9._-]+)\s*(\[(?P<extras>[^]]*)\])?\s*(?P<versions>[^;]*)(;.*)?")
FLOOR = re.compile(r">=\s*([0-9][0-9a-z.]*)")


def requirements(project: dict[str, Any], extras: Iterable[str]) -> Iterator[str]:
    """Yield what the package and some of its extras ask for, extras of extras too.

    >>> example = {"name": "me", "dependencies": ["a>=1"], "optional-dependencies": {"x": ["me[y]"], "y": ["b>=2"]}}
    >>> list(requirements(example, ["x"]))
    ['a>=1', 'b>=2']
    """
    yield from project["dependencies"]
    waiting, known = list(extras), set()
    while waiting:
        extra = waiting.pop()
        if extra in known:
            continue
        known.add(extra)
        if extra not in project["optional-dependencies"]:
            there = ", ".join(sorted(project["optional-dependencies"]))
            raise SystemExit(f"lowest: pyproject.toml has no extra {extra!r}; there are {there}")
        for line in project["optional-dependencies"][extra]:
            name, inner, _ = parts(line)
            if name == project["name"]:
                waiting += inner
            else:
                yield line


def parts(requirement: str) -> tuple[str, list[str], str]:
    """Take a requirement apart: its name, its extras, its versions.

    >>> parts("dask[distributed]>=2024.8,<3")
    ('dask', ['distributed'], '>=2024.8,<3')
    """
    found = REQUIREMENT.fullmatch(requirement)
    if found is None:
        raise SystemExit(f"lowest: cannot read {requirement!r} in pyproject.toml; write it as name[extra]>=version")
    extras = [extra.strip() for extra in (found["extras"] or "").split(",") if extra.strip()]
    return found["name"].lower().replace("_", "-"), extras, found["versions"].strip()


def floors(lines: Iterable[str]) -> dict[str, str]:
    """Return the lower bound of each requirement; of one that is named twice, the higher one.

    >>> floors(["numpy>=1.26", "duckdb>=1.4.1,<2", "numpy>=2"])
    {'duckdb': '1.4.1', 'numpy': '2'}
    """
    lowest: dict[str, str] = {}
    for line in lines:
        name, _, versions = parts(line)
        bound = FLOOR.search(versions)
        if bound is None:
            raise SystemExit(f"lowest: {name} has no lower bound in pyproject.toml; write {name}>=version")
        lowest[name] = max(lowest.get(name, "0"), bound[1], key=_order)
    return dict(sorted(lowest.items()))


def _order(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)]


def main(arguments: list[str]) -> int:
    """Print one pinned version per line."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    extras = [extra for argument in arguments for extra in argument.split(",") if extra]
    for name, version in floors(requirements(project, extras)).items():
        print(f"{name}=={version}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
