"""Sweeps: an experiment's grid of settings, run anywhere, kept in a store that survives a kill at any moment."""
