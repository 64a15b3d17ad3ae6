"""User settings of the rules: thresholds, severities, and which rules run.

A threshold file is TOML or JSON. Its tables are named by rule ids. In each, a threshold's name sets its
value, ``enabled = false`` disables the rule and ``severity`` replaces the severity of all its findings.
``floor`` at the top level drops findings below a severity::

    floor = "low"

    [deep-chain]
    min_layers = 40
    severity = "info"

    [large-embedding]
    enabled = false
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from py_autodoc.bounded import TooMuch, check_toml
from py_autodoc.errors import OptionError, RequirementError
from py_autodoc.findings.registry import RESERVED, SEVERITIES, Number, Rule, rules
from py_autodoc.limits import SETTINGS, THRESHOLDS_FILE, FileKind
from py_autodoc.option_files import parsed_json, read_text, shown_name

FLOOR = "floor"


@dataclass(frozen=True, slots=True)
class RuleOptions:
    """Validated settings of all rules."""

    thresholds: Mapping[str, Mapping[str, Number]]
    """Rule id → threshold name → value; complete."""
    disabled: frozenset[str] = frozenset()
    """Ids of rules that do not run."""
    severities: Mapping[str, str] = field(default_factory=dict)
    """Rule id → severity of all its findings."""
    floor: str = SEVERITIES[0]
    """Findings below this severity are dropped."""
    source: str = ""
    """Base name of the settings file; empty if there is none."""


def settings(overrides: Mapping[str, Any] | str | os.PathLike[str] | None = None) -> RuleOptions:
    """Return settings from the contents or the path of a threshold file, or the defaults.

    Raises:
        OptionError: an unknown rule or threshold, or a value of the wrong type.
        PathError: the file cannot be read.
        RequirementError: a TOML file on a Python without ``tomllib``.
    """
    source = ""
    if overrides is None:
        overrides = {}
    elif isinstance(overrides, (str, os.PathLike)):
        source = os.path.basename(os.fsdecode(overrides))
        overrides = read_file(overrides)
    all_rules = rules()
    values = {id: dict(entry.thresholds) for id, entry in all_rules.items()}
    disabled: set[str] = set()
    severities: dict[str, str] = {}
    floor = SEVERITIES[0]
    for id, changes in overrides.items():
        if id == FLOOR:
            floor = _severity(FLOOR, changes)
            continue
        entry = find_rule(id, all_rules)
        if not isinstance(changes, Mapping):
            raise OptionError("bad-threshold", f"The settings of rule {entry.id} must be a table.")
        for name, value in changes.items():
            if name == "enabled":
                if not isinstance(value, bool):
                    raise OptionError("bad-threshold", f"{entry.id}.enabled must be true or false.")
                if not value:
                    disabled.add(entry.id)
            elif name == "severity":
                severities[entry.id] = _severity(f"{entry.id}.severity", value)
            else:
                values[entry.id][name] = _number(entry, name, value)
    return RuleOptions(values, frozenset(disabled), severities, floor, source)


def find_rule(id: Any, candidates: Mapping[str, Rule] | None = None) -> Rule:
    """Return the rule with an id. Raises: OptionError, which suggests similar ids."""
    candidates = rules() if candidates is None else candidates
    if isinstance(id, str) and id in candidates:
        return candidates[id]
    id_text = str(id)[:80]
    raise OptionError(
        "unknown-rule", f"Unknown rule {id_text!r}.", _suggestion(id_text, candidates, "onnx-autodoc rule")
    )


def _suggestion(name: str, names: Iterable[str], command: str) -> str:
    close = get_close_matches(name, list(names), n=3, cutoff=0.5)
    return f"Did you mean {' or '.join(close)}?" if close else f"Run `{command}` to list them."


def _severity(setting: str, value: Any) -> str:
    if isinstance(value, str) and value in SEVERITIES:
        return value
    raise OptionError("bad-threshold", f"{setting} must be one of {', '.join(SEVERITIES)}.")


def _number(entry: Rule, name: Any, value: Any) -> Number:
    """Return the value of a threshold, checked against the type of its default."""
    if name not in entry.thresholds:
        name_text = str(name)[:80]
        hint = _suggestion(name_text, {*entry.thresholds, *RESERVED}, f"onnx-autodoc rule {entry.id}")
        raise OptionError("unknown-threshold", f"Rule {entry.id} has no threshold {name_text!r}.", hint)
    is_integer = isinstance(entry.thresholds[name], int)
    fits = isinstance(value, int) if is_integer else isinstance(value, (int, float))
    if isinstance(value, bool) or not fits or not 0 <= value < math.inf:
        kind = "a whole number" if is_integer else "a number"
        raise OptionError("bad-threshold", f"{entry.id}.{name} must be {kind}, 0 or more.")
    return int(value) if is_integer else value


def read_file(path: str | os.PathLike[str], kind: FileKind = THRESHOLDS_FILE) -> Mapping[str, Any]:
    """Return the unchecked contents of a threshold file (or another settings file).

    TOML if the name ends in ``.toml``, otherwise JSON.

    Raises: PathError, OptionError, RequirementError.
    """
    name, text = shown_name(path), read_text(path, kind)
    toml = os.fspath(path).lower().endswith(".toml")
    data = _toml(text, name, kind) if toml else parsed_json(text, name, kind)
    if not isinstance(data, dict):
        keys = "rule ids" if kind is THRESHOLDS_FILE else "names of settings"
        raise OptionError(kind.code, f"{name} must hold an object whose keys are {keys}.")
    return data


def _toml(text: str, file_name: str, kind: FileKind) -> Any:
    if find_spec("tomllib") is None:
        raise RequirementError(
            "toml-unsupported", f"{file_name}: reading TOML needs Python 3.11.", "Use a .json file instead."
        )
    try:
        check_toml(text, SETTINGS)
        return import_module("tomllib").loads(text)
    except TooMuch as error:
        raise OptionError(kind.code, f"{file_name} is not {kind.name}: it {error}.") from None
    except (ValueError, RecursionError) as error:
        raise OptionError(kind.code, f"{file_name} is not valid TOML: {str(error)[:120]}.") from None
