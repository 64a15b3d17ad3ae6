"""Rows of numbers: classical models and dense networks."""

from __future__ import annotations

from py_autodoc.blocks.dataflow.operator_queries import CONV, RECURRENT
from py_autodoc.identity.case import IdentityCase
from py_autodoc.identity.model import PROBABLE, SURE, WEAK, RuleReading
from py_autodoc.identity.registry import task
from py_autodoc.identity.tasks.categories import looked_up
from py_autodoc.identity.tasks.images import PIXELS
from py_autodoc.identity.words import contains_word, words

_CLASSIFIERS = ("TreeEnsembleClassifier", "SVMClassifier", "LinearClassifier")
_COUNTING = ("TfIdfVectorizer", "Tokenizer")
"""Operators that count words."""
_VECTOR = 64
"""Minimum length of a row that may be an embedding from another model."""
_WIDE = 16
"""Minimum length of a reconstructed row."""
_COMPARED = ("Less", "LessOrEqual", "Greater", "GreaterOrEqual")
_LOOKED_UP = ("Gather", "GatherElements")
_SEEN = frozenset({"obs", "observation", "observations"})
_SITUATIONS = frozenset({"state", "states", "observation", "observations"})
_REWARDS = frozenset({"reward", "rewards", "return", "returns"})
_DONE = ("action", "actions", "policy")
"""Words in input and output names of agents, as exported by reinforcement learning libraries."""
_FRAMES = (4, (84, 84))
_MAX_ACTIONS = 64
_SPREADS = ("Clip", "Exp", "Softplus")
_REGRESSORS = ("TreeEnsembleRegressor", "SVMRegressor", "LinearRegressor")


def _ops(case: IdentityCase, names: tuple[str, ...]) -> str:
    return next((op for op in names if f"ai.onnx.ml::{op}" in case.flow.by_name), "")


@task("tabular-classification", "tabular classification", ("tabular-classification",), ())
def classification(case: IdentityCase) -> RuleReading | None:
    """Match classes for a row of numbers."""
    op = _ops(case, _CLASSIFIERS)
    if case.flow.of(_COUNTING):
        return None
    if op and case.family == "classical-ml":
        return RuleReading(SURE, (f"output computed by {op}",), "class")
    end, port = case.first, case.port("features")
    if port is not None and port.rank == 2 and looked_up(case):
        return _with_categories(case)
    if _is_argmax(case):
        evidence = "tabular input, index of the highest score as output"
        return RuleReading(PROBABLE + 0.1, (evidence,), "class")
    if case.family != "mlp" or case.only != "features" or end is None or port is None:
        return None
    if case.count("features") > 1:
        return None  # a graph and its nodes, or the two sides of a comparison
    if end.width == 1 and end.activation == "Sigmoid" and end.kind == "linear" and case.end is not None:
        evidence = "tabular input, one output between 0 and 1 (Sigmoid)"
        return RuleReading(
            PROBABLE if port.rank == 2 and not _agent_evidence(case) else WEAK, (evidence,), "score"
        )
    if end.rank != 2 or port.shape is None or len(port.shape) != 2 or (end.width or 0) < 2:
        return None
    if port.shape[1] in PIXELS:
        return None
    if _agent_evidence(case):
        return None
    if end.activation == "Softmax":
        if (end.width,) == port.shape[1:]:
            return None  # a choice among the inputs, such as the fields of a board
        evidence = "tabular input, class probabilities as output (Softmax)"
        wide = not isinstance(port.shape[1], int) or port.shape[1] >= _VECTOR
        return RuleReading(PROBABLE if wide else SURE, (evidence,), "class scores")
    if not end.activation and end.kind == "linear" and (end.width,) != port.shape[1:]:
        return RuleReading(WEAK, (f"tabular input, {end.width:,} scores as output",), "scores")
    return None


def _with_categories(case: IdentityCase) -> RuleReading | None:
    """Match scores for a row of numbers and categories, however the columns are mixed."""
    end = case.end
    if end is None or end.rank != 2 or (end.width or 0) < 2 or end.kind != "linear":
        return None
    evidence = f"numerical and categorical input, {end.width:,} scores as output"
    return RuleReading(PROBABLE, (evidence,), "class scores")


def _is_argmax(case: IdentityCase) -> bool:
    """True if the output is the index of the best score for each row of numbers."""
    port = case.port("features")
    if case.only != "features" or port is None or port.rank != 2 or _agent_evidence(case):
        return False
    return any(
        end.activation == "ArgMax" and (end.rank == 1 or (end.rank == 2 and end.width == 1))
        for end in case.ends
    )


