"""``python -m sklearn_ada``."""

from __future__ import annotations

import sys

from sklearn_ada.cli import main

sys.exit(main())
