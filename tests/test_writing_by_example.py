"""Small cases of `recombine.writing`, each as a reader would try it."""

from __future__ import annotations

from recombine.writing import (
    aligned,
    amount,
    beside_error,
    compact,
    few_digits,
    join_words,
    listing,
    number,
    part_of_what_matters,
    percent,
    plural,
    round_estimate,
    share,
    slope_text,
    whole_percent,
    written_count,
)


def test_number_by_example() -> None:
    assert (
        number(12345),
        number(0.123456),
        number(-5.2299),
        number(254.52, 4),
        number(999.6),
        number(float("nan")),
    ) == ("12,345", "0.123", "−5.23", "254.5", "1,000", "–")


def test_aligned_by_example() -> None:
    assert (aligned([22.09, 5.114, -83.47, float("nan")]), aligned([3.0, 12.0]), aligned([1e-3, 1e6])) == (
        ["22.09", "5.11", "−83.47", "–"],
        ["3", "12"],
        ["0.001", "1,000,000"],
    )


def test_amount_by_example() -> None:
    assert (amount(12345.0), amount(2.5)) == ("12,345", "2.5")


def test_compact_by_example() -> None:
    assert (compact(400_000), compact(-2_500_000), compact(0.25), compact(3.0)) == ("400k", "−2.5M", "0.25", "3")


def test_percent_by_example() -> None:
    assert (percent(1, 3), percent(9999, 10000), percent(1, 10**12), percent(0, 5)) == (
        "33.3 %",
        "> 99.9 %",
        "< 0.1 %",
        "0.0 %",
    )


def test_share_by_example() -> None:
    assert (share(0.25), share(1.0), share(0.99999), share(-0.4)) == ("25.0 %", "100.0 %", "> 99.9 %", "−40.0 %")


def test_part_of_what_matters_by_example() -> None:
    assert (part_of_what_matters(0.415), part_of_what_matters(1e-9), part_of_what_matters(1.0)) == (
        "41.5 % of what matters",
        "< 0.1 % of what matters",
        "all that matters",
    )


def test_slope_text_by_example() -> None:
    assert (whole_percent(-0.02), whole_percent(-0.001), whole_percent(1)) == ("−2 %", "0 %", "100 %")
    assert (slope_text(0.8478), slope_text(float("nan"))) == ("85 %", "not varied")


def test_join_words_by_example() -> None:
    assert (join_words(["carrier", "origin", "dest"])) == "carrier, origin and dest"


def test_listing_by_example() -> None:
    assert (listing(["a", "b", "c"], limit=2)) == "a, b, ... (1 more)"


def test_written_count_by_example() -> None:
    assert (written_count(12345), written_count(36 * 10**69 + 5)) == ("12,345", "3.6 × 10⁷⁰")


def test_plural_by_example() -> None:
    assert (plural(1, "row"), plural(2000, "row")) == ("1 row", "2,000 rows")
    assert (plural(1, "cell is", "cells are"), plural(3, "cell is", "cells are")) == ("1 cell is", "3 cells are")


def test_round_estimate_by_example() -> None:
    assert (round_estimate(959_999_971), round_estimate(47)) == (960000000, 47)


def test_few_digits_by_example() -> None:
    assert (few_digits(0.12345), few_digits(11175.3), few_digits(1e15)) == ("0.123", "11,175", "1e+15")


def test_beside_error_by_example() -> None:
    assert (beside_error(52.4996, 13.85), beside_error(0.12345, 0.0021), beside_error(7.25, float("nan"))) == (
        "52.5",
        "0.12345",
        "7.25",
    )
