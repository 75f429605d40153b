"""Templates of pages: the style that they share."""

from recombine.report.templates import verdict_style
from recombine.verdicts import Verdict


def test_every_verdict_has_its_colour_as_a_variable() -> None:
    variables = verdict_style().removeprefix(":root { ").removesuffix(" }\n").split(" --")
    assert len(variables) == len(Verdict)
    assert verdict_style().startswith(":root { --v0: #c9ced6;")
    assert f"v{int(Verdict.BEYOND)}: {Verdict.BEYOND.colour};" in variables
