"""``python -m sklearn_ada``."""

import sys

from sklearn_ada.cli import main

sys.exit(main())
