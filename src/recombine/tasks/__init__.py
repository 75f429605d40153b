"""Known-truth designs: one file a family."""
