"""Networks that read latents off observations: by slot, plainly, and plainly with penalties."""
