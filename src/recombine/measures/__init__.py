"""Measures of any model's outputs or activations, given as plain arrays on cells."""
