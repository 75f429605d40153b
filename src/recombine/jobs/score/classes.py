"""Several classes: one design per class, all with the same cells."""

from __future__ import annotations

from typing import Unpack

from recombine.design.design import Design
from recombine.errors import InputError
from recombine.table_spec import TableFields, TableSpec, make_spec
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


def class_designs(
    data: object, spec: TableSpec | None = None, *, held_out: object = None, **fields: Unpack[TableFields]
) -> dict[str, Design]:
    """Return class -> design whose outcome is the chance of that class, in order.

    Parameters
    ----------
    data : path or dataframe
    spec : TableSpec, optional
        How the table is read; its outcome is the column of classes, text or numbers.
    held_out : path or dataframe, optional
        As `Design.from_frame` takes it.
    **fields
        Those of `recombine.TableSpec`; they replace those of ``spec``.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"a": list("xxyy"), "b": list("pqpq"), "kind": ["cat", "dog", "owl", "cat"]})
    >>> designs = class_designs(frame, factors=["a", "b"], outcome="kind")
    >>> {name: design.outcome.tolist() for name, design in designs.items()}
    {'cat': [1.0, 0.0, 0.0, 1.0], 'dog': [0.0, 1.0, 0.0, 0.0], 'owl': [0.0, 0.0, 1.0, 0.0]}
    """
    spec = make_spec(spec, fields)
    if spec.outcome is None:
        raise InputError("which column holds the classes? Name it with --outcome")
    source = open_table(data)
    classes = classes_of(source, spec.outcome)
    if len(classes) < 2:
        raise InputError(
            f"outcome {spec.outcome!r} of {source.name} has one value only; there is no class to tell it from"
        )
    each = {name: make_spec(spec, {"outcome": f"{spec.outcome}={name}"}) for name in classes}
    return {name: Design.from_frame(data, named, held_out=held_out) for name, named in each.items()}
