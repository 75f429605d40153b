"""Small cases of `recombine.tables.roles`, each as a reader would try it."""

from __future__ import annotations

from recombine.tables.columns import Profile
from recombine.tables.roles import Roles, guess_roles


def test_guess_roles_by_example() -> None:
    items = [Profile("Admit", "text", 2, 0), Profile("Dept", "text", 2, 0), Profile("Freq", "integer", 4, 0)]
    table = {"Admit": ["yes", "no"] * 2, "Dept": list("AABB"), "Freq": [512, 89, 353, 17]}
    assert guess_roles(items, table, 4) == Roles({"weight": "Freq", "outcome": "Admit"})
