"""Lists and dicts of modules."""

from __future__ import annotations

from py_autodoc.to_torch.module import Member


class Lists:
    """Locations of members: attributes, and lists and dicts of modules."""

    def __init__(self, members: list[Member]) -> None:
        self._members = members
        self._keys: dict[tuple[str, ...], dict[str, None]] = {}
        for member in members:
            if member.kind != "dropped":
                for depth in range(1, len(member.path)):
                    self._keys.setdefault(member.path[:depth], {})[member.path[depth]] = None

    def is_list(self, container: tuple[str, ...]) -> bool:
        """True if the keys are 0, 1, … without a gap."""
        keys = self._keys[container]
        return sorted(keys) == sorted(map(str, range(len(keys))))

    def size(self, container: tuple[str, ...]) -> int:
        """Return the number of entries."""
        return len(self._keys[container])

    def code(self, number: int) -> str:
        """Return the code of a member, such as ``self.layer[0]``."""
        return self._code(self._members[number].path)

    def _code(self, path: tuple[str, ...]) -> str:
        text = f"self.{path[0]}"
        for depth in range(1, len(path)):
            text += f"[{path[depth]}]" if self.is_list(path[:depth]) else f'["{path[depth]}"]'
        return text

    def position_of(self, number: int) -> tuple[str, int, int] | None:
        """Return (code of the list, index, length) for a member of a list; None for others."""
        path = self._members[number].path
        if len(path) < 2 or not self.is_list(path[:-1]):
            return None
        return self._code(path[:-1]), int(path[-1]), self.size(path[:-1])
