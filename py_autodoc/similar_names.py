"""Names similar to a mistyped one, for hints in errors."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice

MOST = 20_000
"""Maximum number of names compared."""
COUNT = 3
_CUTOFF = 0.5
_PARTS = re.compile(r"[./:]+")


def similar_names(name: str, known: Iterable[str], count: int = COUNT) -> list[str]:
    """Return likely intended names, most similar first.

    Dots and slashes in paths are equivalent; names that end with the requested parts come before those that
    are only similar.
    """
    names = list(islice(dict.fromkeys(one for one in known if one), MOST))
    plain = {one: _plain(one) for one in names}
    wanted = _plain(name)
    same = [one for one in names if plain[one] == wanted]
    ends = [one for one in names if wanted and f"/{plain[one]}".endswith(f"/{wanted}")]
    holds = [one for one in names if len(wanted) > 2 and f"/{wanted}/" in f"/{plain[one]}/"]
    texts: dict[str, str] = {}
    for one in names:
        texts.setdefault(plain[one], one)
    alike = [texts[text] for text in get_close_matches(wanted, texts, count, _CUTOFF)]
    return list(dict.fromkeys([*same, *ends, *sorted(holds, key=len), *alike]))[:count]


def _plain(name: str) -> str:
    return _PARTS.sub("/", name.strip().lower()).strip("/")
