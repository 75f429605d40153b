"""The main job: a design goes in, verdicts, predictions and advice come out."""
