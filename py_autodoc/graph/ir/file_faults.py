"""Faults of a file for which no runtime, or not every runtime, runs it, whatever the dimensions.

Shapes and costs are known all the same; faults of a node that leave them unknown are ``contradiction``. What
a diagnostic means here is said by one table, which is confirmed with ONNX Runtime for each code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from py_autodoc.graph.ir.model import Diagnostic, Model


class Acceptance(Enum):
    """Whether runtimes run a file with the fault."""

    NONE = "no"
    """No runtime does."""
    SOME = "unknown"
    """It depends on the runtime, the machine or on files that are elsewhere."""


@dataclass(frozen=True, slots=True)
class FileFault:
    """A diagnostic that keeps the file from running, or may."""

    diagnostic: Diagnostic
    acceptance: Acceptance

    @property
    def text(self) -> str:
        """Return where and what it is, without a full stop."""
        where, said = self.diagnostic.where, self.diagnostic.message.rstrip(".")
        return f"{where}: {said}" if where else said


def _always(model: Model, diagnostic: Diagnostic) -> bool:
    return True


def _graph_output(model: Model, diagnostic: Diagnostic) -> bool:
    """True if the undefined name is an output; one that a node reads is a contradiction."""
    return diagnostic.node < 0


def _read(model: Model, diagnostic: Diagnostic) -> bool:
    """True if the tensor is stored and used: runtimes drop unused weights before they read their data."""
    if diagnostic.tensor < 0:
        return False
    # A negative size that is only declared counts as unknown, also for runtimes.
    return model.tensors[diagnostic.tensor].storage is not None and _used(model, diagnostic.tensor)


def _external_read(model: Model, diagnostic: Diagnostic) -> bool:
    """True if a tensor of that file, or of that name, is used."""
    where = diagnostic.where
    outside = [tensor for tensor in model.tensors if tensor.storage is not None and tensor.storage.location]
    found = [one for one in outside if where in (one.name, one.storage.location if one.storage else "")]
    # The shown location may differ from the one in the file: then any of them counts.
    return any(_used(model, one.id) for one in found or outside) or not outside


def _used(model: Model, number: int) -> bool:
    tensor = model.tensors[number]
    read = tensor.is_output or bool(tensor.consumers)
    return read or any(number in graph.outputs for graph in model.graphs)


def _in_one_graph(model: Model, diagnostic: Diagnostic) -> bool:
    """True if the other node of this name is in the same graph; names of branches are their own."""
    if diagnostic.node < 0:
        return False
    node = model.nodes[diagnostic.node]
    return any(
        number < node.id and model.nodes[number].name == node.name
        for number in model.graphs[node.graph].nodes
    )


FAULTS: Mapping[str, tuple[Acceptance, Callable[[Model, Diagnostic], bool]]] = {
    "data-size-mismatch": (Acceptance.NONE, _read),
    "declared-type": (Acceptance.NONE, _always),
    "dim-overflow": (Acceptance.NONE, _read),
    "duplicate-name": (Acceptance.SOME, _in_one_graph),
    "duplicate-output": (Acceptance.NONE, _always),
    "expansion-too-large": (Acceptance.NONE, _always),
    "external-missing": (Acceptance.SOME, _external_read),
    "external-outside": (Acceptance.NONE, _external_read),
    "external-range": (Acceptance.NONE, _external_read),
    "function-cycle": (Acceptance.NONE, _always),
    "huge-output": (Acceptance.SOME, _always),
    "ir-unknown": (Acceptance.NONE, _always),
    "negative-dim": (Acceptance.NONE, _read),
    "no-outputs": (Acceptance.NONE, _always),
    "operand-type": (Acceptance.NONE, _always),
    "opset-missing": (Acceptance.SOME, _always),
    "opset-unknown": (Acceptance.NONE, _always),
    "shadowed-name": (Acceptance.NONE, _always),
    "undefined-input": (Acceptance.NONE, _graph_output),
    "undefined-operator": (Acceptance.SOME, _always),
    "unknown-dtype": (Acceptance.NONE, _always),
    "wrong-signature": (Acceptance.NONE, _always),
    "zero-divisor": (Acceptance.NONE, _always),
}
"""Diagnostic code → what it means, and for which diagnostics of this code."""


def file_faults(model: Model, diagnostics: Iterable[Diagnostic]) -> Iterator[FileFault]:
    """Yield the faults among the diagnostics of a model, in order."""
    for diagnostic in diagnostics:
        acceptance, applies = FAULTS.get(diagnostic.code, (None, _always))
        if acceptance is not None and applies(model, diagnostic):
            yield FileFault(diagnostic, acceptance)


def refusal(model: Model, diagnostics: Iterable[Diagnostic]) -> FileFault | None:
    """Return the first fault for which no runtime runs the file; None if there is none."""
    return next((one for one in file_faults(model, diagnostics) if one.acceptance is Acceptance.NONE), None)
