"""Classical machine learning (ai.onnx.ml). The learned numbers are attributes, not tensors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from py_autodoc.costs.registry import Cost, NodeView, UnknownSize, cost
from py_autodoc.costs.rules._make import movement, per_input, register, rows_read

_ML = "ai.onnx.ml"

register(_ML, "Binarizer", per_input(1))  # compare
register(_ML, "Scaler", per_input(2))  # (x − offset) · scale
register(_ML, "Imputer", per_input(1))  # compare
register(_ML, "Normalizer", per_input(2))  # max, or sum and ÷
register(_ML, "ArrayFeatureExtractor", movement(read=rows_read(0)))
register(
    _ML,
    "CastMap CategoryMapper DictVectorizer FeatureVectorizer LabelEncoder OneHotEncoder ZipMap",
    movement(),
)


def length(v: NodeView, name: str) -> int:
    """Return the length of a list attribute, 0 if absent. Raises: UnknownSize if it is not a list."""
    value = v.attr(name)
    if value is None:
        return 0
    if not isinstance(value, (list, tuple)):
        raise UnknownSize(f"attribute {name} is not a list")
    return len(value)


def rows(v: NodeView) -> int:
    """Return the samples of the input: N of (N, features), 1 for a single vector."""
    shape = v.shape(0)
    return shape[0] if len(shape) > 1 else 1


def post_transform(v: NodeView, scores: int) -> int:
    """Return the FLOPs of a post transform per score: SOFTMAX 5, LOGISTIC and PROBIT 1, NONE 0."""
    kind = v.text_attr("post_transform", "NONE")
    return {"NONE": 0, "LOGISTIC": 1, "PROBIT": 1}.get(kind, 5) * scores


@cost(_ML, "LinearClassifier", "LinearRegressor", macs=True)
def linear(v: NodeView) -> Cost:
    """X (N, features) · coefficients (classes · features) + intercepts: N · |coefficients| MACs."""
    n = rows(v)
    scores = length(v, "intercepts")
    return Cost.of(n * length(v, "coefficients"), n * scores + post_transform(v, n * scores))


@cost(_ML, "SVMClassifier", "SVMRegressor", macs=True)
def svm(v: NodeView) -> Cost:
    """Kernel values for every support vector, then their weighted sums.

    N · |support_vectors| + N · |coefficients| MACs (a linear machine has no support vectors), and one
    kernel function per vector: RBF subtracts and squares before it sums.
    """
    n = rows(v)
    vectors = length(v, "support_vectors")
    kernel = {"LINEAR": 0, "POLY": 3, "SIGMOID": 3}.get(v.text_attr("kernel_type", "LINEAR"), 2)
    if "vectors_per_class" in v.node.attributes:
        counts = v.ints_attr("vectors_per_class") or ()
        number = sum(counts)
    else:
        number = v.int_attr("n_supports", 0)
    distance = vectors if v.text_attr("kernel_type", "LINEAR") == "RBF" else 0
    return Cost.of(n * (vectors + length(v, "coefficients")), n * (max(number, 0) * kernel + distance))


def comparisons(tree_ids: Sequence[int]) -> int:
    """Return the comparisons to descend every tree once, assuming balanced trees.

    A balanced tree of ``count`` nodes has ceil(log2(count + 1)) levels; the last level is leaves.
    """
    return sum(count.bit_length() - 1 for count in Counter(tree_ids).values())


@cost(_ML, "TreeEnsembleClassifier", "TreeEnsembleRegressor")
def tree_ensemble(v: NodeView) -> Cost:
    """N rows descend every tree (assumed balanced) and add one weight per tree."""
    ids = v.ints_attr("nodes_treeids") or ()
    trees = len(set(ids))
    return Cost(0, rows(v) * (comparisons(ids) + trees))


@cost(_ML, "TreeEnsemble")
def tree_ensemble_5(v: NodeView) -> Cost:
    """Like ``tree_ensemble``; version 5 stores inner nodes only, each tree from its root to the next."""
    roots = sorted(v.ints_attr("tree_roots") or ())
    inner = length(v, "nodes_featureids")
    sizes = [b - a for a, b in zip(roots, [*roots, inner][1:], strict=True)]
    depth = sum(max(size, 0).bit_length() for size in sizes)
    return Cost(0, rows(v) * (depth + len(roots)))
