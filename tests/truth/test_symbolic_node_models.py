"""Expressions of ONNX's backend node tests, their sizes made symbols, against a new analysis."""

from __future__ import annotations

import pytest
from node_models import node_cases, node_model
from symbolic_help import case_of, differences, with_symbols

pytestmark = pytest.mark.slow

PARTS = 5


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("constants", ["integers", "none"])
def test_node_models(constants: str, part: int):
    compared, faults = 0, {}
    for case in node_cases()[part :: 4 * PARTS]:
        item = case_of(with_symbols(node_model(case, constants).proto))
        if item is not None:
            count, wrong = differences(item)
            compared += count
            if wrong:
                faults[case.name] = wrong[0]
    assert faults == {}
    assert compared > 1000
