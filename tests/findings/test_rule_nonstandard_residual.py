"""nonstandard-residual: joins of the recognised residual blocks."""

from __future__ import annotations

import dataclasses

import pytest
from rule_help import Net, found

from py_autodoc.blocks.results import RecognisedBlock, Structure
from py_autodoc.findings.registry import RuleContext, rules
from py_autodoc.findings.thresholds import settings
from py_autodoc.report.pipeline.analysis import run_analysis

RULE = "nonstandard-residual"


@pytest.fixture(scope="module")
def context():
    """A model of 166,000 parameters, and its context without any block."""
    net = Net(1, 32, 8, 8)
    at = "x"
    for _ in range(18):
        at = net.relu(net.conv(at, 32))
    a = run_analysis(net.model(at))
    return RuleContext(
        a.model, a.types, a.sizes, a.costs, a.totals, a.params, a.peak, Structure(), settings().thresholds
    )


def of(context, *variants):
    """The rule's findings when the recognisers found residual blocks of these variants."""
    blocks = tuple(
        RecognisedBlock("residual", (number,), number, variant) for number, variant in enumerate(variants)
    )
    return list(rules()[RULE].check(dataclasses.replace(context, structure=Structure(blocks=blocks))))


@pytest.mark.parametrize(
    ("variant", "severity"), [("concat", "info"), ("gated", "info"), ("subtractive", "low")]
)
def test_fires(context, variant, severity):
    (finding,) = of(context, variant, "plain", variant)
    assert finding.severity == severity
    assert finding.nodes == (0, 2)
    assert finding.evidence == {"variant": variant, "blocks": 2, "residual_blocks": 3}


@pytest.mark.parametrize(("join", "variant"), [("Concat", "concat"), ("Sub", "subtractive"), ("Add", "")])
def test_fires_on_recognised_blocks(join, variant):
    """From the graph to the finding, by the recognisers."""
    net = Net(1, 64, 8, 8)
    at = "x"
    for _ in range(3):
        grown = net.conv(net.relu(net.conv(at, 64)), 64)
        if join == "Concat":
            at = net.op("Concat", at, grown, axis=1, width=net.width[at] + 64)
        else:
            at = net.op(join, at, grown)
        at = net.relu(at)
    findings = found(RULE, net.model(at))
    assert [f.evidence["variant"] for f in findings] == ([variant] if variant else [])
    assert all(f.evidence["blocks"] == 3 for f in findings)


def test_does_not_fire_on_additions(context):
    assert of(context, "plain", "pre-activation", "plain") == []
    assert of(context, "concat", "plain") == []


@pytest.mark.parametrize("name", ["resnet50", "bert_base", "vit_b16"])
def test_does_not_fire_on_standard_networks(name):
    assert found(RULE, f"tests/data/stripped/{name}.stripped.onnx") == []
