"""Quality and speed of a model measured elsewhere, read from a small JSON file.

::

    {"model_id": "resnet50", "precision": "int8", "task_type": "image-classification",
     "eval": {"primary_metric_name": "top1", "primary_metric_value": 0.759, "metrics": {"top5": 0.927}},
     "perf": {"latency_ms_p50": 4.1, "throughput_qps": 241}}

All parts are optional except for one number; metric names are free, other fields are ignored.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import msgspec

from py_autodoc.bounded import TooMuch, check_json
from py_autodoc.errors import OptionError
from py_autodoc.limits import EVALUATION_FILE, Bounds
from py_autodoc.option_files import read_bytes, shown_name

BOUNDS = Bounds(values=20_000, depth=16)
_FORM_HINT = 'It has the form {"eval": {"metrics": {"top1": 0.76}}, "perf": {"latency_ms_p50": 4.1}}.'
_MAX_NAME = 200
"""Maximum length of a name."""
_LOWER = re.compile(
    r"loss|error|\berr\b|perplexity|\bppl\b|\b[wc]er\b|rmse|\bmse\b|\bmae\b|mape|\bfid\b|\beer\b|latency"
    r"|\btime\b|_ms\b|memory|vram|bytes|power|energy"
)
"""Name parts of metrics for which lower is better."""


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
    """Metrics of one model, measured elsewhere."""

    file: str
    model_id: str = ""
    precision: str = ""
    task: str = ""
    primary: str | None = None
    """Name of the primary metric."""
    metrics: Mapping[str, float | None] = field(default_factory=dict)
    """Quality metrics, including the primary one."""
    perf: Mapping[str, float | None] = field(default_factory=dict)
    """Speed and resource use."""


def read_evaluation(path: str) -> Evaluation:
    """Read an evaluation from a file.

    Raises: PathError: it cannot be read. OptionError: its format is invalid; the message contains the path.
    """
    name, data = shown_name(path), read_bytes(path, EVALUATION_FILE)
    try:
        check_json(data, BOUNDS)
        return evaluation_of(data, name)
    except (TooMuch, msgspec.DecodeError, UnicodeDecodeError) as fault:
        raise invalid_evaluation(name, fault) from None


def evaluation_of(data: bytes, file: str) -> Evaluation:
    """Return the evaluation in a checked JSON document. Raises: OptionError, msgspec.DecodeError."""
    return _validated(msgspec.json.decode(data, type=_EvaluationFile), file)


def invalid_evaluation(file: str, fault: Exception) -> OptionError:
    """Return the error for a file that is no evaluation."""
    if isinstance(fault, TooMuch):
        return OptionError("bad-evaluation", f"{file} is not an evaluation: it {fault}.")
    return OptionError(
        "bad-evaluation", f"{file} is not an evaluation: {str(fault)[:200].rstrip('.')}.", _FORM_HINT
    )


def _validated(content: _EvaluationFile, file: str) -> Evaluation:
    metrics, perf = dict(content.eval.metrics), dict(content.perf)
    name, value = content.eval.primary_metric_name, content.eval.primary_metric_value
    if name:
        if value is not None and metrics.get(name, value) != value:
            raise OptionError(
                "bad-evaluation",
                f"{file}: eval.primary_metric_value is {value:g}, in eval.metrics it is {metrics[name]!r}.",
                "Use the same value in both.",
            )
        metrics = {name: value if value is not None else metrics.get(name), **metrics}
    for section, values in (("eval.metrics", metrics), ("perf", perf)):
        for key, number in values.items():
            if number is not None and not math.isfinite(number):
                raise OptionError("bad-evaluation", f"{file}: {section}.{key[:60]} is not a finite number.")
            if not key or len(key) > _MAX_NAME or not key.isprintable():
                raise OptionError(
                    "bad-evaluation", f"{file}: {section} has a name of {len(key):,} characters."
                )
    if all(number is None for number in (*metrics.values(), *perf.values())):
        message = f"{file} has no measurement: there is no number in eval.metrics or perf."
        raise OptionError("bad-evaluation", message, _FORM_HINT)
    primary = name or next(iter(metrics), None)
    return Evaluation(file, content.model_id, content.precision, content.task_type, primary, metrics, perf)


def lower_is_better(name: str) -> bool:
    """Return whether lower values are better, judged by the name: losses, errors, times, memory."""
    return _LOWER.search(re.sub(r"[^a-z0-9]+", " ", name.lower()).replace(" ms", "_ms")) is not None
