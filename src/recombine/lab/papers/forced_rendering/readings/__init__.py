"""Readings: rows in, named numbers out."""
