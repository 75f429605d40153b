"""Worlds: from cells to the inputs a network sees, and where the images in them come from."""
