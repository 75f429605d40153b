"""Every command, with the function behind it and its line of help; the function is imported when it is called."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

#: Command -> the function behind it, as ``module:function``, and what ``recombine --help`` says of it.
COMMANDS = {
    "audit": (
        "recombine.cli.audit:audit_command",
        "Say which unseen combinations of a table are determined by its data, why, and what to collect next.",
    ),
    "split": (
        "recombine.cli.split:split_command",
        "Split a table so that each part of the test proves what its name says, or check a split that exists.",
    ),
    "score": (
        "recombine.cli.score:score_command",
        "Say why trained models missed: error on held-out combinations by verdict and, where data settle it, by cause.",
    ),
    "compare": (
        "recombine.cli.compare:compare_command",
        "Say what changed between two audits or two scores: cells, levels, findings; models, errors and causes.",
    ),
    "explore": (
        "recombine.cli.explore:explore_command",
        "Open the page on which seen cells are painted; with a table, serve the page with its audit behind it.",
    ),
    "probe": (
        "recombine.cli.probe:probe_command",
        "Say whether predictions depend on factors that they should ignore, how much, and how sure that is.",
    ),
    "inspect": (
        "recombine.cli.inspect:inspect_command",
        "Say whether a model's activations compose, where they stop moving, and how additive each layer is.",
    ),
    "demo": (
        "recombine.cli.audit:demo_command",
        "Audit the bundled table of flight times by carrier, origin and destination.",
    ),
    "papers": (
        "recombine.lab.cli.papers:papers_command",
        "List papers, their claims, and what has been established of whose statements.",
    ),
    "reproduce": (
        "recombine.lab.cli.reproduce:reproduce_command",
        "Run a paper's experiments and check every claim; exit code 1 if a verdict is not the recorded one.",
    ),
}
_STYLE: dict[str, Any] = {"add_completion": False, "pretty_exceptions_enable": False, "rich_markup_mode": "rich"}


class LazyCommands(TyperGroup):
    """A group that knows its commands by name and help, and imports the one that is called."""

    def resolve_command(self, context: Any, arguments: list[str]) -> Any:
        """Return name, command and remaining arguments; what is listed stands in for the command until now."""
        name, _, remaining = super().resolve_command(context, arguments)
        return name, _imported(str(name)), remaining


def _imported(name: str) -> Any:
    address, line = COMMANDS[name]
    module, _, function = address.partition(":")
    single = typer.Typer(**_STYLE)
    single.command(name, help=line)(getattr(import_module(module), function))
    return typer.main.get_command(single)


app = typer.Typer(
    name="recombine",
    cls=LazyCommands,
    help="Which unseen combinations of factors does your data determine, and what to collect next?",
    **_STYLE,
)
for _name, (_, _help) in COMMANDS.items():
    app.command(_name, help=_help)(lambda: None)


@app.callback(invoke_without_command=True)
def _start(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
) -> None:
    if version:
        from recombine import __version__

        print(__version__)
        raise typer.Exit
    if context.invoked_subcommand is None:
        print(context.get_help())
