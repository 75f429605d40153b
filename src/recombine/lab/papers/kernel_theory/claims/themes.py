"""Headings under which the claims stand on the page."""

SUMS = "Sums of seen conjunctions"
SALIENCE = "Salience of a representation"
LEAK = "Memorization leak"
SHORTCUT = "Shortcut bias"
FEATURES = "Feature learning"
