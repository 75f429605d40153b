"""The theme: names that fit, and settings that come back."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from recombine.report.theme import shorten, text_width, theme


def test_theme_leaves_the_readers_settings_alone() -> None:
    import matplotlib

    matplotlib.rcParams["font.size"] = 7.5
    with theme():
        assert matplotlib.rcParams["svg.fonttype"] == "none"
    assert matplotlib.rcParams["font.size"] == 7.5
    assert matplotlib.rcParams["svg.fonttype"] == "path"
    matplotlib.rcParams["font.size"] = matplotlib.rcParamsDefault["font.size"]


@given(st.text(max_size=60), st.integers(6, 20))
def test_short_names_fit_and_have_no_control_characters(text: str, limit: int) -> None:
    cut = shorten(text, limit)
    assert text_width(cut) <= limit
    assert "\n" not in cut
    assert "\x00" not in cut
    assert "\u202e" not in cut
