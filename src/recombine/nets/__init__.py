"""Networks in PyTorch, many at a time: architectures and the trainer that stacks them. Needs the extra ``[nets]``."""
