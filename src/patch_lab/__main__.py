"""``python -m patch_lab``: the command line, as ``torchrun -m`` starts it."""

import sys

from patch_lab.cli import main

if __name__ == "__main__":
    sys.exit(main())
