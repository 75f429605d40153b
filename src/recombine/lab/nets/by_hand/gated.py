"""Gated linear networks and their ReLU kin, many at once: weights of a unit are looked up by its context.

f(x) = sum_h v_h <w_{h,c_h(x)}, x> + b. Context functions are never trained and belong to the network: they are saved
and loaded with it. One layer is a single unit whose readout is fixed at one. ReLU units have one row of weights and a
gate, their own (w_h x > 0) or one that is frozen (context 1 of a given function).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from recombine.cells.array_files import read_arrays, write_arrays
from recombine.cells.arrays import FloatArray, as_numbers
from recombine.cells.brief import brief_repr
from recombine.checks import whole
from recombine.errors import InputError, near_miss
from recombine.sample_checks import wholes
from recombine.theory.gated.contexts import HalfSpaces, as_points
from recombine.writing import listing

#: How a unit's weights depend on the input.
KINDS = ("one-layer", "contexts", "relu", "frozen")
#: Beyond this many contexts rows are looked up one by one; below, one product for all of them is faster.
FEW_CONTEXTS = 8
#: Samples that are evaluated at once.
OUTPUT_BLOCK_ROWS = 2000


@dataclass(frozen=True, eq=False)
class GatedNetworks:
    """E networks of one shape.

    Attributes
    ----------
    kind : {"one-layer", "contexts", "relu", "frozen"}
    weights : Tensor (E, H, C, d)
        C is 1 for ReLU and frozen units.
    readout : Tensor (E, H)
    bias : Tensor (E,)
    contexts : tuple of HalfSpaces
        One for each network; empty for ReLU units, which make their own gates.

    Examples
    --------
    >>> contexts = [HalfSpaces.random(units=4, bits=1, inputs=3, seed=seed) for seed in (0, 1)]
    >>> networks = GatedNetworks.initial("contexts", seeds=(0, 1), inputs=3, contexts=contexts)
    >>> networks.weights.shape, networks.outputs(np.ones((5, 3))).shape
    (torch.Size([2, 4, 2, 3]), (2, 5))
    """

    kind: str
    weights: Tensor
    readout: Tensor
    bias: Tensor
    contexts: tuple[HalfSpaces, ...] = ()

    __repr__ = brief_repr

    def __post_init__(self) -> None:
        shapes = [tuple(tensor.shape) for tensor in (self.weights, self.readout, self.bias)]
        networks, units, _, inputs = shapes[0] if len(shapes[0]) == 4 else (0, 0, 0, 0)
        _check(self.kind, networks, self.contexts)
        expected = (networks, *_rows(self.kind, self.contexts, units, inputs))
        if 0 in expected or shapes != [expected, expected[:2], expected[:1]]:
            raise InputError(
                f"weights, readout and bias have shapes {listing(shapes)}; these contexts and this kind need "
                f"{expected}, {expected[:2]} and {expected[:1]}"
            )

    @classmethod
    def initial(
        cls,
        kind: str,
        seeds: Sequence[int],
        inputs: int,
        *,
        units: int = 1,
        contexts: Sequence[HalfSpaces] = (),
        device: str = "cpu",
    ) -> GatedNetworks:
        """Draw networks as published: rows of hidden weights orthogonal and of length one, readout of length one.

        ReLU units are Kaiming normal instead, readout included. With more rows than inputs, columns are orthonormal.

        Parameters
        ----------
        kind : str
        seeds : sequence of int
            One for each network.
        inputs : int
        units : int
            Of ReLU networks; otherwise the context functions say how many.
        contexts : sequence of HalfSpaces
            One for each network, all of the same shape; none for ReLU networks.
        device : str
        """
        numbers = wholes(seeds, "seeds", 0)
        _check(kind, len(numbers), contexts)
        units, count, width = _rows(kind, contexts, whole(units, "units"), whole(inputs, "inputs"))
        if width != inputs:
            raise InputError(f"inputs is {inputs} but the contexts look at {width}; give the same")
        drawn = [_draw(kind, seed, units, count, inputs) for seed in numbers]
        hidden, readout = (np.stack(arrays).astype(np.float32) for arrays in zip(*drawn, strict=True))
        weights = _placed(hidden, device)
        return cls(kind, weights, _placed(readout, device), weights.new_zeros(len(numbers)), tuple(contexts))

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.weights.device

    def ids(self, X: npt.ArrayLike) -> Tensor | None:
        """Return contexts (E, n, H) at inputs ``X`` (n, d); None for ReLU units."""
        if self.kind == "relu":
            return None
        points = as_points(X)
        return torch.tensor(np.stack([function.ids(points) for function in self.contexts]), device=self.device)

    def outputs(self, X: npt.ArrayLike) -> FloatArray:
        """Return f (E, n) at inputs ``X`` (n, d)."""
        points = as_points(X, self.weights.shape[-1])
        blocks = [torch.zeros(len(self), 0, dtype=self.weights.dtype, device=self.device)]
        for start in range(0, len(points), OUTPUT_BLOCK_ROWS):
            block = points[start : start + OUTPUT_BLOCK_ROWS]
            placed = torch.tensor(block, dtype=self.weights.dtype, device=self.device)
            inputs = placed.expand(len(self), *placed.shape)
            active, _ = self.activities(inputs, self.ids(block))
            blocks.append(torch.einsum("ebh,eh->eb", active, self.readout) + self.bias[:, None])
        return torch.cat(blocks, dim=1).cpu().numpy().astype(np.float64)

    def activities(self, inputs: Tensor, ids: Tensor | None) -> tuple[Tensor, Tensor | None]:
        """Return what each unit passes on, (E, B, H), at inputs (E, B, d) in contexts (E, B, H), and ReLU gates."""
        return activities(self.kind, self.weights, inputs, ids)

    def zeta(self) -> FloatArray:
        """Return readout times hidden weights, shape (E, H, C, d)."""
        return (self.readout[:, :, None, None] * self.weights).cpu().numpy().astype(np.float64)

    def without_thresholds(self, seed: int = 0) -> GatedNetworks:
        """Return the networks as the published code reloads them: with thresholds drawn anew."""
        fresh = [function.without_thresholds(seed + index) for index, function in enumerate(self.contexts)]
        return replace(self, contexts=tuple(fresh))

    def save(self, path: str | Path) -> None:
        """Write weights and context functions to one ``.npz`` file."""
        arrays = {name: getattr(self, name).cpu().numpy() for name in ("weights", "readout", "bias")}
        if self.contexts:
            arrays["normals"] = np.stack([function.normals for function in self.contexts])
            arrays["thresholds"] = np.stack([function.thresholds for function in self.contexts])
        write_arrays(path, kind=np.array(self.kind), **arrays)

    @classmethod
    def load(cls, path: str | Path, device: str = "cpu") -> GatedNetworks:
        """Read what `save` wrote, context functions included; a file without them is refused."""
        stored = read_arrays(path, "gated networks")
        kind = str(stored.get("kind", ""))
        gates = () if kind == "relu" else ("normals", "thresholds")
        lost = [name for name in ("kind", "weights", "readout", "bias", *gates) if name not in stored]
        if lost:
            raise InputError(f"{path} lacks {listing(lost)} of networks with their context functions; save them again")
        pairs = zip(*(np.atleast_1d(stored[name]) for name in gates), strict=False)
        tensors = {name: _placed(as_numbers(stored[name], name), device) for name in ("weights", "readout", "bias")}
        return cls(kind, contexts=tuple(HalfSpaces(*pair) for pair in pairs), **tensors)


def activities(kind: str, weights: Tensor, inputs: Tensor, ids: Tensor | None) -> tuple[Tensor, Tensor | None]:
    """Return what units pass on (E, B, H) and their gates where they have some, from weights (E, H, C, d).

    Examples
    --------
    >>> weights = torch.tensor([[[[1.0, 0.0], [0.0, 2.0]]]])
    >>> ids = torch.tensor([[[1], [0]]])
    >>> activities("contexts", weights, torch.ones(1, 2, 2), ids)[0].flatten().tolist()
    [2.0, 1.0]
    """
    networks, units, contexts, width = weights.shape
    if kind != "relu" and ids is None:
        raise InputError(f"{kind} units need the contexts of their inputs; give ids (networks, samples, units)")
    if contexts > FEW_CONTEXTS and ids is not None:
        return look_up(weights.reshape(-1, width), inputs, row_numbers(ids, contexts)), None
    # A product by a transposed second matrix is far slower on a CPU when matrices are small.
    products = torch.bmm(inputs, weights.reshape(networks, units * contexts, width).transpose(1, 2).contiguous())
    if kind == "relu" or ids is None:
        return torch.relu(products), products > 0
    if kind == "frozen":
        return products * ids, ids
    chosen = products.view(*inputs.shape[:2], units, contexts).gather(3, ids.unsqueeze(3))
    return chosen.squeeze(3), None


def look_up(table: Tensor, inputs: Tensor, rows: Tensor) -> Tensor:
    """Multiply inputs (E, B, d) by the rows (E, B, H) of a table (A, d) that they use, and by no others.

    Examples
    --------
    >>> look_up(torch.eye(3), torch.tensor([[[5.0, 6.0, 7.0]]]), torch.tensor([[[2, 0]]])).tolist()
    [[[7.0, 5.0]]]
    """
    # Half the time of table[rows], and no second copy of what is looked up.
    used = (table.index_select(0, rows[:, :, unit].flatten()) for unit in range(rows.shape[2]))
    return torch.stack([weights.view_as(inputs).mul_(inputs).sum(2) for weights in used], dim=2)


def row_numbers(ids: Tensor, contexts: int) -> Tensor:
    """Return the place of each context's weights among all rows of all networks, from ids (E, B, H).

    Examples
    --------
    >>> row_numbers(torch.tensor([[[0, 1]], [[1, 0]]]), contexts=2).tolist()
    [[[0, 3]], [[5, 6]]]
    """
    networks, _, units = ids.shape
    first = torch.arange(networks * units, device=ids.device).view(networks, 1, units) * contexts
    return first + ids


def _check(kind: str, networks: int, contexts: Sequence[HalfSpaces]) -> None:
    """Refuse contexts that do not belong to so many networks of a kind."""
    if kind not in KINDS:
        raise InputError(f"kind {kind!r} is unknown;{near_miss(kind, KINDS, f'Kinds: {listing(KINDS)}')}")
    expected = 0 if kind == "relu" else networks
    if not all(isinstance(function, HalfSpaces) for function in contexts):
        raise InputError("contexts are not all HalfSpaces; give one for each network")
    if not networks or len(contexts) != expected or len({function.normals.shape for function in contexts}) > 1:
        raise InputError(
            f"there are {len(contexts)} context functions for {networks} {kind} networks; "
            f"give {expected}, all of one shape"
        )
    if contexts and (
        (kind == "one-layer" and contexts[0].units != 1) or (kind == "frozen" and contexts[0].contexts != 2)
    ):
        raise InputError(f"{kind} networks need {'one unit' if kind == 'one-layer' else 'two contexts'}")


def _rows(kind: str, contexts: Sequence[HalfSpaces], units: int, inputs: int) -> tuple[int, int, int]:
    """Return units, rows of weights per unit and inputs; contexts, where there are some, say how many."""
    if contexts:
        units, _, inputs = contexts[0].normals.shape
    return units, contexts[0].contexts if kind in ("one-layer", "contexts") else 1, inputs


def _placed(array: npt.NDArray[Any], device: str) -> Tensor:
    try:
        return torch.tensor(array, device=device)
    except (AssertionError, RuntimeError) as error:
        first = str(error).splitlines()[0]
        raise InputError(
            f"device {device!r} cannot be used ({first}); give 'cpu', or 'cuda' where there is one"
        ) from error


def _draw(kind: str, seed: int, units: int, contexts: int, inputs: int) -> tuple[FloatArray, FloatArray]:
    """Draw hidden weights (H, C, d) and readout (H,) of one network."""
    generator = np.random.default_rng(np.random.SeedSequence([seed, 7]))
    if kind in ("relu", "frozen"):
        hidden = generator.normal(scale=np.sqrt(2 / inputs), size=(units, 1, inputs))
        return hidden, generator.normal(scale=np.sqrt(2 / units), size=units)
    rows = _orthogonal(generator, units * contexts, inputs)
    direction = generator.normal(size=units)
    readout = np.ones(1) if kind == "one-layer" else direction / np.linalg.norm(direction)
    return rows.reshape(units, contexts, inputs), readout


def _orthogonal(generator: np.random.Generator, rows: int, columns: int) -> FloatArray:
    """Draw a matrix with orthonormal rows, or columns if there are more rows."""
    drawn = generator.normal(size=(max(rows, columns), min(rows, columns)))
    basis, triangle = np.linalg.qr(drawn)
    basis = basis * np.where(np.diag(triangle) < 0, -1.0, 1.0)
    result: FloatArray = basis if rows >= columns else basis.T
    return result
