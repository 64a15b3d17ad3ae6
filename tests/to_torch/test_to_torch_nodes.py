"""ONNX's own node tests: each that is covered gives the expected results, or is listed with the reason."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from onnx_node_tests import node_cases
from torch_files import imported, save

from py_autodoc.to_torch import NotCoveredError, write

pytestmark = pytest.mark.slow

HALF = "numpy's and torch's sums of half precision are rounded in another order"
FAILS = {
    "test_attention_3d_causal_bf16": HALF,
    "test_attention_3d_causal_bf16_expanded": HALF,
    "test_attention_4d_attn_mask_causal_bf16": HALF,
    "test_attention_4d_attn_mask_causal_bf16_expanded": HALF,
    "test_attention_4d_causal_bf16": HALF,
    "test_attention_4d_causal_bf16_expanded": HALF,
    "test_attention_4d_causal_fp16": HALF,
    "test_attention_4d_causal_fp16_expanded": HALF,
    "test_attention_4d_causal_padded_kv_bf16": HALF,
    "test_attention_4d_causal_padded_kv_bf16_expanded": HALF,
    "test_attention_4d_padded_kv_bf16": HALF,
    "test_attention_4d_padded_kv_bf16_expanded": HALF,
}
PASSED_AT_LEAST = 1525
UNKNOWN = {
    "Adagrad", "Adam", "ArrayFeatureExtractor", "Bernoulli", "Binarizer", "CausalConvWithState",
    "DFT", "FlexAttention", "ImageDecoder", "LabelEncoder", "LinearAttention", "MelWeightMatrix", "Momentum",
    "NegativeLogLikelihoodLoss", "Optional", "RandomUniformLike", "RegexFullMatch", "STFT",
    "SequenceMap", "SoftmaxCrossEntropyLoss", "StringConcat", "StringNormalizer", "StringSplit", "SwiGLU",
    "TfIdfVectorizer", "TreeEnsemble",
}  # fmt: skip
"""Operators without a rule."""
REASONS = {
    "casts from or to text or 4-bit numbers", "8-bit floats", "8-bit or 4-bit floats",
    "column-major indices", "not two spatial dimensions", "Scan before opset 9",
    "computed sizes", "softcap and mask in the order used before opset 24",
    "the quantized type", "training mode", "uint64", "unsigned integers with more than 8 bits",
}  # fmt: skip
"""Uses of other operators that are not covered, besides element types that torch has not."""
BITS = {
    "bfloat16": torch.bfloat16,
    "float8_e4m3fn": torch.float8_e4m3fn,
    "float8_e4m3fnuz": torch.float8_e4m3fnuz,
    "float8_e5m2": torch.float8_e5m2,
    "float8_e5m2fnuz": torch.float8_e5m2fnuz,
}


def tensor(value: Any) -> Any:
    if isinstance(value, onnx.TensorProto):
        value = onnx.numpy_helper.to_array(value)
    if value is None or isinstance(value, list):
        return value if value is None else [tensor(item) for item in value]
    array = np.array(value)
    if array.dtype.name in BITS:
        bits = np.uint16 if array.itemsize == 2 else np.uint8
        return torch.from_numpy(array.view(bits)).view(BITS[array.dtype.name])
    return torch.from_numpy(array)


def check(result: Any, wanted: Any, case: Any) -> None:
    if isinstance(wanted, list):
        assert len(result) == len(wanted)
        for one, other in zip(result, wanted, strict=True):
            check(one, other, case)
        return
    wanted = tensor(wanted)
    assert (result.dtype, result.shape) == (wanted.dtype, wanted.shape)
    rtol = case.rtol
    if wanted.dtype in (torch.bfloat16, torch.float16):
        rtol = max(rtol, 1e-3)
    if wanted.dtype in BITS.values():
        result, wanted = result.to(torch.float32), wanted.to(torch.float32)
    np.testing.assert_allclose(result.numpy(), wanted.numpy(), rtol=rtol, atol=case.atol)


def outcome(case: Any, folder: Any) -> str:
    """``passed``, ``uncovered`` or what went wrong."""
    path = save(folder, case.model)
    try:
        write(path, folder / "model.py", weights="npz")
    except NotCoveredError as left:
        for one in left.uncovered:
            for reason in one.reasons:
                known = reason in REASONS or reason.startswith("element type ")
                if not known and not (reason == "no rule for this operator" and one.op_type in UNKNOWN):
                    return f"{one.op_type}: {reason}"
        return "uncovered"
    module = imported(folder / "model.py")
    inputs, outputs = case.data_sets[0]
    try:
        with torch.no_grad():
            results = module.load()(*map(tensor, inputs))
        results = results if isinstance(results, tuple) else (results,)
        for result, wanted in zip(results, outputs, strict=True):
            check(result, wanted, case)
    except (AssertionError, RuntimeError, TypeError, ValueError, IndexError, NotImplementedError) as fault:
        return f"{type(fault).__name__}: {' '.join(str(fault).split())[:200]}"
    return "passed"


@pytest.mark.filterwarnings("ignore")  # of numpy, while the package computes its expected outputs
def test_node_tests(tmp_path):
    counted: Counter[str] = Counter()
    wrong = {}
    for number, case in enumerate(node_cases()):
        # File systems write to the disk at once what replaces another file.
        folder = tmp_path / str(number)
        folder.mkdir()
        found = outcome(case, folder)
        if found not in ("passed", "uncovered"):
            wrong[case.name] = found
        counted[found if found in ("passed", "uncovered") else "failed"] += 1
    assert {name: fault for name, fault in wrong.items() if name not in FAILS} == {}
    assert FAILS.keys() <= wrong.keys() | (FAILS.keys() - {case.name for case in node_cases()})
    assert counted["passed"] >= PASSED_AT_LEAST, counted
