"""Small models of Keras 3 on torch, saved, converted and compared with what Keras computes."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

from py_autodoc.keras import convert
from py_autodoc.tags import load_tags

QUIET = [pytest.mark.filterwarnings(f"ignore::{kind}") for kind in ("UserWarning", "DeprecationWarning")]
"""Marks of a module: Keras has much to say about how it is called and how it saves."""


def keras():
    """Keras on its torch backend; loading it changes nothing for others."""
    if "keras" not in sys.modules:
        before = os.environ.get("KERAS_BACKEND")
        os.environ["KERAS_BACKEND"] = "torch"
        try:
            import keras as loaded
        finally:
            if before is None:
                del os.environ["KERAS_BACKEND"]
            else:
                os.environ["KERAS_BACKEND"] = before
        assert loaded.backend.backend() == "torch"
    return sys.modules["keras"]


def varied(model, seed=0):
    """Weights that tell each other apart, moving moments and biases too."""
    random = np.random.default_rng(seed)
    model.set_weights(
        [
            random.uniform(0.1, 0.6, w.shape).astype(w.dtype)
            * np.asarray(1 if w.ndim < 2 else random.choice([-1, 1], w.shape), w.dtype)
            if np.issubdtype(w.dtype, np.floating)
            else w
            for w in model.get_weights()
        ]
    )
    return model


def named(tensor):
    """The name of the layer that a tensor comes from."""
    return tensor._keras_history.operation.name


def feed_of(model, seed=0, batch=2, high=4):
    """Inputs of a model by name; whole numbers below ``high``, free sizes 5."""
    random = np.random.default_rng(seed)
    found = {}
    for one in model.inputs:
        shape = [
            batch if at == 0 and size is None else 5 if size is None else size
            for at, size in enumerate(one.shape)
        ]
        whole = "int" in str(one.dtype)
        data = random.integers(0, high, shape) if whole else random.normal(size=shape)
        found[named(one)] = data.astype(str(one.dtype))
    return found


def outputs_of(model, feed):
    """What Keras computes."""
    given = [feed[named(one)] for one in model.inputs]
    import torch

    with torch.no_grad():
        made = model(given if len(given) > 1 else given[0], training=False)
    return [np.asarray(one.detach()) for one in keras().tree.flatten(made)]


def run(path, feed):
    """What ONNX Runtime computes; only what the model still reads is fed."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(path), options)
    return session.run(None, {one.name: feed[one.name] for one in session.get_inputs()})


def close(got, want, tolerance=1e-5):
    """Equal to ``tolerance`` of the largest number."""
    assert [one.shape for one in got] == [one.shape for one in want]
    for one, other in zip(got, want, strict=True):
        np.testing.assert_allclose(
            one, other, rtol=tolerance, atol=tolerance * max(1e-3, float(np.abs(other).max(initial=0)))
        )


def checked(result):
    """Everything that holds for each converted model."""
    onnx.checker.check_model(str(result.path), full_check=True)
    coverage = result.coverage
    assert coverage.nodes == coverage.trace > 0 or not coverage.nodes
    _, tags = load_tags(result.path)
    assert not list(tags.namer.collisions())
    owners = {}
    for record in tags.records.values():
        assert record.tag == tags.namer.tags[record.scope]
        assert owners.setdefault(record.tag, record.scope) == record.scope
    return result


def both(model, folder, feed=None, tolerance=1e-5, vary=True, forms=("keras", "h5"), want=None, **options):
    """Save in both forms, convert, compare; the results."""
    if vary:
        varied(model)
    feed = feed if feed is not None else feed_of(model)
    want = want if want is not None else outputs_of(model, feed)
    found = []
    for form in forms:
        path = folder / f"model.{form}"
        model.save(path)
        result = checked(convert(path, folder / f"model_{form}.onnx", **options))
        assert [
            tuple(size if isinstance(size, int) else None for size in one.shape)
            for one in result.model.graph.inputs
        ] == [tuple(one.shape) for one in model.inputs]
        close(run(result.path, feed), want, tolerance)
        found.append(result)
    return found


def saved(model, *settings, **options):
    """``both`` in a folder of its own: of what Hypothesis makes there are many in one test."""
    with tempfile.TemporaryDirectory() as folder:
        return both(model, Path(folder), *settings, **options)


def operators(result):
    """Operators of the graph in their order."""
    return [node.op_type for node in result.model.graph]
