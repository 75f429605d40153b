"""Several classes: one design per class, all with the same cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from recombine.design.design import Design
from recombine.errors import InputError
from recombine.tables.columns import classes_of
from recombine.tables.frames import open_table


def has_classes(data: object, outcome: str) -> bool:
    """Say whether an outcome column is text with three values or more.

    Examples
    --------
    >>> import pandas as pd
    >>> [has_classes(pd.DataFrame({"kind": list(values)}), "kind") for values in ("aab", "abc")]
    [False, True]
    """
    source = open_table(data)
    if outcome not in source.columns or source.kind(outcome) != "text":
        return False
    return len(classes_of(source, outcome)) > 2


def class_designs(data: object, factors: Sequence[str], outcome: str, **options: Any) -> dict[str, Design]:
    """Return class -> design whose outcome is the chance of that class, in order.

    Parameters
    ----------
    data : path or dataframe
    factors : sequence of str
    outcome : str
        Column of classes, text or numbers.
    **options
        As `Design.from_frame` takes them: ``split``, ``held_out``, ``weight``, ``symmetric``, ...

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"a": list("xxyy"), "b": list("pqpq"), "kind": ["cat", "dog", "owl", "cat"]})
    >>> {name: design.outcome.tolist() for name, design in class_designs(frame, ["a", "b"], "kind").items()}
    {'cat': [1.0, 0.0, 0.0, 1.0], 'dog': [0.0, 1.0, 0.0, 0.0], 'owl': [0.0, 0.0, 1.0, 0.0]}
    """
    source = open_table(data)
    classes = classes_of(source, outcome)
    if len(classes) < 2:
        raise InputError(f"outcome {outcome!r} of {source.name} has one value only; there is no class to tell it from")
    return {name: Design.from_frame(data, factors, f"{outcome}={name}", **options) for name in classes}
