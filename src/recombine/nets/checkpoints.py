"""Trainings that can be stopped: their state is kept in a folder, and the same call goes on from there.

Inside `keep_checkpoints` every trainer of the house saves now and then, and takes up what an earlier attempt left. What
runs inside must be the same each time, because trainings are told apart by the order in which they begin.
"""

from __future__ import annotations

import json
import os
import secrets
import threading
import time
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from recombine.checks import real
from recombine.errors import RecombineError

#: Arrays or tensors, and plain values (numbers, words, lists of them), by name.
State = Mapping[str, Any]

#: Seconds between two saves.
SAVE_EVERY = 60.0
#: What a folder says about how far it is.
PROGRESS = "progress.json"
#: The entry of a file that holds what is no array.
PLAIN = "plain values"


class CheckpointWarning(UserWarning):
    """A checkpoint could not be written or read; nothing but time is lost."""


class TrainingPausedError(BaseException):
    """Raised inside a training when the time is up and its state is saved; not an Exception, lest a unit swallow it."""


class _UnreadableError(RecombineError):
    """A checkpoint is damaged."""


@dataclass(eq=False)
class Checkpoints:
    """A folder of training states and when to write to it; `keep_checkpoints` makes one.

    Attributes
    ----------
    folder : Path
    seconds : float
        Between two saves.
    until : float
        The time (``time.time()``) at which trainings are saved and stopped.
    about : dict
        Said beside the states, e.g. on which device.
    """

    folder: Path
    seconds: float = SAVE_EVERY
    until: float = float("inf")
    about: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._begun = self._saved = time.monotonic()
        self._trainings = 0
        self._ended: list[tuple[str, State]] = []
        self._lock = threading.Lock()
        told = read_progress(self.folder)
        self._earlier: list[dict[str, Any]] = list(told.get("pieces", []))
        self._settled: dict[str, int] = dict(told.get("settled", {}))
        self._clear_drafts()

    def __repr__(self) -> str:
        return f"Checkpoints({str(self.folder)!r}, every {self.seconds:g} s)"

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

    @property
    def over(self) -> bool:
        """Whether the time is up."""
        return time.time() >= self.until

    def settle(self, name: str, value: int) -> int:
        """Return what an earlier attempt chose under a name, or choose ``value`` for this and later ones."""
        return self._settled.setdefault(name, value)

    def hold(self, name: str, state: State, training: int, step: int) -> None:
        """Take in the state of a training that has ended; it is written with the next save."""
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
        """Write beside and rename, so that whatever stands under the name is whole."""
        self.folder.mkdir(parents=True, exist_ok=True)
        whole = _apart(state)
        arrays: dict[str, Any] = {key: value for key, value in whole.items() if isinstance(value, np.ndarray)}
        plain = {key: value for key, value in whole.items() if key not in arrays}
        arrays[PLAIN] = np.array(json.dumps(plain))
        draft = self.folder / f".{name}.{secrets.token_hex(4)}"
        try:
            with draft.open("wb") as file:
                np.savez(file, **arrays)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(self.folder / name)
        finally:
            draft.unlink(missing_ok=True)

    def _say(self, training: int, step: int) -> None:
        draft = self.folder / f".{PROGRESS}.{secrets.token_hex(4)}"
        told = {"training": training, "step": step, "pieces": self.pieces, "settled": self._settled}
        try:
            draft.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
            draft.replace(self.folder / PROGRESS)
        finally:
            draft.unlink(missing_ok=True)

    def _clear_drafts(self) -> None:
        """Remove what a killed attempt was writing; only one attempt at a time uses a folder."""
        for draft in self.folder.glob(".*"):
            draft.unlink(missing_ok=True)


_current: ContextVar[Checkpoints | None] = ContextVar("checkpoints", default=None)


