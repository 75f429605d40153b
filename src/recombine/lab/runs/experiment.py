"""An experiment: a function from one setting to rows, and the grid of settings at each scale."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, is_dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from recombine.errors import InputError, missing_package, near_miss
from recombine.tables.table import Table
from recombine.writing import listing

#: The scales an experiment can run at: minutes on a laptop, or the size of the paper.
SCALES = ("quick", "full")
#: The key of a setting that names the seeds: a list of them, or how many to derive.
SEEDS = "seeds"

Setting = Mapping[str, Any]


@dataclass(frozen=True)
class Result:
    """What one unit of work hands back when rows alone are not enough.

    Parameters
    ----------
    rows : list of dict, or Table
        One dictionary of plain values per row.
    arrays : dict of str to array
        Kept next to the rows in ``arrays.npz``; they never enter the table.

    Examples
    --------
    >>> Result([{"loss": 0.5}], {"weights": np.zeros((2, 3))}).arrays["weights"].shape
    (2, 3)
    """

    rows: Sequence[Mapping[str, Any]] | Table
    arrays: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Result({len(self.rows)} rows, {len(self.arrays)} arrays)"


Rows = Sequence[Mapping[str, Any]] | Table | Result


@dataclass(frozen=True)
class Unit:
    """One unit of work: a setting with its batch of seeds.

    Parameters
    ----------
    experiment : str
        Name of the experiment.
    schema : int
        Version of what the rows mean; a new number makes every unit new.
    setting : dict
        Plain values; inside the experiment's function an instance of its ``setting_type``, where it has one.
    count : int
        Seeds to derive when the setting does not name them.
    device : str
        Where to compute, e.g. ``"cpu"`` or ``"cuda:0"``. Recorded, never part of the key.

    Examples
    --------
    >>> unit = Unit("addition", 1, {"distance": 3})
    >>> unit.key == Unit("addition", 1, {"distance": 3}, device="cuda").key, len(unit.key)
    (True, 32)
    >>> unit.key == Unit("addition", 2, {"distance": 3}).key
    False
    >>> unit.seeds == Unit("addition", 1, {"distance": 3}).seeds, len(unit.seeds)
    (True, 1)
    >>> Unit("addition", 1, {"distance": 3, "seeds": [7, 8]}).seeds
    (7, 8)
    """

    experiment: str
    schema: int
    setting: Any
    count: int = 1
    device: str = "cpu"

    @property
    def spec(self) -> dict[str, Any]:
        """What the key is computed from: experiment, schema number and setting."""
        return {"experiment": self.experiment, "schema": self.schema, "setting": plain_setting(self.setting)}

    @cached_property
    def key(self) -> str:
        """The address of this unit in every store: 32 hexadecimal digits."""
        return key_of(self.spec)

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds the setting names, or as many as it asks for, derived from the key."""
        named = plain_setting(self.setting).get(SEEDS, self.count)
        return derive_seeds(self.key, named) if isinstance(named, int) else tuple(named)


