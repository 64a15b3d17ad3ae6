"""Each figure of an output is said once, with what computed it; first that of this machine."""

from __future__ import annotations

import itertools
import re

import pytest
from click.testing import CliRunner

from py_autodoc.cli.app import app
from py_autodoc.int8_kernels.document import IntegerKernels
from py_autodoc.int8_kernels.targets import COMPUTATIONS
from py_autodoc.verify.document import AGREES, Error, Verification, VerifiedOutput
from py_autodoc.verify.lines import output_lines, verification_lines

MODEL = "tests/data/models/resnet_tiny.onnx"


def error(relative):
    return Error(
        relative_error=relative,
        sqnr_db=None,
        cosine=None,
        largest_difference=relative,
        exact=relative == 0,
        not_finite=0,
    )


def output(file, fused, target=None):
    return VerifiedOutput(
        name="y",
        reference="y",
        error=error(file),
        error_fused=error(fused),
        agreement=None,
        error_target=None if target is None else error(target),
    )


def kernels(here, target, operators, *, not_measured=""):
    computes = COMPUTATIONS[target].kernel
    return IntegerKernels(
        here=here,
        target=target,
        target_computes=computes,
        saturating_operators=operators,
        differs=here != computes,
        not_measured=not_measured,
    )


FIGURES = ((0.01, 0.01), (0.01, 0.4))
CASES = list(itertools.product(("exact", "pairs"), COMPUTATIONS, (0, 2, None), FIGURES, (0.01, 0.2, 0.4)))


@pytest.mark.parametrize(("here", "target", "operators", "figures", "there"), CASES)
def test_no_figure_is_said_twice(here, target, operators, figures, there):
    asked = kernels(here, target, operators)
    lines = list(output_lines("y", output(*figures, there if asked.differs else figures[1]), asked))
    said = re.findall(r"relative error ([\d.]+)", "\n".join(lines))
    assert len(said) == len(set(said)), lines
    assert str(figures[0]) in said
    assert asked.differs <= (str(there) in said)
    assert asked.differs == any(f"as {target} computes" in line.lower() for line in lines)


def test_saturating_kernels_come_first():
    lines = list(output_lines("y", output(0.01, 0.4), kernels("pairs", "cpu-avx2", 2)))
    assert lines[0].startswith("y: relative error 0.4")
    assert "on this machine" in lines[0]
    assert lines[1].startswith("  With every operator as in the file: relative error 0.01")


def test_a_target_that_is_not_measured_has_its_reason():
    lines = list(output_lines("y", output(0.01, 0.01), kernels("exact", "cpu-avx2", 2, not_measured="why")))
    assert "not measured (why)" in lines[-1]


@pytest.mark.parametrize(("here", "fused", "said"), [("pairs", 0.4, True), ("pairs", 0.02, False)])
def test_the_verdict_says_if_it_holds_only_elsewhere(here, fused, said):
    result = Verification(
        model="q.onnx",
        reference="f.onnx",
        verdict=AGREES,
        tolerance=0.1,
        tolerance_reason="quantized",
        samples=1,
        data="synthetic",
        outputs=[output(0.01, fused)],
        outputs_only_model=[],
        outputs_only_reference=[],
        first=None,
        layers=[],
        compared=0,
        pairs=0,
        not_compared={},
        kernels=kernels(here, "cpu-avx2", 2),
    )
    first = next(iter(verification_lines(result)))
    assert first == f"q.onnx agrees with f.onnx{' with exact sums, but not on this machine' if said else ''}."


def test_the_target_is_an_option():
    pytest.importorskip("onnxruntime")
    quantized = "tests/data/models/resnet_tiny_qdq_int8.onnx"
    args = ["verify", quantized, "--against", MODEL, "--samples", "1", "--out-json", "-"]
    done = CliRunner().invoke(app, [*args, "--target", "cpu-avx2"])
    assert '"target":"cpu-avx2","target_computes":"pairs"' in done.stdout, done.stderr
    refused = CliRunner().invoke(app, [*args, "--target", "abacus"])
    assert refused.exit_code == 1
    assert "cpu-vnni, cpu-avx2, cpu-arm, tensorrt" in refused.stderr
