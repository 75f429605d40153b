"""Training sequence-to-sequence networks on SCAN: all seeds in one batched computation, or one after the other.

``python benchmarks/seq2seq.py`` trains 5 seeds with batches of 256 in three ways: (a) one at a time, a network of
torch's own layers (``nn.LSTM`` on packed sequences, then ``nn.LSTMCell`` in a loop) with torch's Adam, on batches cut
to their longest sequence; (b) one at a time with this package's trainer, which also drops sequences from the batch as
they end; (c) all at once with this package's trainer. Same first weights, same samples, same steps; each uses all
cores as well as it can. Losses are compared in float64.
"""

from __future__ import annotations

import argparse
import math
import time

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from recombine.lab.nets.architecture import Tensors
from recombine.lab.nets.architectures.seq2seq import Seq2Seq, sequence_rows
from recombine.lab.nets.ensemble.batches import DrawnRows
from recombine.lab.nets.ensemble.ensemble import Ensemble
from recombine.lab.nets.ensemble.optimisers import Adam
from recombine.lab.worlds.scan import commands, scan_reading

RATE, DECAY, CLIP = 0.01, (0.96, 100), 1.0


class Reference(nn.Module):
    """One network of torch's own layers, with the first weights of the stacked one."""

    def __init__(self, network: Seq2Seq, drawn: Tensors, dtype: torch.dtype) -> None:
        super().__init__()
        self.network = network
        self.read = nn.Embedding(network.symbols_in, network.embedding_in)
        self.written = nn.Embedding(network.symbols_out, network.embedding_out)
        self.encoder = nn.LSTM(network.embedding_in, network.encoder, batch_first=True, bidirectional=True)
        self.decoder = nn.LSTMCell(network.embedding_out + network.decoder, network.decoder)
        self.memory = nn.Linear(2 * network.encoder, network.decoder, bias=False)
        self.attention = nn.Linear(2 * network.decoder, network.decoder, bias=False)
        self.readout = nn.Linear(network.decoder, network.symbols_out)
        self.to(dtype).load_state_dict(translated(drawn, network))
        # Torch's layers have two biases where one is enough.
        for name, parameter in self.named_parameters():
            parameter.requires_grad_("bias_hh" not in name)

    def forward(self, inputs: Tensor) -> Tensor:
        """Map rows (B, longest_in + longest_out) to logits (B, T, symbols_out), T the longest sequence's length."""
        read, written = inputs.long().split([self.network.longest_in, self.network.longest_out], dim=-1)
        counts = (read > 0).sum(-1) + 1
        packed = pack_padded_sequence(self.read(read), counts, batch_first=True, enforce_sorted=False)
        states, (hidden, cell) = self.encoder(packed)
        memory = self.memory(pad_packed_sequence(states, batch_first=True)[0])
        blocked = torch.arange(memory.shape[1]) >= counts.unsqueeze(1)
        state = (hidden.transpose(0, 1).flatten(1), cell.transpose(0, 1).flatten(1))
        vector, logits = torch.zeros_like(state[0]), []
        before = self.written(functional.pad(written, (1, -1)))
        for time_step in range(int((written > 0).sum(-1).max()) + 1):
            state = self.decoder(torch.cat([before[:, time_step], vector], dim=1), state)
            scores = torch.bmm(memory, state[0].unsqueeze(2)).squeeze(2).masked_fill(blocked, -torch.inf)
            context = torch.bmm(torch.softmax(scores, 1).unsqueeze(1), memory).squeeze(1)
            vector = self.attention(torch.cat([state[0], context], dim=1))
            logits.append(self.readout(vector))
        return torch.stack(logits, dim=1)


def translated(drawn: Tensors, network: Seq2Seq) -> Tensors:
    """Return one network's parameters under torch's names, shapes and order of gates."""
    found = {
        "read.weight": drawn["read"],
        "written.weight": drawn["written"],
        "memory.weight": drawn["memory"].t(),
        "attention.weight": drawn["attention"].t(),
        "readout.weight": drawn["readout.weight"].t(),
        "readout.bias": drawn["readout.bias"],
    }
    layers = [("encoder", part, network.embedding_in, network.encoder) for part in (0, 1)]
    layers.append(("decoder", None, network.embedding_out + network.decoder, network.decoder))
    for name, part, entering, size in layers:
        weight, bias = (drawn[f"{name}.{kind}"] for kind in ("weight", "bias"))
        if part is not None:
            weight, bias = weight[part], bias[part]
        weight, bias = (_torch_order(value, size) for value in (weight, bias.unsqueeze(0)))
        end = "" if part is None else ("_l0", "_l0_reverse")[part]
        found |= {f"{name}.weight_ih{end}": weight[:entering].t(), f"{name}.weight_hh{end}": weight[entering:].t()}
        found |= {f"{name}.bias_ih{end}": bias[0], f"{name}.bias_hh{end}": torch.zeros_like(bias[0])}
    return found


