"""One theme, figures and the single-file HTML report."""