@contextmanager
def keep_checkpoints(
    folder: str | Path, *, seconds: float = SAVE_EVERY, until: float = float("inf"), about: Mapping[str, Any] = {}
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
    >>> from recombine.nets.by_hand import Playground, train_playground
    >>> from recombine.nets import TrainingPausedError
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
    checkpoints = Checkpoints(Path(folder), real(seconds, "seconds", least=0), until, dict(about))
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

    def load(self, part: int = 0) -> dict[str, Any] | None:
        """Return the state of a part as an earlier attempt left it, or None where it begins."""
        if self.kept is None:
            return None
        self.since[part] = time.monotonic()
        found = self.kept.load(self._name(part))
        if found is not None and found.pop("facts") != self.facts:
            message = f"checkpoint {self._name(part)} of {self.kept.folder} is of another training, which begins anew"
            warnings.warn(message, CheckpointWarning, stacklevel=3)
            return None
        return found

    def settle(self, name: str, value: int) -> int:
        """Return what an earlier attempt chose under this name, or choose ``value`` for this and later ones."""
        return value if self.kept is None else self.kept.settle(f"{self.number} {name}", value)

    def offer(self, step: int, state: Callable[[], State], part: int = 0) -> None:
        """Save a state if it is due; stop the training if the time is up."""
        if self.kept is None or not self.kept.due(self.since[part]):
            return
        self.kept.save(self._name(part), {**state(), "facts": self.facts}, self.number, step)
        self.since[part] = time.monotonic()
        if self.kept.over:
            raise TrainingPausedError

    def finish(self, step: int, state: Callable[[], State], part: int = 0) -> None:
        """Keep the state of a part that has ended, so that it is not trained again."""
        if self.kept is not None:
            self.kept.hold(self._name(part), {**state(), "facts": self.facts}, self.number, step)

    def _name(self, part: int) -> str:
        return f"{self.number:04d}-{part:04d}.npz"


def next_checkpoint(trainer: str, **facts: object) -> Checkpoint:
    """Return the checkpoint of a training that begins; ``facts`` tell it from trainings of another kind.

    Examples
    --------
    >>> next_checkpoint("ensemble", steps=100).load() is None
    True
    """
    kept = _current.get()
    told = {"trainer": trainer, **{name: str(value) for name, value in facts.items()}}
    return Checkpoint(kept, 0 if kept is None else kept.next(), told)


def read_progress(folder: str | Path) -> dict[str, Any]:
    """Return how far the trainings of a folder were when they were last saved; empty where nothing can be read.

    Examples
    --------
    >>> read_progress("nowhere")
    {}
    """
    try:
        told = json.loads((Path(folder) / PROGRESS).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return told if isinstance(told, dict) else {}


def numbered(prefix: str, tensors: Sequence[Any]) -> dict[str, Any]:
    """Return arrays or tensors by name and place, as a state holds them; `numbered_in` finds them again.

    Examples
    --------
    >>> numbered("weights", [1, 2])
    {'weights/0': 1, 'weights/1': 2}
    """
    return {f"{prefix}/{place}": tensor for place, tensor in enumerate(tensors)}


def numbered_in(state: State, prefix: str) -> list[Any]:
    """Return what a state holds under a name, in order.

    Examples
    --------
    >>> numbered_in({"weights/0": 1, "weights/1": 2, "step": 3}, "weights")
    [1, 2]
    """
    count = sum(name.startswith(f"{prefix}/") for name in state)
    return [state[f"{prefix}/{place}"] for place in range(count)]


def _apart(state: State) -> dict[str, Any]:
    """Return a state that does not change when training goes on: tensors as NumPy arrays, arrays copied."""
    copied: dict[str, Any] = {}
    for name, value in state.items():
        if isinstance(value, np.ndarray):
            copied[name] = value.copy()
        elif hasattr(value, "detach"):
            copied[name] = value.detach().cpu().numpy().copy()
        else:
            copied[name] = value
    return copied


def _read(path: Path) -> dict[str, Any]:
    try:
        with np.load(path, allow_pickle=False) as file:
            state = {name: file[name] for name in file.files}
        plain: dict[str, Any] = json.loads(str(state.pop(PLAIN)))
        return state | plain
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise _UnreadableError(f"checkpoint {path} cannot be read ({error})") from None
