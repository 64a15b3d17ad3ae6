"""Stages of an export: progress reports and timings."""

from __future__ import annotations

import time
from typing import Protocol


class ExportProgress(Protocol):
    """Called at the start of a stage, with the share of the work done before it.

    The stages, where a source has them: metadata (transformers models), load (Keras files),
    export, tag, save, sidecar, done.
    """

    def __call__(self, stage: str, share: float, /) -> None:
        """Handle the start of a stage."""


class StageTimer:
    """Measures the seconds of each stage and forwards the stages."""

    def __init__(self, progress: ExportProgress | None) -> None:
        self.seconds: dict[str, float] = {}
        self._progress = progress
        self._stage = ""
        self._since = time.perf_counter()

    def __call__(self, stage: str, share: float, /) -> None:
        """Start a stage and end the previous one."""
        now = time.perf_counter()
        if self._stage:
            self.seconds[self._stage] = self.seconds.get(self._stage, 0.0) + now - self._since
        self._stage, self._since = stage, now
        if self._progress is not None:
            self._progress(stage, share)
