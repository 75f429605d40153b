"""The one place where versions are written."""

__version__ = "0.1.0"
#: Number of the form of JSON documents, whatever their kind: one until the first release; after that it grows when a
#: field is renamed, removed or means something else.
SCHEMA = 2
