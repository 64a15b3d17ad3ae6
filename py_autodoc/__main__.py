"""``python -m py_autodoc``."""

from __future__ import annotations

from py_autodoc.cli import main

if __name__ == "__main__":
    main()
