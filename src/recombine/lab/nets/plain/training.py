"""Train a plain torch model on a classification task until its loss is low: the loop of finetuning and pretraining."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from recombine.errors import InputError, SolverError
from recombine.lab.nets.architecture import global_generators, set_global_generators
from recombine.lab.nets.checkpoints import State, next_checkpoint
from recombine.lab.nets.devices import wake_backward
from recombine.lab.nets.plain.activations import PASS_SAMPLES, batch_norms, evaluating
from recombine.lab.nets.plain.samples import LabelledSamples, check_samples, trainable_parameters
from recombine.lab.nets.replay import ReplayedStep
from recombine.sample_checks import of_kind

Optimisers = Callable[[Iterable[nn.Parameter]], torch.optim.Optimizer]


def sgd(parameters: Iterable[nn.Parameter]) -> torch.optim.Optimizer:
    """Return the paper's optimiser of ResNets: SGD at 1e-3 with momentum 0.9.

    Examples
    --------
    >>> sgd(nn.Linear(2, 1).parameters()).defaults["momentum"]
    0.9
    """
    return torch.optim.SGD(parameters, lr=1e-3, momentum=0.9)


@dataclass(frozen=True)
class Recipe:
    """How to train.

    Attributes
    ----------
    optimiser : callable
        Parameters -> a torch optimiser.
    batch, epochs : int
        Samples of a mini-batch, two or more where a model normalises by batch; most passes through them.
    stop : float
        Mean loss over an epoch to stop at.
    outputs : tuple of int, optional
        First and one past the last of the model's outputs that belong to the task; labels count from the first. All of
        them if not given.
    seed : int
        Of the order of samples, and of dropout.
    replay : bool
        Replay steps as CUDA graphs, several times faster for small models. The optimiser must allow it (torch's SGD and
        its Adam with ``capturable=True`` do), and the model must not decide anything by its values.
    half : bool
        Compute in bfloat16; weights and what the optimiser remembers stay as they are.

    Examples
    --------
    >>> Recipe(epochs=10).batch
    128
    """

    optimiser: Optimisers = sgd
    batch: int = 128
    epochs: int = 1000
    stop: float = 0.01
    outputs: tuple[int, int] | None = None
    seed: int = 0
    replay: bool = False
    half: bool = False

    def __post_init__(self) -> None:
        if not all(isinstance(count, Integral) and count >= 1 for count in (self.batch, self.epochs)):
            raise InputError(f"batch is {self.batch} and epochs {self.epochs}; give whole numbers from 1 up")
        if not math.isfinite(self.stop):
            raise InputError(f"stop is {self.stop}; give a mean loss, or 0 to train for all epochs")
        if self.outputs is not None and not 0 <= self.outputs[0] < self.outputs[1]:
            raise InputError(f"outputs are {self.outputs}; give the first, from 0 up, and one past the last")

    def check_samples(self, model: nn.Module, samples: object, name: str = "samples") -> LabelledSamples:
        """Return samples as tensors where the model is, or say why it cannot be trained on them."""
        return check_samples(model, samples, name, outputs=self.outputs, half=self.half)

    def logits(self, model: nn.Module, inputs: Tensor) -> Tensor:
        """Return the outputs (N, classes) of this task."""
        with torch.autocast(inputs.device.type, torch.bfloat16, enabled=self.half):
            logits: Tensor = model(inputs)
        return logits if self.outputs is None else logits[:, slice(*self.outputs)]


class Training:
    """A model in training on samples of one task; trainings of one model can share an optimiser and take turns.

    Parameters
    ----------
    model : nn.Module
        Trained in place.
    optimiser : torch optimiser
    samples : pair of Tensor
        Inputs (N, ...) and labels (N,).
    recipe : Recipe
    generator : torch.Generator
        Of the order of samples.
    weight : float
        Of this task's loss.
    test : pair of Tensor, optional
        Samples to report accuracy on.

    Examples
    --------
    >>> model, samples = nn.Linear(2, 2), (torch.eye(2), torch.tensor([0, 1]))
    >>> optimiser, order = sgd(model.parameters()), torch.Generator().manual_seed(0)
    >>> training = Training(model, optimiser, samples, Recipe(), order, test=samples)
    >>> 0 < training.epoch() < 3, training.accuracy() in (0.0, 0.5, 1.0)
    (True, True)
    """

    def __init__(
        self,
        model: nn.Module,
        optimiser: torch.optim.Optimizer,
        samples: LabelledSamples,
        recipe: Recipe,
        generator: torch.Generator,
        *,
        weight: float = 1.0,
        test: LabelledSamples | None = None,
    ) -> None:
        of_kind(optimiser, "the optimiser", torch.optim.Optimizer)
        self.model, self.optimiser, self.samples = model, optimiser, recipe.check_samples(model, samples)
        self.test = None if test is None else recipe.check_samples(model, test, "test samples")
        self.recipe, self.generator, self.weight = recipe, generator, weight
        self.least = 2 if batch_norms(model) else 1
        if min(recipe.batch, len(self.samples[0])) < self.least:
            raise InputError("batch normalisation cannot learn from one sample at a time; give a batch of two or more")
        self.total, self.right = torch.zeros((2,), device=self.samples[0].device)
        self.step = ReplayedStep(self._step, self._state) if recipe.replay else self._step
        self.judge = ReplayedStep(self._judge, list) if recipe.replay else self._judge

    def epoch(self) -> float:
        """Train for one pass through the samples; return the mean cross-entropy on the way."""
        self.model.train()
        order = torch.randperm(len(self.samples[0]), generator=self.generator).to(self.total.device)
        self.total.zero_()
        # Batch normalisation cannot learn from a single sample left over at the end.
        batches = [rows for rows in torch.split(order, self.recipe.batch) if len(rows) >= self.least]
        for rows in batches:
            self.step(rows)
        loss = float(self.total) / sum(len(rows) for rows in batches)
        if not math.isfinite(loss):
            raise SolverError(f"the training loss is {loss}: training diverged; lower the optimiser's learning rate")
        return loss

    def _step(self, rows: Tensor | None) -> None:
        inputs, labels = self.samples
        loss = functional.cross_entropy(self.recipe.logits(self.model, inputs[rows]), labels[rows])
        self.optimiser.zero_grad()
        torch.autograd.backward(loss * self.weight)
        self.optimiser.step()
        self.total += loss.detach() * len(labels[rows])

    def _state(self) -> list[Tensor]:
        memories = [slot for slots in self.optimiser.state.values() for slot in slots.values()]
        tensors = [slot for slot in memories if isinstance(slot, Tensor)]
        return [*self.model.parameters(), *self.model.buffers(), self.total, *tensors]

    @torch.no_grad()
    def accuracy(self) -> float:
        """Return the share of test samples whose largest output is their label's, with running statistics."""
        if self.test is None:
            raise InputError("there are no test samples; name some when the training is made")
        with evaluating(self.model):
            self.judge(None)
        return float(self.right) / len(self.test[1])

    def _judge(self, _: Tensor | None) -> None:
        assert self.test is not None
        self.right.zero_()
        for inputs, labels in zip(*(torch.split(tensor, PASS_SAMPLES) for tensor in self.test), strict=True):
            self.right += (self.recipe.logits(self.model, inputs).argmax(1) == labels).sum()