def _torch_order(columns: Tensor, size: int) -> Tensor:
    enter, keep, show, candidate = columns.split(size, dim=-1)
    return torch.cat([enter, keep, candidate, show], dim=-1)


def reference_losses(network: Seq2Seq, inputs: Tensor, seed: int, pool: Tensor, batch: int, steps: int) -> list[float]:
    """Train one reference network; return the loss before every update."""
    module = Reference(network, network.initial(seed, 1.0), inputs.dtype)
    learned = [parameter for parameter in module.parameters() if parameter.requires_grad]
    optimiser = torch.optim.Adam(learned, lr=RATE)
    schedule = torch.optim.lr_scheduler.StepLR(optimiser, DECAY[1], DECAY[0])
    draws = DrawnRows([seed], [pool], batch, torch.device("cpu"))
    losses = []
    for number in range(steps):
        rows_now = inputs[draws.rows(number)[0]]
        logits = module(rows_now)
        written = rows_now[:, network.longest_in : network.longest_in + logits.shape[1]].long()
        counted = functional.pad(written[:, :-1] > 0, (1, 0), value=True)
        costs = functional.cross_entropy(logits.flatten(0, 1), written.flatten(), reduction="none")
        loss = (costs * counted.flatten()).sum() / batch
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(learned, CLIP)
        optimiser.step()
        schedule.step()
        losses.append(loss.item())
    return losses


def ours(network: Seq2Seq, inputs: Tensor, seeds: list[int], pool: Tensor, batch: int, steps: int) -> list[list[float]]:
    """Train networks together; return each one's loss before every update."""
    trained = Ensemble(network, seeds, dtype=str(inputs.dtype).removeprefix("torch.")).train(
        inputs,
        inputs[:, network.longest_in :],
        rate=RATE,
        decay=DECAY,
        clip=CLIP,
        steps=steps,
        batch=batch,
        draw_from=pool.numpy(),
        loss="sequence-cross-entropy",
        optimiser=Adam(),
        record=range(steps),
    )
    return trained.history.t().tolist()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--setting", default="A", help="A, B1, B2 or B3")
    options = parser.parse_args()
    scan = commands()
    network = Seq2Seq.for_symbols(scan.words, scan.actions)
    inputs = torch.from_numpy(sequence_rows(scan.words, scan.actions)).float()
    pool = torch.from_numpy(scan_reading(options.setting).train)
    seeds = list(range(options.seeds))
    share = float((scan.action_counts[pool] + 1).mean()) / scan.actions.shape[1]
    print(f"{len(seeds)} seeds, batches of {options.batch}, {torch.get_num_threads()} threads")
    print(f"places that count are {share:.0%} of the padded ones\n")

    def together(values: Tensor, steps: int) -> list[list[float]]:
        return ours(network, values, seeds, pool, options.batch, steps)

    def alone(values: Tensor, steps: int) -> list[list[float]]:
        return [ours(network, values, [seed], pool, options.batch, steps)[0] for seed in seeds]

    def reference(values: Tensor, steps: int) -> list[list[float]]:
        return [reference_losses(network, values, seed, pool, options.batch, steps) for seed in seeds]

    ways = {"(a) one at a time, torch's layers": reference, "(b) one at a time, ours": alone, "(c) together": together}
    exact = {name: torch.tensor(way(inputs.double(), 3), dtype=torch.float64) for name, way in ways.items()}
    # Rounds take turns and the best one counts, so that a machine shared with others does not decide.
    best = dict.fromkeys(ways, math.inf)
    for _ in range(options.rounds):
        for name, way in ways.items():
            start = time.perf_counter()
            way(inputs, options.steps)
            best[name] = min(best[name], (time.perf_counter() - start) / options.steps)
    for name, seconds in best.items():
        gap = (exact[name] - next(iter(exact.values()))).abs().max().item()
        print(
            f"{name:>34} {seconds:8.3f} s for a step of all seeds {next(iter(best.values())) / seconds:6.1f}x", end=""
        )
        print(f"   largest difference of losses {gap:.0e}")


if __name__ == "__main__":
    main()
