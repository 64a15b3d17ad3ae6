"""The stages of an export: what callers are told of them, and how long each took."""

from __future__ import annotations

import time
from typing import Protocol


class ExportProgress(Protocol):
    """Told when a stage begins, with the share of the work before it.

    The stages, as far as a source has them: metadata (models of transformers), load (files of Keras),
    export, tag, save, sidecar, done.
    """

    def __call__(self, stage: str, share: float, /) -> None:
        """Take note."""


class StageTimer:
    """Seconds of each stage; hands the stages on."""

    def __init__(self, progress: ExportProgress | None) -> None:
        self.seconds: dict[str, float] = {}
        self._progress = progress
        self._stage = ""
        self._since = time.perf_counter()

    def __call__(self, stage: str, share: float, /) -> None:
        """A stage begins: the one before it has ended."""
        now = time.perf_counter()
        if self._stage:
            self.seconds[self._stage] = self.seconds.get(self._stage, 0.0) + now - self._since
        self._stage, self._since = stage, now
        if self._progress is not None:
            self._progress(stage, share)
