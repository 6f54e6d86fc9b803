"""``python -m patch_association``: the command line, as ``torchrun -m`` starts it."""

import sys

from patch_association.cli import main

if __name__ == "__main__":
    sys.exit(main())
