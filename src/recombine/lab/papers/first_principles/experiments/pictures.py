"""First principles: what trained decoders draw, and where on the plane of both sprites' x they err.

Images and maps are kept as text in the rows, so that figures can be drawn from committed results without training.
"""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray
from recombine.lab.papers.first_principles.experiments.decoders import ALL_SEED, ID_SEED, Condition
from recombine.lab.runs.experiment import Unit
from recombine.measures.outputs.images import error_map, pixel_errors

Rows = list[dict[str, Any]]

#: Pictures from the support and off it.
SHOWN_PICTURES = 3
#: Cells along a side of the error map, as in the paper's figure.
MAP_CELLS = 17


def pack(values: npt.NDArray[Any]) -> str:
    """Return an array as text.

    Examples
    --------
    >>> unpack(pack(np.arange(4, dtype=np.uint8)), np.uint8, (2, 2)).tolist()
    [[0, 1], [2, 3]]
    """
    return base64.b64encode(zlib.compress(np.ascontiguousarray(values).tobytes(), 9)).decode("ascii")


def unpack(text: str, dtype: npt.DTypeLike, shape: tuple[int, ...]) -> npt.NDArray[Any]:
    """Return the array that `pack` turned into text.

    Examples
    --------
    >>> unpack(pack(np.zeros(3, np.float32)), np.float32, (3,)).tolist()
    [0.0, 0.0, 0.0]
    """
    return np.frombuffer(zlib.decompress(base64.b64decode(text)), dtype=dtype).reshape(shape)


def slot_pictures(unit: Unit) -> Rows:
    """Train one model and return what it draws next to the truth, and its maps of errors: one row for each of them.

    ``what`` says what a row is: "ID" and "OOD" pictures (target above prediction, uint8), the mean error of each pixel
    ("pixels") and the mean error for each pair of x ("x and x").
    """
    condition = Condition.of(unit)
    trained = condition.train(unit.seeds)
    about = {name: unit.setting[name] for name in ("scale", "support", "model", "targets")}
    about |= {"seed": unit.seeds[0], "side": condition.world.side}
    data = [_pairs(condition, trained, which) for which in (ID_SEED, ALL_SEED)]
    data += [errors.astype(np.float32) for errors in _maps(condition, trained)]
    whats = ("ID", "OOD", "pixels", "x and x")
    return [{**about, "what": what, "data": pack(array)} for what, array in zip(whats, data, strict=True)]


def _pairs(condition: Condition, trained: Any, which: int) -> npt.NDArray[Any]:
    """Targets and predictions, (2, pictures, 3, side, side)."""
    units, target = condition.draw(which, SHOWN_PICTURES)
    both = np.stack([images.float().cpu().numpy() for images in (target, condition.predict(trained, units)[0])])
    return (255 * both.clip(0, 1)).round().astype(np.uint8)


def _maps(condition: Condition, trained: Any) -> tuple[FloatArray, FloatArray]:
    units, target = condition.draw(ALL_SEED)
    errors = pixel_errors(condition.predict(trained, units)[0], target)
    each = errors.mean((1, 2)).double().cpu().numpy()
    return errors.double().mean(0).cpu().numpy(), error_map(each, units[:, 0, 0], units[:, 1, 0], MAP_CELLS)
