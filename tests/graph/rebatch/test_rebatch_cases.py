"""Another batch for made models: proved by running them, or refused with the node that would mix items."""

from __future__ import annotations

import onnx
import pytest
import rebatch_cases as cases
from rebatch_proof import prove

from py_autodoc.graph.rebatch import RebatchBlocked

EXACT = 1e-5


@pytest.mark.parametrize("batch", ["batch", 3])
@pytest.mark.parametrize("name", cases.GOOD)
def test_items_are_computed_as_alone(name, batch, tmp_path):
    model = cases.GOOD[name]()
    fixed = 4 if name == "fixed_to_four" else 1
    proof = prove(model, tmp_path, batch if isinstance(batch, str) else batch * fixed)
    assert proof.done.fixed == fixed
    assert proof.worst < EXACT
    if "ort_" not in name and name != "onnx_attention":
        onnx.checker.check_model(str(tmp_path / "rebatched.onnx"), full_check=True)
    assert proof.apart > 1e-3, "items do not differ, so that nothing is proved"


@pytest.mark.parametrize("name", cases.BAD)
def test_items_that_would_mix_are_refused(name, tmp_path):
    make, says = cases.BAD[name]
    with pytest.raises(RebatchBlocked) as refused:
        prove(make(), tmp_path)
    assert says in refused.value.message
    assert not (tmp_path / "rebatched.onnx").exists()
