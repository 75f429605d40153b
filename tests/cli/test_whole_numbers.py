"""Whole-number options of every command: 0, 1, huge and negative values answer, or are refused in a line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from recombine.cli.commands import COMMANDS, load_command

Run = Callable[..., tuple[int, str, str]]
VALUES = [-1, 0, 1, 10**30]
FACTORS = ["--factors", "colour,shape,site"]
#: A call of each command that has such options, and succeeds. A served page has no end of its own: it is only refused.
CALLS = {
    "audit": ["audit", "TABLE", *FACTORS, "--outcome", "mass"],
    "split": ["split", "TABLE", *FACTORS, "--check", "part=train"],
    "score": ["score", "TABLE", *FACTORS, "--outcome", "mass", "--split", "part=train", "--prediction", "guess"],
    "explore": ["explore", "TABLE", *FACTORS, "--outcome", "mass", "--no-open"],
    "probe": ["probe", "PREDICTIONS", "--prediction", "guess", "--factor", "a", "--factors", "b"],
}


def _options() -> list[tuple[str, str, int]]:
    """Every whole-number option of every command with every value, but those with which a page would be served."""
    drawn = []
    for command in sorted(set(COMMANDS) - {"papers", "reproduce"}):
        for option in load_command(command).params:
            if option.type_descriptor.annotation is int:
                drawn += [(command, option.opts[0], value) for value in VALUES if command != "explore" or value < 0]
    return drawn


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("tables")
    cells = [
        (colour, shape, site) for colour in ("red", "blue", "green") for shape in ("cube", "ball") for site in "xy"
    ]
    rows = [f"{c},{h},{s},{i * 1.5},{'test' if i == 7 else 'train'},{i}" for i, (c, h, s) in enumerate(cells)]
    (folder / "table.csv").write_text("\n".join(["colour,shape,site,mass,part,guess", *rows]))
    rows = [f"{i % 2},{i // 2 % 2},{(i * 37 % 101) / 101}" for i in range(200)]
    (folder / "predictions.csv").write_text("\n".join(["a,b,guess", *rows]))
    return {"TABLE": folder / "table.csv", "PREDICTIONS": folder / "predictions.csv"}


def test_there_is_a_call_of_every_command_with_such_options() -> None:
    assert {command for command, _, _ in _options()} == set(CALLS)


@pytest.mark.parametrize(("command", "option", "value"), _options())
def test_every_size_is_answered_or_refused_in_a_line(
    run: Run, files: dict[str, Path], command: str, option: str, value: int
) -> None:
    call = [files.get(word, word) for word in CALLS[command]]
    code, out, err = run(*call, f"{option}={value}")
    if code == 0:
        assert (out.strip(), err) != ("", "")
    else:
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert err.startswith("recombine: ")
    if value < 0:
        assert code == 2
