"""Number options of the commands of the laboratory: 0, huge and negative values answer, or are refused in a line."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from recombine.cli.commands import COMMANDS, load_command

Run = Callable[..., tuple[int, str, str]]
CALLS = {"reproduce": ["reproduce", "kernel-theory", "--from-results"]}
OPTIONS = [
    (command, option.opts[0])
    for command, (function, _) in COMMANDS.items()
    if function.startswith("recombine.lab.")
    for option in load_command(command).params
    if option.type_descriptor.annotation in (int, float, list[int], list[float])
]


@pytest.mark.slow
@pytest.mark.parametrize("value", [-1, 0, 10**30])
@pytest.mark.parametrize(("command", "option"), OPTIONS)
def test_every_size_is_answered_or_refused_in_a_line(run: Run, command: str, option: str, value: int) -> None:
    code, out, err = run(*CALLS[command], f"{option}={value}")
    if code == 0:
        assert out.strip()
    else:
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert err.startswith("recombine: ")
    assert code == 2 or value >= 0
