"""Trainings that can be stopped: their state is kept in a folder, and the same call goes on from there.

Inside `keep_checkpoints` every trainer saves now and then, and takes up what an earlier attempt left. What
runs inside must be the same each time, because trainings are told apart by the order in which they begin.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from recombine.cells.array_files import load_arrays
from recombine.checks import real
from recombine.errors import InputError, RecombineError
from recombine.output_files import open_beside
from recombine.writing import listing

#: Arrays, tensors and lists of them, and plain values (numbers, words, lists and dictionaries), by name.
#: Tensors come back as arrays.
State = Mapping[str, Any]

#: Seconds between two saves.
SAVE_SECONDS = 60.0
#: Numbers of an array that its digest is made of.
DIGESTED_VALUES = 100_000
#: What a folder says about how far it is.
PROGRESS = "progress.json"
#: The entry of a file that holds what is no array, and in it the lengths of lists of arrays.
PLAIN, LISTS = "plain values", "lists"


class CheckpointWarning(UserWarning):
    """A checkpoint could not be written or read; nothing but time is lost."""


class TrainingPausedError(BaseException):
    """Raised inside a training when the time is up and its state is saved; not an Exception, lest a unit swallow it."""


class _UnreadableError(RecombineError):
    """A checkpoint is damaged."""


@dataclass(eq=False)
class Checkpoints:
    """A folder of training states and when to write to it, as `keep_checkpoints` was told."""

    folder: Path
    seconds: float = SAVE_SECONDS
    until: float = float("inf")
    about: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._begun = self._saved = time.monotonic()
        self._trainings = 0
        self._first: dict[tuple[int, int], int] = {}
        self._moved = False
        self._ended: list[tuple[str, State]] = []
        self._lock = threading.Lock()
        progress = read_progress(self.folder)
        self._earlier: list[dict[str, Any]] = list(progress.get("pieces", []))
        self._settled: dict[str, int] = dict(progress.get("settled", {}))
        # What a killed attempt was writing; only one attempt at a time uses a folder.
        for draft in self.folder.glob(".*"):
            draft.unlink(missing_ok=True)

    def next(self) -> int:
        """Return the number of the training that begins now."""
        self._trainings += 1
        return self._trainings - 1

    @property
    def pieces(self) -> list[dict[str, Any]]:
        """Seconds spent, and on what, by this attempt and by those whose states it took up."""
        return [*self._earlier, {**self.about, "seconds": round(time.monotonic() - self._begun, 3)}]

    def due(self, since: float) -> bool:
        """Say whether a state last saved at ``since`` (``time.monotonic()``) is to be saved now."""
        return time.monotonic() - since >= self.seconds or self.over

    def moved(self, training: int, chunk: int, step: int) -> bool:
        """Say whether this attempt has brought anything forward, lest short attempts stay where they are for ever."""
        begun = self._first.setdefault((training, chunk), step)
        self._moved = self._moved or step > begun
        return self._moved

    @property
    def over(self) -> bool:
        """Whether the time is up."""
        return time.time() >= self.until

    def settle(self, name: str, value: int) -> int:
        """Return what an earlier attempt chose under a name, or choose ``value`` for this and later ones."""
        return self._settled.setdefault(name, value)

    def hold(self, name: str, state: State, training: int, step: int) -> None:
        """Take in the state of a training that has ended; it is written with the next save."""
        self._moved = True
        with self._lock:
            self._ended.append((name, _apart(state)))
            if self.due(self._saved):
                self._write_all(training, step)

    def save(self, name: str, state: State, training: int, step: int) -> None:
        """Write a state, and those of trainings that have ended before it."""
        with self._lock:
            self._write_all(training, step, (name, state))

    def load(self, name: str) -> dict[str, Any] | None:
        """Return a state, or None if there is none that can be read."""
        path = self.folder / name
        if not path.exists():
            return None
        try:
            return _read(path)
        except _UnreadableError as error:
            warnings.warn(f"{error}; that training begins anew", CheckpointWarning, stacklevel=4)
            path.unlink(missing_ok=True)
            return None

    def _write_all(self, training: int, step: int, *more: tuple[str, State]) -> None:
        self._saved = time.monotonic()
        try:
            while self._ended:
                self._write(*self._ended[0])
                del self._ended[0]
            for name, state in more:
                self._write(name, state)
            self._say(training, step)
        except OSError as error:
            # A full disk must not end a training that needs none.
            warnings.warn(f"no checkpoint was written to {self.folder}: {error}", CheckpointWarning, stacklevel=5)

    def _write(self, name: str, state: State) -> None:
        self._put(name, lambda file: np.savez(file, **_flat(_apart(state))))

    def _say(self, training: int, step: int) -> None:
        progress = {"training": training, "step": step, "pieces": self.pieces, "settled": self._settled}
        self._put(PROGRESS, lambda file: file.write(json.dumps(progress, indent=1).encode()))

    def _put(self, name: str, write: Callable[[BinaryIO], object]) -> None:
        """Write beside and rename, so that whatever stands under the name is whole."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with open_beside(self.folder / name) as file:
            write(file)


