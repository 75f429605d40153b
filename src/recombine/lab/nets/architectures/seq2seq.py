"""Sequence to sequence with attention: the network that Li et al. 2020 train on SCAN, stacked over networks.

A bidirectional LSTM reads the input symbols, an LSTM with dot-product attention writes the output symbols; while it
learns, and when it is judged, the right symbols so far are given to it. Symbol 0 pads, ends and starts a sequence.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional

from recombine.cells.arrays import FloatArray
from recombine.errors import InputError
from recombine.lab.nets.architecture import Architecture, Tensors, generator_for
from recombine.lab.nets.layers.recurrent import Decode, Encode, attend, gates, lstm_step
from recombine.lab.nets.losses import sequence_mask


@dataclass(frozen=True)
class Seq2Seq(Architecture):
    """Bidirectional LSTM encoder, LSTM decoder with attention: 32 units per direction and 64 units.

    With memory M = H W_m of the encoder's states H, hidden and cell state h and c, attention vector a and embedding o
    of the symbol before, a decoder step is (h, c) <- LSTM([o, a], h, c), w = softmax(M h), a <- W_a [h; M' w], and
    logits are W_o a + b. The decoder starts from the encoder's last states in both directions; where their width is
    not its own, through a linear map. Embeddings are uniform on +-1, weights Glorot uniform, times ``scale``; biases
    are 0, of forget gates 1.

    One input is a row of whole numbers: the ``longest_in`` symbols to read, then the ``longest_out`` to write, each
    with at least one 0 at the end (see ``sequence_rows``).

    Parameters
    ----------
    symbols_in, symbols_out : int
        Number of symbols to read and to write, 0 included.
    longest_in, longest_out : int
        Length of a padded sequence.
    embedding_in, embedding_out : int
        Width of an embedded symbol.
    encoder, decoder : int
        Units of the encoder, in each direction, and of the decoder.

    Examples
    --------
    >>> from recombine.lab.worlds import commands
    >>> network = Seq2Seq.for_symbols(commands().words, commands().actions)
    >>> sum(tensor.numel() for tensor in network.initial(seed=0, scale=1.0).values())
    64959
    """

    symbols_in: int
    symbols_out: int
    longest_in: int
    longest_out: int
    embedding_in: int = 32
    embedding_out: int = 8
    encoder: int = 32
    decoder: int = 64

    # Steps are short, so their overhead is shared.
    cpu_networks = 4

    @classmethod
    def for_symbols(cls, read: npt.ArrayLike, written: npt.ArrayLike, encoder: int = 32, decoder: int = 64) -> Seq2Seq:
        """Return the network for padded sequences (N, longest_in) to read and (N, longest_out) to write."""
        first, second = np.asarray(read), np.asarray(written)
        sizes = (int(first.max()) + 1, int(second.max()) + 1, first.shape[1], second.shape[1])
        return cls(*sizes, encoder=encoder, decoder=decoder)

    @property
    def outputs(self) -> int:  # type: ignore[override]
        """Logits of one place."""
        return self.symbols_out

    def initial(self, seed: int, scale: float) -> Tensors:
        """Draw one network's embeddings, weights and biases."""
        generator = generator_for(seed, purpose=0)
        encoder, decoder = self.encoder, self.decoder
        shapes: dict[str, tuple[int, ...]] = {
            "encoder.weight": (2, self.embedding_in + encoder, 4 * encoder),
            "memory": (2 * encoder, decoder),
            "decoder.weight": (self.embedding_out + 2 * decoder, 4 * decoder),
            "attention": (2 * decoder, decoder),
            "readout.weight": (decoder, self.symbols_out),
        }
        if 2 * encoder != decoder:
            shapes["bridge"] = (2, 2 * encoder, decoder)
        uniform = {name: _uniform(shape, math.sqrt(6 / sum(shape[-2:])), generator) for name, shape in shapes.items()}
        embeddings = {"read": (self.symbols_in, self.embedding_in), "written": (self.symbols_out, self.embedding_out)}
        uniform |= {name: _uniform(shape, 1.0, generator) for name, shape in embeddings.items()}
        biases = {"encoder.bias": _forget(encoder).expand(2, -1), "decoder.bias": _forget(decoder)}
        biases["readout.bias"] = torch.zeros(self.symbols_out, dtype=torch.float64)
        return {name: weight * scale for name, weight in uniform.items()} | biases

    def forward(self, parameters: Tensors, statistics: Tensors, inputs: Tensor, training: bool) -> Tensor:
        """Map rows (c, B, longest_in + longest_out) to logits (c, B, T, symbols_out).

        On a CPU in training T is the length of the longest sequence there, else longest_out. Logits after the end of
        a sequence mean nothing.
        """
        codes = inputs.long()
        read, written = codes[..., : self.longest_in], codes[..., self.longest_in :]
        plan = _Packing.of(written)
        memory, blocked, hidden, state = self._encoded(parameters, plan.sort(read), inputs.dtype)
        hot = plan.steps(_hot(functional.pad(plan.sort(written), (1, -1)), self.symbols_out, inputs.dtype))
        matrix = gates(*(parameters[name] for name in ("written", "decoder.weight", "decoder.bias")))
        # The calls of autograd functions have no types.
        vectors = Decode.apply(hot, matrix, parameters["attention"], memory, blocked, hidden, state)  # type: ignore[no-untyped-call]
        logits = torch.baddbmm(parameters["readout.bias"].unsqueeze(1), vectors, parameters["readout.weight"])
        return plan.unpacked(logits, len(plan.sizes) if training else self.longest_out)

    def _encoded(self, parameters: Tensors, read: Tensor, dtype: torch.dtype) -> tuple[Tensor, ...]:
        """Return memory (c, B, L, h), what is blocked in it (c, B, L), and the decoder's first two states (c, B, h)."""
        networks, batch = read.shape[:2]
        lengths = (read > 0).sum(-1, keepdim=True) + 1
        if read.device.type == "cpu":
            read = read[..., : int(lengths.max())]
        steps = torch.arange(read.shape[-1], device=read.device)
        # Place of the symbol that comes at each step from the end; after the last one, anything.
        mirrored = (lengths - 1 - steps).clamp_min(0)
        both = torch.stack([read, read.gather(-1, mirrored)], dim=1).flatten(0, 1)
        hot = _hot(both.transpose(1, 2), self.symbols_in, dtype)  # (2c, L, B, V)
        words = parameters["read"].repeat_interleave(2, dim=0)
        matrix = gates(words, parameters["encoder.weight"].flatten(0, 1), parameters["encoder.bias"].flatten(0, 1))
        hidden, state = Encode.apply(hot, matrix)  # type: ignore[no-untyped-call]
        ends = (lengths - 1).view(networks, 1, 1, batch, 1).expand(-1, 2, -1, -1, self.encoder)
        hidden, state = (values.view(networks, 2, *values.shape[1:]) for values in (hidden, state))
        last = [values.gather(2, ends).squeeze(2).transpose(1, 2).flatten(2) for values in (hidden, state)]
        if "bridge" in parameters:
            last = [torch.bmm(value, parameters["bridge"][:, index]) for index, value in enumerate(last)]
        forth, back = hidden.transpose(2, 3).unbind(1)  # (c, B, L, h)
        back = back.gather(2, mirrored.unsqueeze(-1).expand(-1, -1, -1, self.encoder))
        states = torch.cat([forth, back], dim=-1).flatten(1, 2)
        memory = torch.bmm(states, parameters["memory"]).view(networks, batch, -1, self.decoder)
        blocked = torch.zeros(steps.shape, dtype=dtype, device=read.device).masked_fill(steps >= lengths, -math.inf)
        return memory, blocked, last[0], last[1]

    @torch.no_grad()
    def greedy(self, parameters: Tensors, read: Tensor) -> Tensor:
        """Write by itself: return the symbols (c, B, longest_out) that follow input symbols (c, B, longest_in).

        Each step is given the network's own best symbol before; after a network has written 0 come zeros.
        """
        dtype = parameters["memory"].dtype
        memory, blocked, hidden, state = self._encoded(parameters, read.long(), dtype)
        matrix = gates(*(parameters[name] for name in ("written", "decoder.weight", "decoder.bias")))
        vector, symbol = torch.zeros_like(hidden), torch.zeros_like(read[..., 0]).long()
        written: list[Tensor] = []
        for _ in range(self.longest_out):
            entered = torch.cat([_hot(symbol, self.symbols_out, dtype), vector, hidden], dim=-1)
            cell = lstm_step(entered, matrix, state)
            _, vector = attend(cell, memory, blocked, parameters["attention"])
            hidden, state = cell.hidden, cell.state
            logits = torch.baddbmm(parameters["readout.bias"].unsqueeze(1), vector, parameters["readout.weight"])
            symbol = logits.argmax(-1)
            if written:
                symbol = symbol * (written[-1] > 0)
            written.append(symbol)
        return torch.stack(written, dim=-1)

    def observed(self, outputs: Tensor, inputs: Tensor) -> Tensor:
        """Return whether each sequence is right to the last symbol, 0 or 1, shape (c, B, 1)."""
        return sequences_right(outputs, inputs[..., self.longest_in :].long()).to(outputs.dtype).unsqueeze(-1)

    def activations(self, shape: Sequence[int]) -> int:
        """Return the numbers that all steps hold for one row; a batch's rows end after a third of the steps or so."""
        encoder = self.longest_in * 2 * (self.symbols_in + 10 * self.encoder)
        decoder = self.longest_out * (self.symbols_out + 14 * self.decoder + self.longest_in)
        return encoder + decoder // 3


@dataclass(frozen=True)
class _Packing:
    """Rows in the order of their lengths, longest first, and how many of them are still going at each step.

    Attributes
    ----------
    order, ranks : Tensor of int, shape (c, B)
        Row at each rank, and rank of each row.
    sizes : list of int
        The most rows that any network has left, step by step.
    """

    order: Tensor
    ranks: Tensor
    sizes: list[int]

    @classmethod
    def of(cls, written: Tensor) -> _Packing:
        networks, batch, longest = written.shape
        if written.device.type != "cpu":
            # Lengths would make the host wait for the device; there every row goes to the end.
            order = torch.arange(batch, device=written.device).expand(networks, -1)
            return cls(order, order, [batch] * longest)
        lengths = (written > 0).sum(-1) + 1
        order = lengths.argsort(dim=1, descending=True, stable=True)
        going = (lengths.unsqueeze(-1) > torch.arange(int(lengths.max()))).sum(1).amax(0)
        return cls(order, order.argsort(dim=1), going.tolist())

    def sort(self, values: Tensor) -> Tensor:
        return values.gather(1, self.order.unsqueeze(-1).expand(-1, -1, values.shape[-1]))

    def steps(self, values: Tensor) -> list[Tensor]:
        """Return sorted values (c, B, T, K) step by step, (c, n, K) each."""
        return [values[:, :size, time] for time, size in enumerate(self.sizes)]

    def unpacked(self, values: Tensor, steps: int) -> Tensor:
        """Return values (c, sum of sizes, K) by row and step, (c, B, steps, K), with zeros where there are none."""
        laid = self._together(values) if self.sizes[-1] == self.ranks.shape[1] else self._one_by_one(values)
        return functional.pad(laid, (0, 0, 0, steps - len(self.sizes)))

    def _together(self, values: Tensor) -> Tensor:
        """All sequences end at once, so none was moved."""
        networks, batch = self.ranks.shape
        return values.view(networks, -1, batch, values.shape[-1]).transpose(1, 2)

    def _one_by_one(self, values: Tensor) -> Tensor:
        sizes = torch.tensor(self.sizes, device=values.device)
        positions = (sizes.cumsum(0) - sizes) + self.ranks.unsqueeze(-1)
        positions = positions.masked_fill(self.ranks.unsqueeze(-1) >= sizes, values.shape[1])
        padded = functional.pad(values, (0, 0, 0, 1))
        gathered = padded.gather(1, positions.flatten(1).unsqueeze(-1).expand(-1, -1, values.shape[-1]))
        return gathered.view(*positions.shape, -1)


def sequence_rows(read: npt.ArrayLike, written: npt.ArrayLike) -> FloatArray:
    """Return sequences to read (N, longest_in) and to write (N, longest_out) as a network's inputs.

    Examples
    --------
    >>> sequence_rows([[3, 1, 0]], [[2, 0]]).tolist()
    [[3.0, 1.0, 0.0, 2.0, 0.0]]
    """
    pair = [np.asarray(sequences) for sequences in (read, written)]
    for name, sequences in zip(("read", "written"), pair, strict=True):
        if (
            sequences.ndim != 2
            or sequences.dtype.kind not in "iu"
            or sequences.size == 0
            or sequences.min() < 0
            or (sequences[:, -1] != 0).any()
        ):
            raise InputError(
                f"sequences to be {name} have shape {sequences.shape} and dtype {sequences.dtype}; give whole numbers "
                "from 0 up, one padded sequence per row, each with at least one 0 at its end"
            )
    if len(pair[0]) != len(pair[1]):
        raise InputError(f"{len(pair[0])} sequences to read do not fit {len(pair[1])} to write; give one for each")
    return np.concatenate(pair, axis=1).astype(np.float64)


def sequences_right(logits: Tensor, written: Tensor) -> Tensor:
    """Return whether the best symbols are right up to and including each sequence's end, shape (...).

    The right symbols so far were given to the network. That makes no difference here: the first wrong symbol is the
    same when it is given its own.

    Parameters
    ----------
    logits : Tensor, shape (..., T, K)
    written : Tensor of int, shape (..., at least T)

    Examples
    --------
    >>> logits = torch.tensor([[[0.0, 1.0], [1.0, 0.0], [0.0, 9.0]]])
    >>> sequences_right(logits, torch.tensor([[1, 0, 0]])), sequences_right(logits, torch.tensor([[1, 1, 0]]))
    (tensor([True]), tensor([False]))
    """
    written = written[..., : logits.shape[-2]]
    wrong = (logits.argmax(-1) != written) & sequence_mask(written)
    return ~wrong.any(-1)


def _uniform(shape: Sequence[int], bound: float, generator: torch.Generator) -> Tensor:
    return (torch.rand(*shape, generator=generator, dtype=torch.float64) * 2 - 1) * bound


def _forget(size: int) -> Tensor:
    """Biases of one LSTM: columns as in ``gates``."""
    return torch.cat([torch.full((size,), float(gate == 1), dtype=torch.float64) for gate in range(4)])


def _hot(symbols: Tensor, count: int, dtype: torch.dtype) -> Tensor:
    return torch.eye(count, dtype=dtype, device=symbols.device)[symbols]