def train(
    model: nn.Module, samples: LabelledSamples, recipe: Recipe, test: LabelledSamples | None = None
) -> tuple[list[float], list[float]]:
    """Train a model in place; return the loss of each epoch and, if there are test samples, the accuracy after it.

    The model is in evaluation mode afterwards, ready to predict.

    Examples
    --------
    >>> model, samples = nn.Linear(2, 2), (torch.eye(2), torch.tensor([0, 1]))
    >>> losses, _ = train(model, samples, Recipe(lambda p: torch.optim.SGD(p, lr=1.0), stop=0.1))
    >>> losses[-1] < 0.1, model.training
    (True, False)
    """
    generator = torch.Generator().manual_seed(recipe.seed)
    training = Training(model, recipe.optimiser(trainable_parameters(model)), samples, recipe, generator, test=test)
    rounds, accuracies = train_in_turns([training], recipe.epochs, lambda losses: losses[0] < recipe.stop)
    return [losses[0] for losses in rounds], accuracies


def train_in_turns(
    trainings: Sequence[Training], epochs: int, learned: Callable[[Sequence[float]], bool]
) -> tuple[list[list[float]], list[float]]:
    """Train one model on several tasks, an epoch of each in turn, until they are learned.

    The seed is that of the first training's recipe. The model is in evaluation mode afterwards.

    Parameters
    ----------
    trainings : sequence of Training
        Of one model, with one optimiser and one generator.
    epochs : int
        Most rounds.
    learned : callable
        Losses of a round, one per training -> whether to stop.

    Returns
    -------
    losses : list of list of float
        Of each round, one per training.
    accuracies : list of float
        After each round, if the first training has test samples.

    Examples
    --------
    >>> model = nn.Linear(2, 2)
    >>> optimiser, order = torch.optim.SGD(model.parameters(), lr=1.0), torch.Generator().manual_seed(0)
    >>> tasks = [(torch.eye(2), torch.tensor([0, 1])), (-torch.eye(2), torch.tensor([1, 0]))]
    >>> both = [Training(model, optimiser, task, Recipe(), order) for task in tasks]
    >>> losses, _ = train_in_turns(both, 1000, lambda losses: max(losses) < 0.1)
    >>> max(losses[-1]) < 0.1
    True
    """
    first = trainings[0]
    rounds: list[list[float]] = []
    accuracies: list[float] = []
    checkpoint = next_checkpoint(
        "plain",
        **{"first weights": dict(first.model.state_dict()), "samples": [each.samples for each in trainings]},
        **{"optimiser": first.optimiser, "epochs": epochs, "weight": [each.weight for each in trainings]},
        **{
            "recipe": [
                (each.recipe.batch, each.recipe.stop, each.recipe.outputs, each.recipe.half) for each in trainings
            ]
        },
        seed=first.recipe.seed,
    )

    def saved() -> State:
        return {**_standing(first), "rounds": rounds, "accuracies": accuracies, "learned": done}

    wake_backward(first.total.device)
    with _seeded(first.recipe.seed, first.total.device):
        state, done = checkpoint.load(), False
        if state is not None:
            _restore(first, state)
            rounds, accuracies, done = state["rounds"], state["accuracies"], state["learned"]
        while len(rounds) < epochs and not done:
            checkpoint.offer(len(rounds), saved)
            rounds.append([each.epoch() for each in trainings])
            if first.test is not None:
                accuracies.append(first.accuracy())
            done = learned(rounds[-1])
        checkpoint.finish(len(rounds), saved)
    first.model.eval()
    return rounds, accuracies