_current: ContextVar[Checkpoints | None] = ContextVar("checkpoints", default=None)


@contextmanager
def keep_checkpoints(
    folder: str | Path, *, seconds: float = SAVE_SECONDS, until: float = float("inf"), about: Mapping[str, Any] = {}
) -> Iterator[Checkpoints]:
    """Save the trainings of a block now and then, and go on with those that the folder already holds.

    Parameters
    ----------
    folder : str or Path
        One for each piece of work. It is left as it is at the end; delete it once the work's result is safe.
    seconds : float
        Between two saves; a block that takes less writes nothing. 0 saves at every step.
    until : float
        When (``time.time()``) trainings are saved and stopped with a `TrainingPausedError`.
    about : mapping
        Said beside the states: on which device, say.

    Examples
    --------
    >>> import tempfile
    >>> from recombine.lab.nets.by_hand import Playground, train_playground
    >>> from recombine.lab.nets import TrainingPausedError
    >>> def work():
    ...     points, labels = np.eye(2)[np.newaxis], np.array([[1.0, -1.0]])
    ...     return train_playground(Playground.initial([0]), points, labels, record=[3000], batch=1)[3000]
    >>> folder = tempfile.mkdtemp()
    >>> try:
    ...     with keep_checkpoints(folder, until=time.time() + 0.1):
    ...         work()
    ... except TrainingPausedError:
    ...     print("paused on the way:", 0 < read_progress(folder)["step"] < 3000)
    paused on the way: True
    >>> with keep_checkpoints(folder):
    ...     resumed = work()
    >>> bool((resumed.weights[0] == work().weights[0]).all())
    True
    """
    until = real(until, "until", finite=False)
    checkpoints = Checkpoints(Path(folder), real(seconds, "seconds", at_least=0), until, dict(about))
    token = _current.set(checkpoints)
    try:
        yield checkpoints
    finally:
        _current.reset(token)


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """Where one training keeps its state; parts that train side by side keep theirs apart.

    Outside `keep_checkpoints` it holds nothing and nothing is due.
    """

    kept: Checkpoints | None
    number: int
    facts: dict[str, Any]
    since: dict[int, float] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Checkpoint(training {self.number} of {self.kept})"

    def load(self, chunk: int = 0) -> dict[str, Any] | None:
        """Return the state of a part as an earlier attempt left it, or None where it begins."""
        if self.kept is None:
            return None
        self.since[chunk] = time.monotonic()
        state = self.kept.load(self._name(chunk))
        facts = {} if state is None else state.pop("facts")
        if state is None or facts == self.facts:
            return state
        different = sorted(name for name in {*facts, *self.facts} if facts.get(name) != self.facts.get(name))
        warnings.warn(
            f"checkpoint {self._name(chunk)} of {self.kept.folder} is of a training with another {listing(different)}; "
            "this one begins anew",
            CheckpointWarning,
            stacklevel=3,
        )
        return None

    def settle(self, name: str, value: int) -> int:
        """Return what an earlier attempt chose under this name, or choose ``value`` for this and later ones."""
        return value if self.kept is None else self.kept.settle(f"{self.number} {name}", value)

    def offer(self, step: int, state: Callable[[], State], chunk: int = 0) -> None:
        """Save a state if it is due; stop the training if the time is up, but not before something was done.

        Parameters
        ----------
        step : int
            How many steps are done.
        state : callable
            Returns all that later steps depend on: arrays or tensors, and plain values, by name.
        chunk : int
            Which of several trainings side by side this is.
        """
        if self.kept is None or not self.kept.due(self.since[chunk]):
            return
        if not self.kept.moved(self.number, chunk, step):
            return
        self.kept.save(self._name(chunk), {**state(), "facts": self.facts}, self.number, step)
        self.since[chunk] = time.monotonic()
        if self.kept.over:
            raise TrainingPausedError(
                f"paused at step {step} of training {self.number}; {self.kept.folder} has its state"
            )

    def finish(self, step: int, state: Callable[[], State], chunk: int = 0) -> None:
        """Keep the state of a part that has ended, so that it is not trained again."""
        if self.kept is not None:
            self.kept.hold(self._name(chunk), {**state(), "facts": self.facts}, self.number, step)

    def _name(self, chunk: int) -> str:
        return f"{self.number:04d}-{chunk:04d}.npz"


