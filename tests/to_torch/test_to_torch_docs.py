"""The documentation lists the operators that there are rules for."""

from __future__ import annotations

import re
from pathlib import Path

from py_autodoc.to_torch.registry import rules


def test_operators_are_listed():
    text = Path("docs/to-torch.md").read_text(encoding="utf-8")
    listed = re.findall(r"`(\w+)`", text.partition("<!-- operators -->")[2].partition("<!-- end -->")[0])
    names = sorted(name for domain, name in rules() if not domain and name != "Constant")
    assert listed == names + sorted(name for domain, name in rules() if domain)
