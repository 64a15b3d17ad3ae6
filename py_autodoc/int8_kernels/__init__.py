"""Which integer kernels an accuracy was measured on, and what those of a target compute."""

from __future__ import annotations
