"""Experiments: one setting in, rows out."""
