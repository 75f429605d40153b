"""Write what registries give to the documentation and to the page: python tools/build_vocabulary.py [--check].

Each page is a function below and a line in `PAGES`; ``--check`` writes nothing and ends with 1 where a page is not what
the package says. ``tests/architecture/test_vocabulary.py`` does the same.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import pkgutil
import re
import sys
import textwrap
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import get_args

sys.path.insert(0, str(Path(__file__).parent))
from entry_pages import entry_pages
from rates import page_name

from recombine import jobs, table_spec
from recombine.cli.commands import COMMANDS
from recombine.data.hit_rates import hit_rate, hit_rates
from recombine.jobs.findings import FINDINGS
from recombine.jobs.limits import Limits
from recombine.jobs.score.causes import CAUSES
from recombine.lab import inspection
from recombine.report.templates import verdict_style
from recombine.theory.structures import simplest_first
from recombine.words.reading import SENTENCES
from recombine.words.vocabulary import vocabulary

ROOT = Path(__file__).parents[1]
#: Letters of a line of prose.
WIDTH = 100
WRITTEN = "<!-- Written by tools/build_vocabulary.py from the package; edit the entry there. -->"


def causes_page() -> str:
    """Return the page of the causes of a model's error."""
    rows = []
    for cause in CAUSES:
        opposite = f" (or: {cause.overdone_meaning})" if cause.overdone_meaning else ""
        rows.append(
            [
                f"[**{cause.name}**](causes/{page_name(cause.name)}.md)",
                f"the {cause.of}'s",
                f"{cause.meaning}{opposite}",
                cause.action,
            ]
        )
    measured = []
    for cause in CAUSES:
        text = f"**{cause.name}** ({cause.title}): {' '.join(inspect.getdoc(type(cause)).split())}"
        if cause.coefficient is not None:
            text += f" Its coefficient is called {cause.coefficient.name}: {cause.coefficient.meaning}."
        if cause.hit_rate is not None:
            text += f" The audit forecasts it before training, and was right in {hit_rate(cause.hit_rate)}."
        measured.append(textwrap.fill(f"- {text}", WIDTH, subsequent_indent="  ", break_on_hyphens=False))
    return "\n".join(
        [
            "# Causes: why a model missed",
            "",
            WRITTEN,
            "",
            _prose(
                "[`recombine score`](score.md) splits the squared error of a model "
                "on determined cells into these causes. The amounts add up to the error; a negative one makes up for "
                "others."
            ),
            "",
            *_table(["cause", "whose", "what it is", "what to do"], rows),
            "",
            "## How each is measured",
            "",
            *measured,
            "",
            *_contents("causes"),
        ]
    )


#: Above each table of findings, by the first digit of its codes.
FINDINGS_BY_DIGIT = {
    "1": "Audit: what the data leave open, and how the table was read",
    "2": "Audit: what networks will do",
    "3": "Audit: whether effects add",
    "4": "Split: what training gives away of the test (`recombine split --check`)",
    "5": "Compare: what changed (`recombine compare`, `--baseline`)",
    "6": "Score: what a trained model does (`recombine score`)",
    "7": "Probe: what predictions depend on (`recombine probe`)",
    "8": "Coverage",
    "9": "Others",
}


def findings_page() -> str:
    """Return the page of the numbered findings."""
    tables: dict[str, list[list[str]]] = {}
    for kind in FINDINGS:
        words = "".join(f"<br>`{word}`" for word in kind.fail_on)
        meaning = kind.meaning
        if kind.hit_rate is not None:
            meaning += f" Measured: {hit_rates()['sentences'][kind.hit_rate]['says']} in {hit_rate(kind.hit_rate)}."
        row = [f"[{kind.code}](findings/{kind.code}.md){words}", kind.title, kind.severity.word, meaning, kind.action]
        tables.setdefault(FINDINGS_BY_DIGIT[kind.code[2]], []).append(row)
    lead = _prose(
        "Findings are numbered so that a script can act on them: `--fail-on RC101,lost` exits with 1 if one of these "
        "is made, by number or by word. No finding fails a run unless it is named."
    )
    lines = ["# Findings", "", WRITTEN, "", lead, ""]
    for heading, rows in tables.items():
        head = ["code", "finding", "severity", "what it means", "what to do"]
        lines += [f"## {heading}", "", *_table(head, rows), ""]
    return "\n".join([*lines, *_contents("findings")])


