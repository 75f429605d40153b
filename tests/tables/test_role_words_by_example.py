"""Small cases of `recombine.tables.role_words`, each as a reader would try it."""

from __future__ import annotations

from recombine.tables.columns import Profile
from recombine.tables.role_words import likely_roles


def test_likely_roles_by_example() -> None:
    items = [Profile("Admit", "text", 2, 0), Profile("Dept", "text", 6, 0), Profile("Freq", "integer", 24, 0)]
    assert (likely_roles(items, {"Admit": ["yes", "no"], "Dept": ["A"], "Freq": [512, 89]}, 24)) == {
        "weight": "Freq",
        "outcome": "Admit",
    }
