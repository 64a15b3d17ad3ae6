"""Settings of a layer, read with type checks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from py_autodoc.keras.conversion_errors import Unsupported, broken

MAX_SIZE = 1 << 31
FORMATS = ("channels_last", "channels_first")


class LayerSettings:
    """The ``config`` of one layer."""

    def __init__(self, values: dict[str, Any], label: str, file: str) -> None:
        self.values = values
        self._label = label
        self._file = file

    def flag(self, key: str, default: bool = False) -> bool:
        """Return a boolean; 0 and 1 are accepted."""
        found = self.values.get(key)
        if found is None:
            return default
        if found in (0, 1):
            return bool(found)
        raise self.wrong(key, "a switch")

    def text(self, key: str, choices: Sequence[str], default: str) -> str:
        """Return a word from ``choices``."""
        found = self.values.get(key)
        if found is None:
            return default
        if isinstance(found, str) and found in choices:
            return found
        if isinstance(found, str):
            raise Unsupported(self._label, f"with {key}={found[:40]!r}")
        raise self.wrong(key, "a word")

    def whole(self, key: str, default: int | None = None, low: int = 1) -> int:
        """Return an integer of at least ``low``."""
        found = self.values.get(key, default)
        if isinstance(found, list) and len(found) == 1:
            found = found[0]
        if isinstance(found, bool) or not isinstance(found, int) or not low <= found < MAX_SIZE:
            raise self.wrong(key, f"a whole number from {low}")
        return found

    def wholes(self, key: str, count: int, default: int | None = None, low: int = 1) -> tuple[int, ...]:
        """Return ``count`` integers; a single one stands for all."""
        found = self.values.get(key)
        found = default if found is None else found
        if isinstance(found, int):
            found = [found] * count
        return self.listed(found, key, count, low)

    def listed(self, found: Any, key: str, count: int, low: int) -> tuple[int, ...]:
        """Return a list of integers."""
        good = isinstance(found, (list, tuple)) and len(found) == count
        if not good or not all(
            isinstance(one, int) and not isinstance(one, bool) and low <= one < MAX_SIZE for one in found
        ):
            raise self.wrong(key, f"{count} whole numbers from {low}")
        return tuple(found)

    def axes(self, key: str, rank: int, default: Any = -1) -> tuple[int, ...]:
        """Return one or several axes, counted from the front, in the given order."""
        found = self.values.get(key, default)
        found = [found] if isinstance(found, int) else found
        if not isinstance(found, (list, tuple)) or not found:
            raise self.wrong(key, "axes")
        if not all(isinstance(one, int) and -rank <= one < rank for one in found):
            raise self.wrong(key, f"axes of a tensor of {rank}")
        return tuple(one % rank for one in found)

    def axis(self, key: str, rank: int) -> int:
        """Return one axis, counted from the front."""
        found = self.axes(key, rank)
        if len(found) != 1:
            raise self.wrong(key, "one axis")
        return found[0]

    def number(self, key: str, default: float | None = None) -> float:
        """Return a number; Keras also writes ``{"class_name": "__numpy__", …}`` or a list of one."""
        found = self.values.get(key)
        found = default if found is None else plain(found)
        if isinstance(found, list) and len(found) == 1:
            found = found[0]
        if isinstance(found, bool) or not isinstance(found, (int, float)):
            raise self.wrong(key, "a number")
        return float(found)

    def channels_first(self) -> bool:
        """True if ``data_format`` puts channels before the spatial axes."""
        return self.text("data_format", FORMATS, FORMATS[0]) == FORMATS[1]

    def wrong(self, key: str, needed: str) -> Exception:
        """Return the error for an invalid setting."""
        shown = repr(self.values.get(key))
        return broken(self._file, f"{self._label}: {key} is {shown[:60]}, it needs {needed}.")

    def refuse(self, why: str) -> Unsupported:
        """Return the error for a setting without an ONNX equivalent."""
        return Unsupported(self._label, why)


def plain(value: Any) -> Any:
    """Return the values of an array in JSON."""
    if isinstance(value, dict) and isinstance(value.get("config"), dict) and "value" in value["config"]:
        return value["config"]["value"]
    return value