def _is_tree_graph(case: IdentityCase) -> bool:
    """True for trees written as tensor operators: comparisons and lookups without weighted layers."""
    flow = case.flow
    layers = any(flow.of(kinds) for kinds in (CONV, RECURRENT)) or flow.of(("MatMul", "Gemm"))
    return bool(flow.of(_COMPARED)) and len(flow.of(_LOOKED_UP)) > 1 and not layers


def _agent_evidence(case: IdentityCase) -> str:
    """Return the evidence that inputs are observations and outputs are actions."""
    observes = any(contains_word(port.name, _SEEN) for port in case.ports)
    if observes and case.named(*_DONE):
        return "inputs named as observations, outputs named as actions"
    input_words = {part for port in case.ports for part in words(port.name)}
    rewarded = input_words & _REWARDS and input_words & _SITUATIONS
    return (
        "inputs named as states and rewards, outputs named as actions"
        if rewarded and case.named(*_DONE)
        else ""
    )


def _policy_evidence(case: IdentityCase) -> str:
    """Return the evidence of outputs that only agents have."""
    image = case.image
    if image is not None and (image.channels, image.size) == _FRAMES and case.first is not None:
        widths = [end.width for end in case.ends if end.rank == 2]
        if len(widths) == len(case.ends) and all(w is not None and w <= _MAX_ACTIONS for w in widths):
            return "four grey frames of 84×84 as input, a few values as output, as in Mnih et al. (2015)"
    if case.only == "features" and len(case.ends) == 2:
        mean, spread = case.ends
        paired = mean.rank == spread.rank == 2 and mean.width == spread.width is not None
        spreads = spread.activation in _SPREADS and mean.activation in ("Tanh", "")
        if paired and spreads and mean.kind == spread.kind == "linear" and case.family == "mlp":
            return "mean and bounded spread of as many values as outputs: a Gaussian policy"
    return ""


@task("control", "action selection", ("reinforcement-learning", "robotics"), ())
def control(case: IdentityCase) -> RuleReading | None:
    """Match the actions of an agent, from its observations."""
    evidence = _agent_evidence(case)
    if evidence:
        return RuleReading(SURE, (evidence,), "actions")
    evidence = _policy_evidence(case)
    if evidence:
        return RuleReading(PROBABLE + 0.1, (evidence,), "actions")
    seen = next((port for port in case.ports if contains_word(port.name, _SEEN)), None)
    if seen is None or seen.role not in ("features", "image") or case.first is None or case.first.rank != 2:
        return None
    return RuleReading(PROBABLE, ("an input is named as an observation",), "actions")


@task("tabular-regression", "tabular regression", ("tabular-regression",), ())
def regression(case: IdentityCase) -> RuleReading | None:
    """Match a number for a row of numbers."""
    op = _ops(case, _REGRESSORS)
    if op and case.family == "classical-ml" and not _ops(case, _CLASSIFIERS):
        return RuleReading(SURE, (f"output computed by {op}",), "value")
    end, port = case.end, case.port("features")
    if case.only != "features" or end is None or end.rank != 2 or end.width != 1:
        return None
    if port is not None and port.rank == 2 and not end.activation and _is_tree_graph(case):
        evidence = "decision trees as comparisons and table look-ups, summed to one value per row"
        return RuleReading(PROBABLE, (evidence,), "value")
    if case.family != "mlp":
        return None
    if end.activation or end.kind != "linear" or _agent_evidence(case):
        return None
    return RuleReading(PROBABLE, ("tabular input, one scalar output",), "value")


@task("reconstruction", "reconstruction", ("anomaly-detection",), ())
def reconstruction(case: IdentityCase) -> RuleReading | None:
    """Match as many outputs as inputs through a narrower layer: an autoencoder."""
    port, end = case.port("features"), case.first
    if case.family != "mlp" or case.only != "features" or case.count("features") != 1 or port is None:
        return None
    if port.rank != 2 or port.shape is None or end is None or end.rank != 2 or end.kind != "linear":
        return None
    width = port.shape[1]
    if not isinstance(width, int) or width < _WIDE or end.width != width or end.activation == "Softmax":
        return None
    narrow = _narrowest(case)
    if narrow is None or narrow * 2 > width or _agent_evidence(case):
        return None
    evidence = f"{width:,} input and output values, with a bottleneck of {narrow:,}"
    return RuleReading(PROBABLE + 0.1, (evidence,), "reconstruction")


def _narrowest(case: IdentityCase) -> int | None:
    """Return the width of the narrowest dense layer."""
    flow = case.flow
    shapes = [flow.shapes[flow.first_outputs[n]] for n in flow.of(("Gemm", "MatMul", "FusedGemm"))]
    widths = [shape[-1] for shape in shapes if shape and isinstance(shape[-1], int)]
    return min((width for width in widths if isinstance(width, int)), default=None)