def _canonical(value: object) -> str:
    """Return the one JSON text of a value: sorted keys, no spaces, only numbers that JSON knows.

    Examples
    --------
    >>> _canonical({"b": 1, "a": [1.5, None]})
    '{"a":[1.5,null],"b":1}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def key_of(spec: Mapping[str, Any]) -> str:
    """Return the content address of a spec: blake2b of its canonical JSON, 32 hexadecimal digits.

    Examples
    --------
    >>> key_of({"a": 1, "b": 2}) == key_of({"b": 2, "a": 1})
    True
    """
    return hashlib.blake2b(_canonical(spec).encode(), digest_size=16).hexdigest()


def derive_seeds(key: str, count: int) -> tuple[int, ...]:
    """Return ``count`` seeds below 2**32 that depend on the key alone.

    Examples
    --------
    >>> derive_seeds("ab", 3)[:2] == derive_seeds("ab", 2)
    True
    """
    texts = [f"{key}/{index}".encode() for index in range(count)]
    return tuple(int.from_bytes(hashlib.blake2b(text, digest_size=4).digest(), "big") for text in texts)


def plain_setting(setting: object) -> dict[str, Any]:
    """Return a setting (a mapping or a frozen dataclass) as a dictionary of plain JSON values.

    Examples
    --------
    >>> plain_setting({"distance": np.int64(3), "widths": (20, 20)})
    {'distance': 3, 'widths': [20, 20]}
    """
    if is_dataclass(setting) and not isinstance(setting, type):
        setting = asdict(setting)
    if not isinstance(setting, Mapping):
        raise InputError(f"a setting must be a dictionary or a dataclass, not {type(setting).__name__}")
    return {_name(name): plain_value(value, f"setting {name!r}") for name, value in setting.items()}


def plain_value(value: object, where: str, *, finite: bool = True) -> Any:
    """Return a value with NumPy scalars, arrays and tuples turned into plain numbers and lists.

    Parameters
    ----------
    value : object
    where : str
        What to call the value in an error.
    finite : bool
        Refuse NaN and infinities: they have no place in a key.
    """
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, float) and finite and not math.isfinite(value):
        raise InputError(f"{where} is {value}, which JSON cannot name; use a finite number or a word")
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {_name(name): plain_value(item, where, finite=finite) for name, item in value.items()}
    if isinstance(value, list | tuple | range):
        return [plain_value(item, where, finite=finite) for item in value]
    raise InputError(f"{where} is a {type(value).__name__}; use numbers, words, lists and dictionaries of them")


def _name(name: object) -> str:
    if not isinstance(name, str):
        raise InputError(f"the name {name!r} is not a word; settings and rows are dictionaries with text keys")
    return name


def grid(**axes: object) -> list[dict[str, Any]]:
    """Return every combination of the axes' values, last axis fastest; a single number or word stays fixed.

    Examples
    --------
    >>> grid(loss=["squared", "hinge"], distance=range(2), width=64)[1]
    {'loss': 'squared', 'distance': 1, 'width': 64}
    """
    fixed = (str, bytes, Mapping)
    values = [
        list(axis) if isinstance(axis, Iterable) and not isinstance(axis, fixed) else [axis] for axis in axes.values()
    ]
    return [dict(zip(axes, choice, strict=True)) for choice in itertools.product(*values)]


@dataclass(frozen=True)
class Experiment:
    """A function from one setting to rows, and its settings at ``quick`` and ``full`` scale.

    Parameters
    ----------
    name : str
        Part of every unit's key, e.g. ``"kernel-theory/addition"``.
    function : callable
        Takes a `Unit` (``unit.setting``, ``unit.seeds``, ``unit.device``) and returns rows (a list of dictionaries or
        a `Table`) or a `Result`. It must stand at the top level of an importable module: other processes run it.
    quick, full : sequence of settings
        Dictionaries, or instances of ``setting_type``.
    schema : int
        Raise it when the function changes what it computes: earlier results are then left alone and not read.
    seeds : int
        Seeds to derive from the key for settings that do not name theirs.
    setting_type : type, optional
        A frozen dataclass that the function gets its setting as.
    needs : callable, optional
        Called by the driver, on its own host, with the units that are about to run; raises an `InputError` if what they
        all need (a data set, say) is missing, so that there is one message instead of one per unit.

    Examples
    --------
    >>> def double(unit):
    ...     return [{"value": 2 * unit.setting["x"]}]
    >>> experiment = Experiment("double", double, quick=grid(x=[1, 2]), full=grid(x=range(100)))
    >>> experiment
    Experiment('double', 2 quick and 100 full settings)
    >>> [unit.setting for unit in experiment.units("quick")]
    [{'x': 1}, {'x': 2}]
    >>> len(experiment.units("full"))
    100
    """

    name: str
    function: Callable[[Unit], Rows]
    quick: Sequence[Any]
    full: Sequence[Any]
    schema: int = 1
    seeds: int = 1
    setting_type: type | None = None
    needs: Callable[[Sequence[Unit]], None] | None = None

    def __repr__(self) -> str:
        return f"Experiment({self.name!r}, {len(self.quick)} quick and {len(self.full)} full settings)"

    def settings(self, scale: str) -> list[dict[str, Any]]:
        """Return the settings of a scale as plain dictionaries."""
        if scale not in SCALES:
            raise InputError(f"scale {scale!r} is unknown;{near_miss(scale, SCALES, f'Scales: {listing(SCALES)}')}")
        return [plain_setting(self._typed(setting)) for setting in (self.quick if scale == "quick" else self.full)]

    def _typed(self, setting: Any) -> Any:
        # Before the key is computed: a default left out and a default spelled out are the same setting.
        if self.setting_type is None:
            return setting
        import msgspec

        try:
            return msgspec.convert(plain_setting(setting), self.setting_type)
        except msgspec.ValidationError as error:
            raise InputError(f"setting {setting} is no {self.setting_type.__name__}: {error}") from None

    def unit(self, setting: Any, device: str = "cpu") -> Unit:
        """Return the unit of a setting, in the grid or not."""
        return Unit(self.name, self.schema, plain_setting(self._typed(setting)), self.seeds, device)

    def units(self, scale: str, device: str = "cpu") -> list[Unit]:
        """Return the units of work of a scale in the order of the grid, each once."""
        units = [Unit(self.name, self.schema, setting, self.seeds, device) for setting in self.settings(scale)]
        for unit in units:
            _check_seeds(unit)
        return list({unit.key: unit for unit in units}.values())

    def limited(self, scale: str, units: Iterable[Unit]) -> Experiment:
        """Return the experiment with these units alone at one scale."""
        settings = [unit.setting for unit in units]
        return replace(self, quick=settings) if scale == "quick" else replace(self, full=settings)

    def ready(self, unit: Unit) -> Unit:
        """Return the unit as the function wants it: its setting an instance of ``setting_type``."""
        return replace(unit, setting=self._typed(unit.setting))

    def compute(self, unit: Unit) -> Rows:
        """Run a unit here and now, and return what its function returns; nothing is stored."""
        return self.function(self.ready(unit))

    def require_needs(self, units: Sequence[Unit]) -> None:
        """Raise unless what these units need is there."""
        if self.needs is not None and units:
            try:
                self.needs([self.ready(unit) for unit in units])
            except ModuleNotFoundError as error:
                raise missing_package(error) from error

    def require_importable(self) -> None:
        """Raise unless another process can find the function by its module and name."""
        module, name = self.function.__module__, self.function.__qualname__
        if getattr(sys.modules.get(module), name, None) is not self.function:
            raise InputError(
                f"{name!r} of experiment {self.name!r} cannot be imported from {module!r} by another process; "
                "define it at the top level of a module, or use the executor 'inline'"
            )


def _check_seeds(unit: Unit) -> None:
    named = unit.setting.get(SEEDS, unit.count)
    count = [named] if isinstance(named, int) else named
    if not isinstance(count, list) or not count or any(isinstance(n, bool) or not isinstance(n, int) for n in count):
        raise InputError(f"'seeds' of {unit.setting} must be a list of whole numbers, or how many seeds to derive")
    if isinstance(named, int) and named < 1:
        raise InputError(f"'seeds' of {unit.setting} asks for {named} seeds; ask for at least one")
