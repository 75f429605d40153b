"""Every command, with the function behind it and its line of help; the function is imported when it is called."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

#: What commands are about, in the order of use -> command -> the function behind it, as ``module:function``, and what
#: ``recombine --help`` says of it.
PANELS = {
    "Tables and predictions": {
        "audit": ("recombine.cli.audit:audit_command", "Which unseen combinations do the data determine?"),
        "split": ("recombine.cli.split:split_command", "Make a test that proves what it should, or check one."),
        "score": ("recombine.cli.score:score_command", "Why did trained models miss?"),
        "compare": ("recombine.cli.compare:compare_command", "What changed between two audits or two scores?"),
        "explore": ("recombine.cli.explore:explore_command", "Paint seen cells and watch what follows, in a browser."),
    },
    "Models": {
        "examine": ("recombine.cli.examine:examine_command", "Train models, leave combinations out: why do they miss?"),
        "probe": ("recombine.cli.probe:probe_command", "Do predictions depend on what they should ignore?"),
        "inspect": ("recombine.lab.cli.inspect:inspect_command", "Do a model's activations compose?"),
    },
    "The package": {
        "mcp": ("recombine.cli.mcp:mcp_command", "Let an assistant ask about the tables below this folder."),
        "demo": ("recombine.cli.audit:demo_command", "Audit a drug screen that comes with the package."),
        "schema": ("recombine.cli.schema:schema_command", "Print the JSON Schema of what --json prints."),
    },
    "Papers": {
        "papers": ("recombine.lab.cli.papers:papers_command", "Papers, their claims, and what was established."),
        "reproduce": ("recombine.lab.cli.reproduce:reproduce_command", "Run a paper's experiments, check its claims."),
    },
}
#: Command -> the function behind it and its line of help.
COMMANDS = {name: entry for entries in PANELS.values() for name, entry in entries.items()}
_STYLE: dict[str, Any] = {
    "context_settings": {"help_option_names": ["-h", "--help"]},
    "pretty_exceptions_enable": False,
    "rich_markup_mode": "rich",
}


class GroupedCommand(TyperCommand):
    """A command whose options stand in named groups, ``--help`` with those about output."""

    def get_params(self, context: Any) -> list[Any]:
        """Return the options, the one that asks for help last; in no group it would stand above all others."""
        *options, asks_for_help = super().get_params(context)
        asks_for_help.rich_help_panel = "Output"  # type: ignore[attr-defined]
        return _bare([*options, asks_for_help])


def _bare(options: list[Any]) -> list[Any]:
    """Let switches stand in help without the type of a value that nobody gives."""
    for option in options:
        option.metavar = "" if getattr(option, "is_flag", False) else option.metavar
    return options


class LazyCommands(TyperGroup):
    """A group that knows its commands by name and help, and imports the one that is called."""

    def get_params(self, context: Any) -> list[Any]:
        """Return the options of the program itself."""
        return _bare(super().get_params(context))

    def resolve_command(self, context: Any, arguments: list[str]) -> Any:
        """Return name, command and remaining arguments; what is listed stands in for the command until now."""
        name, _, remaining = super().resolve_command(context, arguments)
        return name, load_command(str(name)), remaining


def load_command(name: str) -> Any:
    """Return the command, its module imported."""
    module, _, function = COMMANDS[name][0].partition(":")
    single = typer.Typer(add_completion=False, **_STYLE)
    single.command(name, cls=GroupedCommand)(getattr(import_module(module), function))
    return typer.main.get_command(single)


app = typer.Typer(
    name="recombine",
    cls=LazyCommands,
    help="Which unseen combinations of factors does your data determine, and what to collect next?",
    **_STYLE,
)
for _panel, _entries in PANELS.items():
    for _name, (_, _help) in _entries.items():
        app.command(_name, help=_help, rich_help_panel=_panel)(lambda: None)


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
