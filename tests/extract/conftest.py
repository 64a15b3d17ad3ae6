"""The models of the export tests are cut up here too; in one run they are exported once."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "torch"))
