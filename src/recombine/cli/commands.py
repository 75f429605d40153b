"""Every command, with the function behind it and its line of help; the function is imported when it is called."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

#: Command -> the function behind it, as ``module:function``, and what ``recombine --help`` says of it.
COMMANDS = {
    "audit": ("recombine.cli.audit:audit_command", "Which unseen combinations do the data determine?"),
    "split": ("recombine.cli.split:split_command", "Make a test that proves what it should, or check one."),
    "score": ("recombine.cli.score:score_command", "Why did trained models miss?"),
    "compare": ("recombine.cli.compare:compare_command", "What changed between two audits or two scores?"),
    "explore": ("recombine.cli.explore:explore_command", "Paint seen cells and watch what follows, in a browser."),
    "probe": ("recombine.cli.probe:probe_command", "Do predictions depend on what they should ignore?"),
    "inspect": ("recombine.cli.inspect:inspect_command", "Do a model's activations compose?"),
    "demo": ("recombine.cli.audit:demo_command", "Audit a table of flight times that comes with the package."),
    "papers": ("recombine.lab.cli.papers:papers_command", "Papers, their claims, and what was established."),
    "reproduce": ("recombine.lab.cli.reproduce:reproduce_command", "Run a paper's experiments and check its claims."),
}
_STYLE: dict[str, Any] = {
    "add_completion": False,
    "context_settings": {"help_option_names": ["-h", "--help"]},
    "pretty_exceptions_enable": False,
    "rich_markup_mode": "rich",
}


class LazyCommands(TyperGroup):
    """A group that knows its commands by name and help, and imports the one that is called."""

    def resolve_command(self, context: Any, arguments: list[str]) -> Any:
        """Return name, command and remaining arguments; what is listed stands in for the command until now."""
        name, _, remaining = super().resolve_command(context, arguments)
        return name, load_command(str(name)), remaining


def load_command(name: str) -> Any:
    """Return the command, its module imported."""
    module, _, function = COMMANDS[name][0].partition(":")
    single = typer.Typer(**_STYLE)
    single.command(name)(getattr(import_module(module), function))
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
