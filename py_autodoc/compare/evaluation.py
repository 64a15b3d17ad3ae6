"""What was measured of a model elsewhere: quality and speed, from a small JSON file.

::

    {"model_id": "resnet50", "precision": "int8", "task_type": "image-classification",
     "eval": {"primary_metric_name": "top1", "primary_metric_value": 0.759, "metrics": {"top5": 0.927}},
     "perf": {"latency_ms_p50": 4.1, "throughput_qps": 241}}

Every part may be missing; names of metrics are free, other fields are ignored.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from py_autodoc.bounded import TooMuch, check_json
from py_autodoc.errors import OptionError, PathError
from py_autodoc.limits import Bounds

MAX_BYTES = 1 << 20
_BOUNDS = Bounds(values=20_000, depth=16)
_LONGEST = 200
"""Characters of a name."""
_LOWER = re.compile(
    r"loss|error|\berr\b|perplexity|\bppl\b|\b[wc]er\b|rmse|\bmse\b|\bmae\b|mape|\bfid\b|\beer\b|latency"
    r"|\btime\b|_ms\b|memory|vram|bytes|power|energy"
)
"""Metrics of which less is better, by their names."""


class _Eval(msgspec.Struct, frozen=True):
    primary_metric_name: str | None = None
    primary_metric_value: float | None = None
    metrics: dict[str, float | None] = {}


class _EvaluationFile(msgspec.Struct, frozen=True):
    model_id: str = ""
    precision: str = ""
    task_type: str = ""
    eval: _Eval = _Eval()
    perf: dict[str, float | None] = {}


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Numbers of one model, measured elsewhere."""

    file: str
    model_id: str = ""
    precision: str = ""
    task: str = ""
    primary: str | None = None
    """Name of the metric that counts most."""
    metrics: Mapping[str, float | None] = field(default_factory=dict)
    """Quality; the primary metric is among them."""
    perf: Mapping[str, float | None] = field(default_factory=dict)
    """Speed and use of the machine."""


def read_evaluation(path: str) -> Evaluation:
    """The evaluation of a file.

    Raises: PathError: it cannot be read. OptionError: it is not of the form; the message has the path in it.
    """
    shown = os.path.basename(path)
    try:
        if not os.path.isfile(path):
            what = "is not a regular file" if os.path.exists(path) else "no such file"
            raise PathError("path-missing", f"{shown}: {what}.", "Check the path of the evaluation.")
        if os.path.getsize(path) > MAX_BYTES:
            raise OptionError("bad-evaluation", f"{shown} is larger than an evaluation can be (1 MiB).")
        data = Path(path).read_bytes()
        check_json(data, _BOUNDS)
        made = msgspec.json.decode(data, type=_EvaluationFile)
    except OSError as fault:
        raise PathError("path-unreadable", f"Cannot read {shown}: {fault.strerror or fault}.") from None
    except TooMuch as fault:
        raise OptionError("bad-evaluation", f"{shown} {fault}; no evaluation does.") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as fault:
        raise OptionError(
            "bad-evaluation", f"{shown} is not an evaluation: {str(fault)[:200].rstrip('.')}.",
            'It has the form {"eval": {"metrics": {"top1": 0.76}}, "perf": {"latency_ms_p50": 4.1}}.',
        ) from None  # fmt: skip
    return _checked(made, shown)


def _checked(made: _EvaluationFile, shown: str) -> Evaluation:
    metrics, perf = dict(made.eval.metrics), dict(made.perf)
    name, value = made.eval.primary_metric_name, made.eval.primary_metric_value
    if name:
        if value is not None and metrics.get(name, value) != value:
            raise OptionError(
                "bad-evaluation",
                f"{shown}: eval.primary_metric_value is {value:g}, in eval.metrics it is {metrics[name]!r}.",
                "Pass one value.",
            )
        metrics = {name: value if value is not None else metrics.get(name), **metrics}
    for part, found in (("eval.metrics", metrics), ("perf", perf)):
        for key, number in found.items():
            if number is not None and not math.isfinite(number):
                raise OptionError("bad-evaluation", f"{shown}: {part}.{key[:60]} is not a finite number.")
            if not key or len(key) > _LONGEST or not key.isprintable():
                raise OptionError("bad-evaluation", f"{shown}: {part} has a name of {len(key):,} characters.")
    primary = name or next(iter(metrics), None)
    return Evaluation(shown, made.model_id, made.precision, made.task_type, primary, metrics, perf)


def lower_is_better(name: str) -> bool:
    """Whether less of a metric is better, as its name says: losses, errors, times, memory."""
    return _LOWER.search(re.sub(r"[^a-z0-9]+", " ", name.lower()).replace(" ms", "_ms")) is not None
