"""The command line as a module: ``python -m recombine`` is the same as ``recombine``."""

from recombine.cli import main

if __name__ == "__main__":
    main()
