"""Number options of every command: 0, 1, huge and negative values answer, or are refused in a line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from recombine.cli.commands import COMMANDS, load_command

Run = Callable[..., tuple[int, str, str]]
VALUES = [-1, 0, 1, 10**9, 2**63, 10**30]
FACTORS = ["--factors", "colour,shape,site"]
#: Calls of each command that has such options; they succeed. Pages are not served.
CALLS = {
    "audit": [["audit", "TABLE", *FACTORS, "--outcome", "mass"]],
    "split": [
        ["split", "TABLE", *FACTORS, "--check", "part=train"],
        ["split", "TABLE", *FACTORS, "--test", "determined:0.2"],
    ],
    "score": [["score", "TABLE", *FACTORS, "--outcome", "mass", "--split", "part=train", "--prediction", "guess"]],
    "examine": [["examine", "TABLE", *FACTORS, "--outcome", "mass", "--model", "ridge", "--folds", "2"]],
    "explore": [["explore", "TABLE", *FACTORS, "--outcome", "mass", "--no-open"]],
    "probe": [["probe", "PREDICTIONS", "--prediction", "guess", "--factor", "a", "--factors", "b"]],
}


def _options() -> list[tuple[str, str]]:
    """Every option that is a number of every command outside the laboratory, as the commands themselves say."""
    return [
        (command, option.opts[0])
        for command, (function, _) in COMMANDS.items()
        if not function.startswith("recombine.lab.")
        for option in load_command(command).params
        if option.type_descriptor.annotation in (int, float, list[int], list[float])
    ]


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
    assert {command for command, _ in _options()} == set(CALLS)
    assert ("audit", "--order") in _options()  # those made of fields of a table's spec are among them


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize(("command", "option"), _options())
def test_every_size_is_answered_or_refused_in_a_line(
    run: Run, files: dict[str, Path], monkeypatch: pytest.MonkeyPatch, command: str, option: str, value: int
) -> None:
    if command == "explore":
        pytest.importorskip("starlette", reason="needs the extra explore")
        monkeypatch.setattr("recombine.explore.server.serve", lambda app, listener: None)
    for words in CALLS[command]:
        code, out, err = run(*[files.get(word, word) for word in words], f"{option}={value}")
        if code == 0:
            assert (out.strip(), err) != ("", "")
        else:
            assert (code, out, err.count("\n")) == (2, "", 1)
            assert err.startswith("recombine: ")
        if value < 0:
            assert code == 2
