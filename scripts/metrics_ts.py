"""The table of metrics for those who cannot import Python: the viewer and JupyterLab's settings."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, get_args

from py_autodoc.hardware.profile import PRECISIONS
from py_autodoc.hardware.runtimes import RUNTIMES
from py_autodoc.metrics import METRICS, RAMPS, Metric, Place, Total, Unit, shown

_HEAD = """\
/**
 * The one table of metrics. Generated from `py_autodoc/metrics.py` by `scripts/generate.py`; do not edit.
 */

/** What translates a label; `ITranslate` of the viewer does. */
interface ILabels {
  __(msgid: string): string;
}

type Label = (trans: ILabels) => string;

export interface ITotal {
  /** Field of the payload's `metrics`; none where it is not there. */
  readonly field?: TotalField;
  /** Where it is not the metric's. */
  readonly label?: Label;
  /** One sentence: what is counted. */
  readonly about?: Label;
  /** The share of `coverage` below which the sum is a lower bound. */
  readonly covered?: 'macs' | 'nodes';
  /** Field of `metrics` that says why there is no number. */
  readonly reason?: ReasonField;
  /** The metric that colours the graph by it. */
  readonly heatmap?: HeatmapMetric;
  /** Only shown where it is not 0. */
  readonly optional?: true;
}

export interface IMetric {
  readonly label: Label;
  /** Head of a table's column, where the label is too long. */
  readonly short?: Label;
  readonly unit: Unit;
  /** The payload has its column, of one execution or of one inference. */
  readonly stored?: 'execution' | 'inference';
  /** Estimated for a device, and there only once one is chosen. */
  readonly device?: true;
  /** A quotient of sums of columns, or a sum where nothing is under it. */
  readonly over?: readonly StoredMetric[];
  readonly under?: readonly StoredMetric[];
  /** False where parts do not add up to a whole. */
  readonly additive?: false;
  /** Head of the column of its shares. */
  readonly share?: Label;
  /** Colours of its heatmap; default viridis. */
  readonly ramp?: RampId;
  /** Fields of queries. */
  readonly query?: readonly string[];
  readonly total?: ITotal;
}
"""


def metrics_module() -> str:
    """TypeScript: types of the ids, lists by place, what the viewer shows of the table, the ramps."""
    stored = [one.id for one in METRICS if one.stored]
    kept = [one for one in METRICS if one.stored or one.over or one.device or "strip" in one.shown]
    totals = [one.total for one in kept if one.total]
    columns: list[tuple[str, str]] = []
    for one in shown("column"):
        columns.append((one.column or one.id, one.id))
        if one.share:
            columns.append((f"{one.id}_share", one.id))
    return "\n".join(
        [
            _HEAD,
            _union("Unit", get_args(Unit)),
            _union("StoredMetric", stored, "Columns of the payload, in the order of the wire."),
            _union(
                "ExecutionMetric",
                [one.id for one in METRICS if one.stored == "execution"],
                "Those that the payload has of one execution.",
            ),
            _union("DerivedMetric", [one.id for one in METRICS if one.over], "Computed from columns."),
            _union("DeviceMetric", [one.id for one in METRICS if one.device], "Of a chosen device."),
            _union("HeatmapMetric", [one.id for one in shown("heatmap")]),
            _union("TotalField", [total.field for total in totals if total.field]),
            _union("ReasonField", [total.reason for total in totals if total.reason]),
            "/** Ids by place, in its order. */",
            f"export const SHOWN = {{{_places()}}} as const;",
            "/** Numeric columns of the table, in order; shares sort as what they are shares of. */",
            f"export const METRIC_COLUMNS = {json.dumps(dict(columns))} as const;",
            _union("TotalMetric", [one.id for one in shown("strip")]),
            "export type AnyMetric = StoredMetric | DerivedMetric | DeviceMetric | TotalMetric;",
            "export const METRICS: Readonly<Record<AnyMetric, IMetric>> = {",
            *(f"{one.id}: {_metric(one)}," for one in kept),
            "};",
            "/** Samples of colour scales at equal distances, dark to bright. */",
            f"export const RAMPS = {json.dumps(RAMPS)} as const;",
            "export type RampId = keyof typeof RAMPS;",
        ]
    )


def _union(name: str, values: Iterable[str], about: str = "") -> str:
    doc = f"/** {about} */\n" if about else ""
    return f"{doc}export type {name} = {' | '.join(json.dumps(value) for value in values)};\n"


def _places() -> str:
    return ", ".join(
        f"{place}: {json.dumps([one.id for one in shown(place)])}"
        for place in get_args(Place)
        if place in ("heatmap", "costs", "chart", "attachment", "strip")
    )


def _metric(one: Metric) -> str:
    fields: dict[str, Any] = {
        "label": _label(one.label),
        "short": _label(one.short),
        "unit": json.dumps(one.unit),
        "stored": one.stored and json.dumps(one.stored),
        "device": "true" if one.device else "",
        "over": one.over and json.dumps(one.over),
        "under": one.under and json.dumps(one.under),
        "additive": "" if one.additive else "false",
        "share": _label(one.share),
        "ramp": "" if one.ramp == "viridis" else json.dumps(one.ramp),
        "query": one.query and json.dumps(one.query),
        "total": one.total and _total(one.total),
    }
    return _object(fields)


def _total(total: Total) -> str:
    return _object(
        {
            "field": total.field and json.dumps(total.field),
            "label": _label(total.label),
            "about": _label(total.about),
            "covered": total.covered and json.dumps(total.covered),
            "reason": total.reason and json.dumps(total.reason),
            "heatmap": total.heatmap and json.dumps(total.heatmap),
            "optional": "true" if total.optional else "",
        }
    )


def _object(fields: dict[str, Any]) -> str:
    return "{" + ", ".join(f"{name}: {text}" for name, text in fields.items() if text) + "}"


def _label(text: str) -> str:
    """Written as a call, which is how the collectors of translations find a text."""
    return text and f"t => t.__({json.dumps(text)})"


def plugin_settings(text: str) -> str:
    """JupyterLab's settings with the heatmaps, precisions and runtimes that there are."""
    settings = json.loads(text)
    options = settings["properties"]["overlay"]["oneOf"]
    kept = [option for option in options if option["const"] in ("auto", "none")]
    kept += [
        {
            "const": one.id,
            "title": f"{one.label} on the device below, else MACs" if one.device else one.label,
        }
        for one in shown("heatmap")
    ]
    settings["properties"]["overlay"]["oneOf"] = kept
    for name, found in (
        ("precision", [(one, one.upper()) for one in PRECISIONS]),
        ("runtime", [(one.id, one.label) for one in RUNTIMES]),
    ):
        listed = settings["properties"][name]["oneOf"]
        listed[1:] = [{"const": const, "title": title} for const, title in found]
    return json.dumps(settings, indent=2) + "\n"
