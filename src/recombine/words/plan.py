"""What to collect, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recombine.design.notes import levels_alike
from recombine.design.targets import outside_words
from recombine.jobs.limits import PLAN_LIMITS
from recombine.verdicts import Verdict
from recombine.writing import part_of_what_matters, plural, round_estimate, written_count

if TYPE_CHECKING:
    from recombine.jobs.advice.plan import Pick, Plan

NOTHING_TO_COLLECT = "Nothing: there is no further cell to collect that would help much."


def gain_text(plan: Plan, pick: Pick) -> str:
    """Say what a pick brings."""
    if pick.reason == "sharpen":
        times = plan.design.observed.typical_precision
        often = "" if times == 1 else f" (measured {times:g} times)"
        by = ", weighted by importance," if plan.weighted else ""
        return f"mean variance of unseen cells{_near(plan)}{by} −{100 * pick.gain:.1f} %{often}"
    if plan.weighted:
        return _settled(plan, pick)
    if plan.sampled and pick.gain < plan.unit:
        return "too few other unseen cells become determined to show in a sample"
    if not pick.gain:
        return "determines itself only"
    noun, verb = ("cell", "becomes") if pick.gain == 1 else ("cells", "become")
    number = f"about {round_estimate(pick.gain):,}" if plan.sampled else f"{pick.gain:,.0f}"
    return f"{number} other unseen {noun}{_near(plan)} {verb} determined"


def _settled(plan: Plan, pick: Pick) -> str:
    """Return what ``pick`` brings of what matters in words."""
    if not pick.importance:
        return "determines nothing that matters yet"

    about = "about " if plan.sampled else ""
    settled = f"{about}{part_of_what_matters(pick.importance)} is settled"
    if plan.sampled or not pick.gain:
        return f"{settled}{_near(plan)}{'' if plan.sampled else ', itself only'}"
    noun, verb = ("cell that matters", "becomes") if pick.gain == 1 else ("cells that matter", "become")
    return f"{settled}; {pick.gain:,.0f} other unseen {noun} {verb} determined"


def _near(plan: Plan) -> str:
    return "" if plan.departures is None else f" with at most {plan.departures} departures"


def plan_sentence(plan: Plan) -> str:
    """What it takes to determine everything, in a sentence; empty where that is not known."""
    return f"{_inside(plan)} {_outside(plan)}".strip()


def _outside(plan: Plan) -> str:
    """Say what to collect for cells beyond the seen range of a factor or of a curve, which are not planned for."""
    if plan.beyond_curve is not None:
        count = plan.beyond_curve[Verdict.BEYOND]
        number = written_count(count) if plan.beyond_curve.exact else f"about {written_count(round_estimate(count))}"
        which = "unseen cell lies" if count == 1 else "unseen cells lie"
        return f"{number} {which} beyond the seen range of the curve: collect cells that lie as far out."
    words = dict.fromkeys(text for cell in plan.outside for text in outside_words(plan.design, np.array(cell)))
    return f"Beyond the seen range nothing is planned: {'; '.join(words)}." if words else ""


def plan_sentences(plan: Plan) -> list[str]:
    """Say what it takes, and which of the cells follow; some of the sentences may be empty."""
    return [
        plan_sentence(plan) if plan.needed or plan.beyond or plan.enough or plan.several else "",
        first_sentence(plan, ":"),
        "" if plan.picks or plan.enough else NOTHING_TO_COLLECT,
    ]


def first_sentence(plan: Plan, end: str = ".") -> str:
    """Say which of the cells that it takes follow; empty where all do."""
    shown = sum(pick.reason == "connect" for pick in plan.picks)
    more = plan.needed is not None and 0 < shown < plan.needed
    which = "The first" if shown == 1 else f"The first {shown}"
    return f"{which} of them (all: --plan {plan.needed}){end}" if more else ""


def gains_sentence(plan: Plan) -> str:
    """Say what the gains of several picks are, and how to rule cells out where nothing was said of that."""
    spec, sentences = plan.design.spec, ["Each gain is on top of the cells before it."] * (len(plan.picks) > 1)
    if plan.picks and plan.design.possible.whole and spec.possible is None and spec.forbidden is None:
        sentences.append("Name cells that cannot exist with --forbidden, or those that can with --possible.")
    return " ".join(sentences)


def _inside(plan: Plan) -> str:
    """What it takes to determine everything inside the seen ranges."""
    if plan.enough:
        return f"You have enough{_enough(plan)}."
    if plan.needed is None:
        take = "that matters takes" if plan.several == 1 else "that matter take"
        text = f"{plural(plan.several, 'unseen cell')} {take} several cells together, which is not planned for."
        return text if plan.several else ""
    cells, matters = plural(plan.needed, "well-chosen cell"), " that matters" if plan.weighted else ""
    if plan.beyond:
        stay = "stays" if plan.beyond == 1 else "stay"
        which = f" that matter{'s' if plan.beyond == 1 else ''}" if plan.weighted else ""
        open_cells = f"{plural(plan.beyond, 'unseen cell')}{which} {stay} open whatever is collected"
        because = "because the cells that would tell are forbidden"
        because += " or pair a level with itself (--self-pairs)" * bool(plan.design.symmetric)
        because += " or hold a level that looks like another (--merge-alike)" * bool(
            levels_alike(plan.design.reading.notes)
        )
        what = "what matters and can be determined" if plan.weighted else "all that can be"
        lead = f"{cells} would determine {what}; " if plan.needed else ""
        return f"{lead}{open_cells}, {because}."
    inside = " inside the seen range" * plan.ranged
    if plan.needed:
        return f"{cells} would determine everything{matters}{inside}."
    return f"Every unseen cell{matters}{inside} is determined already."


def _enough(plan: Plan) -> str:
    if len(plan.design.seen) == plan.design.possible.count:
        return f" combinations: every one{'' if plan.design.possible.whole else ' that can exist'} was seen"
    if plan.weighted and plan.gain is None:
        return ": every cell that matters was seen"
    gained = f"{100 * plan.gain:.1f} %" if plan.gain and plan.gain >= PLAN_LIMITS.min_gain else "less than 0.1 %"
    return (
        f": every unseen cell{' that matters' if plan.weighted else ''}"
        f"{' inside the seen range' * plan.ranged} is determined, and the next measurements would lower "
        f"the mean variance of their values{', weighted by importance,' if plan.weighted else ''} by {gained} only"
    )