def next_checkpoint(trainer: str, **facts: object) -> Checkpoint:
    """Return the checkpoint of a training that begins.

    Parameters
    ----------
    trainer : str
    facts
        What the training depends on: a state with other facts is not taken up. Of arrays and tensors a digest is kept.

    Examples
    --------
    A loop that can be stopped: it loads what there is, offers its state before every step, and says when it has ended.

    >>> import tempfile
    >>> def halve(number, steps):
    ...     checkpoint = next_checkpoint("halving", number=number, steps=steps)
    ...     state = checkpoint.load() or {"step": 0, "value": np.array(number)}
    ...     for step in range(state["step"], steps):
    ...         checkpoint.offer(step, lambda: state)
    ...         state = {"step": step + 1, "value": state["value"] / 2}
    ...     checkpoint.finish(steps, lambda: state)
    ...     return float(state["value"])
    >>> halve(8.0, 3)
    1.0
    >>> with keep_checkpoints(tempfile.mkdtemp(), seconds=0) as kept:
    ...     halve(8.0, 3), read_progress(kept.folder)["step"]
    (1.0, 3)
    """
    book = _current.get()
    if book is None:
        return Checkpoint(None, 0, {})
    return Checkpoint(book, book.next(), {"trainer": trainer, **{name: _told(value) for name, value in facts.items()}})


def _told(value: Any) -> str:
    """Return a fact as text: of arrays, tensors and collections of them the shape and a digest."""
    if isinstance(value, Mapping):
        return str({name: _told(item) for name, item in value.items()})
    if isinstance(value, list | tuple):
        return str([_told(item) for item in value])
    if not (isinstance(value, np.ndarray) or hasattr(value, "detach")):
        return str(value)
    flat = value.reshape(-1)
    # Millions of pixels need not be read: every so many tell one data set from another.
    thinned = flat[:: max(1, flat.shape[0] // DIGESTED_VALUES)]
    array = np.ascontiguousarray(thinned if isinstance(value, np.ndarray) else thinned.detach().cpu().numpy())
    return f"{tuple(value.shape)} {hashlib.blake2b(array.tobytes(), digest_size=8).hexdigest()}"


def read_progress(folder: str | Path) -> dict[str, Any]:
    """Return how far the trainings of a folder were when they were last saved; empty where nothing can be read.

    Examples
    --------
    >>> read_progress("nowhere")
    {}
    """
    try:
        progress = json.loads((Path(folder) / PROGRESS).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return progress if isinstance(progress, dict) else {}


class _Arrays(list[Any]):
    """A list of arrays, which a file holds one by one."""


def _apart(state: State) -> dict[str, Any]:
    """Return a state that does not change when training goes on: tensors as NumPy arrays, arrays copied."""
    return {name: _copied(name, value) for name, value in state.items()}


def _copied(name: str, value: Any) -> Any:
    if hasattr(value, "detach"):
        if str(value.dtype) == "torch.bfloat16":
            raise InputError(f"{name!r} of a state is a tensor of bfloat16; give it as float32, which holds the same")
        return value.detach().cpu().numpy().copy()
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, list | tuple) and any(
        isinstance(each, np.ndarray) or hasattr(each, "detach") for each in value
    ):
        return _Arrays(_copied(name, each) for each in value)
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        raise InputError(
            f"{name!r} of a state is a {type(value).__name__} that cannot be saved; give arrays, tensors or lists of "
            "them, each with a name at the top of the state, and for the rest numbers, words, lists and dictionaries"
        ) from None
    return value


def _flat(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arrays of a copied state by name, those of a list by name and place, and all else as one text."""
    lists = {name: len(value) for name, value in state.items() if isinstance(value, _Arrays)}
    arrays = {name: value for name, value in state.items() if isinstance(value, np.ndarray)}
    arrays |= {f"{name}/{index}": state[name][index] for name in lists for index in range(lists[name])}
    plain = {name: value for name, value in state.items() if name not in arrays and name not in lists}
    return {**arrays, PLAIN: np.array(json.dumps({**plain, LISTS: lists}))}


def _read(path: Path) -> dict[str, Any]:
    try:
        state = load_arrays(path)
        plain: dict[str, Any] = json.loads(str(state.pop(PLAIN)))
        for name, count in plain.pop(LISTS).items():
            plain[name] = [state.pop(f"{name}/{index}") for index in range(count)]
        return state | plain
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise _UnreadableError(f"checkpoint {path} cannot be read ({error})") from None
