"""Converts module paths to tags: chains of classes, with numbers where they repeat.

``encoder.layer.0.attention.self`` in a BERT is ``/BertModel/BertEncoder/BertLayer.0/BertAttention/…``.

The rules are independent of architectures. Modules of torch itself are omitted except for a list of globs; in
a model without classes of its own, none are omitted. A segment is the class; a path that ends in numbers
adds them (``BertLayer.0``); siblings that would still have equal segments get their relative path
(``Embedding.word_embeddings``). No two listed modules have the same tag.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from py_autodoc.tags.paths import parent

KEEP = ("LayerNorm", "Embedding", "BatchNorm*", "GroupNorm", "InstanceNorm*")
"""Globs of torch classes that tags include by default."""
INFRASTRUCTURE = ("torch",)
"""Top-level packages whose classes tags omit."""

_NUMBERS = re.compile(r"(?:^|\.)([0-9]+(?:\.[0-9]+)*)$")
_UNKNOWN = "Module"
_NOTHING: Mapping[str, str] = {}


class Namer:
    """Tags of the modules of one model."""

    def __init__(
        self,
        classes: Mapping[str, str],
        aliases: Mapping[str, str] = _NOTHING,
        keep: Sequence[str] = KEEP,
        infrastructure: Sequence[str] = INFRASTRUCTURE,
        named: bool = False,
    ) -> None:
        """Name the modules.

        Args:
            classes: path → class with its package, for every module under its first name.
            aliases: other paths of a module → its first path. Modules inside need not be listed.
            keep: globs of ``infrastructure`` classes that tags include.
            infrastructure: top-level packages whose classes tags omit.
            named: every segment has the name next to the class, for models with names chosen by users.
        """
        self.named = named
        self.classes = {"": "", **classes}
        self.aliases = dict(aliases)
        self.keep = tuple(keep)
        self._infrastructure = frozenset(infrastructure)
        self._canonical: dict[str, str] = {}
        self._tag: dict[str, str] = {}
        self.tags = self._name()
        """Listed module → tag, parents before children."""

    def listed(self, path: str) -> bool:
        """True if the module is a segment of tags."""
        return path in self.tags

    def knows(self, path: str) -> bool:
        """True for the path of a module, under any name."""
        return self.canonical(path) in self.classes

    def kind(self, path: str) -> str:
        """Return the class of a module with its package; empty if unknown."""
        return self.classes.get(self.canonical(path), "")

    def tag(self, path: str) -> str:
        """Return the tag of the innermost listed module that contains ``path``."""
        tag = self._tag.get(path)
        if tag is None:
            module = self.canonical(path)
            while module and module not in self.tags:
                module = parent(module)
            tag = self._tag[path] = self.tags[module]
        return tag

    def canonical(self, path: str) -> str:
        """Return the path with every alias replaced by its first name."""
        canonical = self._canonical.get(path)
        if canonical is None:
            canonical = self._canonical[path] = self.resolve(path)
        return canonical

    def resolve(self, path: str) -> str:
        """Like ``canonical``, for text that may not be a path: nothing is cached."""
        for _ in range(len(self.aliases)):  # an alias may resolve to another one
            head, tail = path, ""
            while head and head not in self.aliases:
                head, _, last = head.rpartition(".")
                tail = f".{last}{tail}"
            if not head:
                break
            path = self.aliases[head] + tail
            path = path[1:] if path.startswith(".") else path
        return path

    def _name(self) -> dict[str, str]:
        listed = self._listed()
        groups: dict[tuple[str, str], list[str]] = {}
        above: dict[str, str] = {}
        segments: dict[str, str] = {}
        for path in listed:
            if path:
                above[path] = outer = self._nearest(parent(path), listed)
                segments[path] = segment = self._segment(path, outer)
                groups.setdefault((outer, segment), []).append(path)
        tags = {"": "/" + self._class(self.classes[""])}
        for path in listed:  # a parent has fewer dots than its children
            if path:
                alone = not self.named and len(groups[above[path], segments[path]]) == 1
                segment_name = segments[path] if alone else self._class(self.classes[path])
                if not alone:
                    segment_name = f"{segment_name}.{_escape(_relative(path, above[path]))}"
                tags[path] = f"{tags[above[path]]}/{segment_name}"
        return tags

    def _listed(self) -> dict[str, None]:
        has_own_classes = any(kind and not self._is_infrastructure(kind) for kind in self.classes.values())
        paths = (
            path for path, kind in self.classes.items() if not path or self._is_listed(kind, has_own_classes)
        )
        return dict.fromkeys(sorted(paths, key=lambda path: (path != "", path.count("."))))

    def _is_infrastructure(self, kind: str) -> bool:
        return kind.partition(".")[0] in self._infrastructure

    def _is_listed(self, kind: str, has_own_classes: bool) -> bool:
        if not kind:
            return False
        return not has_own_classes or not self._is_infrastructure(kind) or self._is_kept(kind)

    def _is_kept(self, kind: str) -> bool:
        name = kind.rpartition(".")[2]
        return any(fnmatchcase(name, glob) for glob in self.keep)

    @staticmethod
    def _nearest(path: str, listed: Mapping[str, None]) -> str:
        while path and path not in listed:
            path = parent(path)
        return path

    def _segment(self, path: str, above: str) -> str:
        numbers = _NUMBERS.search(_relative(path, above))
        name = self._class(self.classes[path])
        return f"{name}.{numbers[1]}" if numbers else name

    @staticmethod
    def _class(kind: str) -> str:
        return _escape(kind.rpartition(".")[2]) or _UNKNOWN

    def collisions(self) -> Iterator[str]:
        """Yield tags shared by listed modules: none, unless this class has a bug."""
        seen: set[str] = set()
        for tag in self.tags.values():
            if tag in seen:
                yield tag
            seen.add(tag)


def _relative(path: str, above: str) -> str:
    return path[len(above) + 1 :] if above else path


def _escape(text: str) -> str:
    """Escape slashes, which separate segments. Different texts stay different."""
    return text.replace("%", "%25").replace("/", "%2F") if "%" in text or "/" in text else text
