"""The command about activations: does a model's representation compose?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from recombine.cli.outputs import Outputs
from recombine.cli.table_options import takes_table


@takes_table(outputs=("json",), panel="Activations")
def inspect_command(
    file: Annotated[
        Path,
        typer.Argument(help="Activations: .npy, or .npz with one array per layer. One axis per factor, then features."),
    ],
    factors: Annotated[str, "Names of the first axes, separated by commas: x,y.", "NAMES"],
    outputs: Outputs,
    seen: Annotated[
        Path | None, "Cells trained on: a mask (.npy) or a table with one row per seen cell, levels from 0."
    ] = None,
    truth: Annotated[Path | None, "The right outputs (.npy), in the shape of the last layer."] = None,
    background: Annotated[str, "What all cells share and is taken away first.", "median|mean|none"] = "median",
) -> None:
    """Say whether a model's activations compose, where they stop moving, and how additive each layer is."""
    from recombine import inspect
    from recombine.lab.inspection.sections import inspection_json, inspection_sections

    inspection = inspect(file, factors, seen=seen, truth=truth, background=background)
    outputs.answer(inspection, inspection_json, inspection_sections)