def _standing(training: Training) -> dict[str, Any]:
    """Return all that later epochs depend on: model, optimiser and generators."""
    state = {f"model/{name}": tensor for name, tensor in training.model.state_dict().items()}
    for index, slots in training.optimiser.state_dict()["state"].items():
        state |= {f"optimiser/{index}/{name}": slot for name, slot in slots.items() if slot is not None}
    return {**state, "order": training.generator.get_state(), **global_generators(training.total.device)}


def _restore(training: Training, state: Mapping[str, Any]) -> None:
    """Take back what `_standing` returned."""
    tensors = {name: torch.from_numpy(value) for name, value in state.items() if hasattr(value, "dtype")}
    model = {name.removeprefix("model/"): tensor for name, tensor in tensors.items() if name.startswith("model/")}
    training.model.load_state_dict(model)
    memory = training.optimiser.state_dict()
    for name in state:
        if name.startswith("optimiser/"):
            _, index, slot = name.split("/")
            memory["state"].setdefault(int(index), {})[slot] = tensors.get(name, state[name])
    training.optimiser.load_state_dict(memory)
    training.generator.set_state(tensors["order"])
    set_global_generators(state, training.total.device)


@contextmanager
def _seeded(seed: int, device: torch.device) -> Iterator[None]:
    """Seed torch's own generators, which dropout draws from, and put them back afterwards."""
    on_gpu = device.type == "cuda"
    with torch.random.fork_rng([device] if on_gpu else []):
        torch.default_generator.manual_seed(seed)
        if on_gpu:
            torch.cuda.default_generators[device.index].manual_seed(seed)
        yield
