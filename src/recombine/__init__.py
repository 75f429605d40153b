"""Recombine: will a model that has seen these combinations of factors get the unseen ones right?"""

from recombine._version import __version__ as __version__