def limits_page() -> str:
    """Return the page of the thresholds: every `Limits` of the jobs and of the inspection."""
    for package in (jobs, inspection):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if module.name.endswith(".limits"):
                import_module(module.name)
    lead = _prose(
        "Thresholds that decide what is said. They stand in one place per job, so that whoever doubts a sentence can "
        "see where it turns."
    )
    lines = ["# Limits", "", WRITTEN, "", lead, ""]
    for kind in sorted(Limits.__subclasses__(), key=lambda kind: kind.__module__):
        fields = [(field.name, field.default, field.metadata) for field in dataclasses.fields(kind)]
        rows = [[f"`{name}`", f"{value:,}", says["unit"], says["why"]] for name, value, says in fields]
        lines += [f"## {inspect.getdoc(kind).rstrip('.')}", "", *_table(["limit", "value", "of", "why"], rows), ""]
    return "\n".join(lines)


def structures_page() -> str:
    """Return the page of the structures."""
    rows = []
    for structure in simplest_first():
        orders = "single levels" if structure.order == 1 else f"up to {structure.order} levels"
        needs = "yes" if structure.needs_outcome else "no"
        rows.append(
            [
                f"[`{structure.name}`](structures/{structure.name}.md)",
                structure.assumption,
                orders,
                needs,
                structure.help,
            ]
        )
    records = dict.fromkeys(structure.hit_rate for structure in simplest_first() if structure.hit_rate)
    remarks = [
        f"A chosen structure other than adding had less error than adding in {hit_rate(key)}." for key in records
    ]
    return "\n".join(
        [
            "# Structures: what effects do",
            "",
            WRITTEN,
            "",
            _prose(
                "Verdicts and values hold if effects do what the structure says. `--structure` and "
                "`CompositionalRegressor(structure=...)` take these names; `auto` chooses the simplest that "
                "[predicts held-out cells well](concepts.md#structures-beyond-adding). Simplest first:"
            ),
            "",
            *_table(["structure", "it assumes that", "effects of", "needs an outcome", "what it says"], rows),
            "",
            *map(_prose, remarks),
            "",
            *_contents("structures"),
        ]
    )


#: A table of options in a page: between these two comments.
OPTIONS = re.compile(r"(<!-- Options of (\w+): .*? -->\n)(.*?)(<!-- End of options -->)", re.DOTALL)
#: Commands that take an option in the same words, from which on it is listed once for all of them.
MIN_TAKERS = 3
#: Commands that read a table.
READERS = ("audit", "split", "score", "explore", "probe")


def command_line_page() -> str:
    """Return the page of the command line with its tables of options written anew."""
    text = (ROOT / "docs/command-line.md").read_text(encoding="utf-8")
    return OPTIONS.sub(lambda found: f"{found[1]}\n{options_table(found[2])}\n\n{found[4]}", text)


def options_table(command: str) -> str:
    """Return the options of a command alone; ``table``: those about a table, ``shared``: those of several commands."""
    if command == "shared":
        rows = [[flags, told, ", ".join(takers)] for (flags, told), takers in shared_options().items()]
        return "\n".join(_table(["option", "what it does", "taken by"], rows))
    if command != "table":
        about_table = {field.name for field in table_spec.fields()} if command in (*READERS, "examine") else set()
        told_once = {*shared_options()}
        rows = [row for name, row in _options(command).items() if name not in about_table and (*row,) not in told_once]
        return "\n".join(_table(["option", "what it does"], rows))
    options = {name: _options(name) for name in READERS}
    rows = []
    for field in table_spec.fields():
        lacking = [name for name in READERS if field.name not in options[name]]
        takers = [name for name in READERS if name not in lacking]
        flags, told = options[takers[0]][field.name]
        shown = re.sub(r" [A-Z=/]+`", f" {field.option.example}`", flags)
        few = ", ".join(takers) if len(takers) <= len(lacking) else f"all but {', '.join(lacking)}"
        rows.append([shown, told, few if lacking else "all"])
    return "\n".join(_table(["option", "what it says of the table", "taken by"], rows))


