"""RC106: determined, but through a long chain."""

from __future__ import annotations

import recombine as rc

CHAIN = [[i, i] for i in range(4)] + [[i + 1, i] for i in range(3)]


def test_the_end_of_a_long_chain_is_named(found):
    finding = found(rc.Design.from_cells(CHAIN, names=["lab", "batch"]), "RC106")
    # Seven cells in a row: the cell that closes the ring is their alternating sum, with seven times the variance, and
    # three more are sums of five.
    assert finding.message == "4 of 9 determined cells looked at have leverage above 4 (largest 7.0: 0 · 3)"


def test_short_cuts_make_it_firm(found):
    assert found(rc.Design.from_cells([*CHAIN, [0, 3], [0, 2]]), "RC106") is None
