"""ONNX's own backend node tests, made once a process: their expected outputs take seconds to compute."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

from onnx.backend.test.loader import load_model_tests


@cache
def node_cases() -> tuple[Any, ...]:
    """All of them, in the order of the package; not to be changed by who reads them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tuple(load_model_tests(kind="node"))