def shared_options() -> dict[tuple[str, ...], list[str]]:
    """Return options, not about a table, that several commands take in the same words, with these commands."""
    about_table, takers = {field.name for field in table_spec.fields()}, dict[tuple[str, ...], list[str]]()
    for command in COMMANDS:
        for name, row in _options(command).items():
            if name not in about_table:
                takers.setdefault((*row,), []).append(command)
    return {row: commands for row, commands in takers.items() if len(commands) >= MIN_TAKERS}


def _options(command: str) -> dict[str, list[str]]:
    """Return the options of a command by name: how each is written, and what its help says."""
    module, _, function = COMMANDS[command][0].partition(":")
    options = {}
    for name, parameter in inspect.signature(getattr(import_module(module), function)).parameters.items():
        _, *marks = get_args(parameter.annotation) or (parameter.annotation,)
        if not marks or type(marks[0]).__name__ != "OptionInfo":
            continue
        # What is written after Option( is its default or its name: here always the latter.
        names = marks[0].default if isinstance(marks[0].default, str) else f"--{name.replace('_', '-')}"
        default = "" if parameter.default in (None, False, True, inspect.Parameter.empty) else parameter.default
        told = f"{marks[0].help}{'' if default == '' else f' Default: {default}.'}"
        written = ", ".join(f"`{f'{flag} {marks[0].metavar}'.strip()}`" for flag in names.split("/"))
        options[name] = [text.replace("|", "\\|") for text in (written, told)]
    return options


def page_words() -> str:
    """Return the words that the page shows, as JSON; others would make it stale whenever one of them changes."""
    words = vocabulary()
    return json.dumps({name: words[name] for name in ("verdicts", "assumed", "adding", "truths")}, indent=1) + "\n"


def page_phrases() -> str:
    """Return the sentences that the page fills, as JSON of their own: the page's build then drops their names."""
    return json.dumps(vocabulary()["phrases"], indent=1) + "\n"


def served_phrases() -> str:
    """Return what the page says beside them where a program serves it."""
    return json.dumps(vocabulary()["served"], indent=1) + "\n"


def reading_phrases() -> str:
    """Return the sentences on how a table was read, by kind of note."""
    return json.dumps(SENTENCES, indent=1) + "\n"


PAGES: dict[str, Callable[[], str]] = {
    "docs/causes.md": causes_page,
    "docs/command-line.md": command_line_page,
    "docs/findings.md": findings_page,
    "docs/limits.md": limits_page,
    "docs/structures.md": structures_page,
    "page/src/generated/phrases.json": page_phrases,
    "page/src/generated/reading.json": reading_phrases,
    "page/src/generated/served.json": served_phrases,
    "page/src/generated/vocabulary.json": page_words,
    "page/src/generated/verdicts.css": verdict_style,
    **entry_pages(),
}


def stale_pages() -> dict[str, str]:
    """Return the pages that are not what the package says, with what it says."""
    texts = {page: write() for page, write in PAGES.items()}
    files = {page: ROOT / page for page in PAGES}
    return {
        page: texts[page] for page, file in files.items() if not file.exists() or file.read_text("utf-8") != texts[page]
    }


def _contents(folder: str) -> list[str]:
    """Return the contents that put the pages of entries below their overview."""
    return ["```{toctree}", ":hidden:", ":glob:", "", f"{folder}/*", "```", ""]


def _prose(text: str) -> str:
    return textwrap.fill(text, WIDTH, break_on_hyphens=False, break_long_words=False)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *rows]]


def main() -> None:
    """Write every page, or say which are stale."""
    stale = stale_pages()
    if "--check" in sys.argv[1:]:
        sys.exit(f"stale: {', '.join(stale)}; run python tools/build_vocabulary.py" if stale else 0)
    for page, text in stale.items():
        (ROOT / page).parent.mkdir(exist_ok=True)
        (ROOT / page).write_text(text, encoding="utf-8")
        print(f"wrote {page}")


if __name__ == "__main__":
    main()
