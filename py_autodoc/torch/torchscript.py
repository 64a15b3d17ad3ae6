"""The TorchScript exporter, with exact scopes.

It writes no metadata, and its node names omit indices of calls, keys of a ModuleDict and containers. The
trace has this information. While it runs, the map from modules to scope names is replaced by one that also
numbers each call, and the scope of each node is recorded when nodes are named. Names in the file do not
change, because they are made from another part of the scope.

Both hooks are private to torch. If they are missing, scopes are inferred from node names as far as these are
unambiguous, with a warning.
"""

from __future__ import annotations

import re
import secrets
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import onnx_ir as ir
import torch

from py_autodoc.graph.loading.load import parse_structure
from py_autodoc.graph.protobuf.probe import regular_file
from py_autodoc.graph.protobuf.protobuf_wire import WireSource
from py_autodoc.tags.assign import Frame, assign
from py_autodoc.tags.model_files import LARGE, to_ir
from py_autodoc.tags.paths import parent
from py_autodoc.torch.dynamo import DynamoExport, quiet
from py_autodoc.torch.inputs import dynamic_axes
from py_autodoc.torch.name_evidence import NameEvidence
from py_autodoc.torch.result import ExportRequest
from py_autodoc.torch.scopes import Modules, named, namer_of, tensor_names, watching

_EXPORTER = "torch.onnx._internal.torchscript_exporter.utils"
_SETUP = "_setup_trace_module_map"
_ASSIGN = "_jit_pass_onnx_assign_scoped_names_for_node_and_value"
_MAP = "_trace_module_map"
NO_SCOPES = (
    "This version of torch does not expose its TorchScript trace: modules are inferred from node names, "
    "which are ambiguous."
)
_LOCK = threading.Lock()
"""Held during an export, because the exporter keeps its state in globals."""


class ByteSink:
    """Receives the model from the exporter without a copy."""

    def __init__(self) -> None:
        self.data = b""

    def write(self, data: bytes) -> int:
        """Store the data; the exporter writes once."""
        self.data = self.data + data if self.data else data
        return len(data)

    def flush(self) -> None:
        """Do nothing, since writes are not buffered."""


class _Calls(dict[Any, str]):
    """Module → scope name; each look-up counts as a call of the module and adds the call's number."""

    def __init__(self, names: dict[Any, str], modules: Modules, nonce: str) -> None:
        super().__init__(names)
        self._number = {module: number for number, module in enumerate(modules.values())}
        self._nonce = nonce
        self.counts: dict[int, int] = {}

    def get(self, module: Any, default: Any = None) -> Any:
        name = super().get(module, default)
        number = self._number.get(module)
        if not name or number is None:
            return name
        call = self.counts[number] = self.counts.get(number, -1) + 1
        kind, separator, variable = name.partition("::")
        return f"{kind}@{self._nonce}.{number}.{call}{separator}{variable}"


class Recorder:
    """Scopes of the nodes of one export."""

    def __init__(self, modules: Modules) -> None:
        self.paths = list(modules)
        self.modules = modules
        self.frames: dict[str, list[Frame]] = {}
        self.calls: _Calls | None = None
        self._nonce = secrets.token_hex(4)
        self._mark = re.compile(rf"@{self._nonce}\.(\d+)\.(\d+)::")

    @property
    def ran(self) -> set[str]:
        """Paths of the modules that were called."""
        return {self.paths[number] for number in self.calls.counts} if self.calls else set()

    def note(self, graph: Any) -> None:
        """Record the scope of every node of a finished graph."""
        pending = [graph]
        while pending:
            block = pending.pop()
            for node in block.nodes():
                marks = self._mark.findall(node.scopeName())
                if marks and node.hasAttribute("onnx_name"):
                    frames = [Frame(self.paths[int(number)], int(call)) for number, call in marks]
                    self.frames[node.s("onnx_name")] = frames
                pending.extend(node.blocks())

    @contextmanager
    def installed(self) -> Iterator[tuple[str, ...]]:
        """Record exports in the ``with`` block."""
        utils, trace = import_module(_EXPORTER), torch.jit._trace
        setup, rename = getattr(utils, _SETUP), getattr(torch._C, _ASSIGN)

        def set_up(*args: Any, **kwargs: Any) -> Any:
            result = setup(*args, **kwargs)
            names = getattr(trace, _MAP)
            self.calls = _Calls(names, self.modules, self._nonce)
            setattr(trace, _MAP, self.calls)
            return result

        def name_nodes(graph: Any) -> None:
            rename(graph)
            self.note(graph)

        setattr(utils, _SETUP, set_up)
        setattr(torch._C, _ASSIGN, name_nodes)
        try:
            yield ()
        finally:
            setattr(utils, _SETUP, setup)
            setattr(torch._C, _ASSIGN, rename)


def can_record() -> bool:
    """True if this torch has the functions that ``Recorder`` replaces."""
    try:
        utils: ModuleType = import_module(_EXPORTER)
    except ImportError:
        return False
    hooks: list[tuple[Any, str]] = [(utils, _SETUP), (torch._C, _ASSIGN)]
    return all(callable(getattr(owner, name, None)) for owner, name in hooks) and hasattr(
        torch.jit._trace, _MAP
    )


class TraceEvidence:
    """Evidence of one recorded trace."""

    exact = True

    def __init__(self, frames: dict[str, list[Frame]], tensors: frozenset[str]) -> None:
        self._frames = frames
        self._tensors = tensors

    def frames(self, node: ir.Node) -> Sequence[Frame] | None:
        """Return the module calls in progress when the node was traced."""
        return self._frames.get(node.name or "")

    def frames_of(self, node: ir.Node, path: str) -> Sequence[Frame] | None:
        """Return None: this exporter merges nodes before it names them."""
        return None

    def parameters(self, node: ir.Node) -> Sequence[str]:
        """Return the parameter an alias of a shared initializer is named after, else those the node reads."""
        outputs = [value.name for value in node.outputs if value.name in self._tensors]
        if outputs:
            return [name for name in outputs if name]
        return [value.name for value in node.inputs if value is not None and value.name in self._tensors]

    def owning_module(self, name: str) -> str | None:
        """Return the module of a parameter."""
        return parent(name) if name in self._tensors else None

    def rewritten(self, node: ir.Node) -> bool:
        """Return False, since the file does not contain this."""
        return False


@contextmanager
def positional(request: ExportRequest) -> Iterator[tuple[tuple[Any, ...], list[str] | None]]:
    """Yield the inputs as positional tensors, with their names if each is a tensor.

    The exporter makes named inputs positional and adds the defaults of all others, which a decorated
    ``forward`` cannot accept. In the ``with`` block, ``forward`` accepts tensors by position and receives
    them by name; inputs that are not tensors stay fixed.
    """
    model, inputs = request.model, request.inputs
    if not inputs.kwargs and not hasattr(model.forward, "__wrapped__"):
        yield inputs.args, None
        return
    fixed = {name: value for name, value in inputs.kwargs.items() if not _holds_tensor(value)}
    names = [name for name in inputs.kwargs if name not in fixed]
    forward, original, count = model.forward, model.__dict__.get("forward"), len(inputs.args)

    def by_name(*args: Any) -> Any:
        return forward(*args[:count], **dict(zip(names, args[count:], strict=True)), **fixed)

    model.forward = by_name
    try:
        all_tensors = not count and all(isinstance(inputs.kwargs[name], torch.Tensor) for name in names)
        yield (*inputs.args, *(inputs.kwargs[name] for name in names)), names if all_tensors else None
    finally:
        if original is None:
            del model.forward
        else:
            model.forward = original


def _holds_tensor(value: Any) -> bool:
    return any(isinstance(leaf, torch.Tensor) for leaf in torch.utils._pytree.tree_leaves(value))


def export_torchscript(request: ExportRequest, folder: Path) -> tuple[DynamoExport, Path | bytes]:
    """Export and tag. Also returns the model as the exporter wrote it; a path in ``folder`` if it is large.

    Raises whatever torch raises.
    """
    model = request.model
    size = sum(tensor.nbytes for tensor in (*model.parameters(), *model.buffers()))
    exact = can_record()
    recorder = Recorder(named(model)[0])
    names, axes = dynamic_axes(model, request.inputs, request.input_names, request.dynamic)
    target: Any = str(folder / request.path.name) if size > LARGE else ByteSink()
    watch: AbstractContextManager[Collection[str]] = recorder.installed() if exact else watching(model)
    with (
        _LOCK,
        torch.no_grad(),
        quiet(),
        _unlogged(),
        positional(request) as (args, positional_names),
        watch as watched,
    ):
        _legacy(model, args, target, names or positional_names, axes, request)
    ran = recorder.ran if exact else set(watched)
    request.stage("tag", 0.8)
    written = Path(target) if isinstance(target, str) else target.data
    graph = _structure(written)
    namer = namer_of(model, request.keep)
    tensors = tensor_names(model)
    warned = [] if recorder.frames else [NO_SCOPES]
    evidence = TraceEvidence(recorder.frames, tensors) if recorder.frames else NameEvidence(namer, tensors)
    tags = assign(graph, namer, evidence, "torchscript")
    return DynamoExport(graph, tags, model, ran, warned), written


@contextmanager
def _unlogged() -> Iterator[None]:
    """Suppress the graph that native torch code prints to stdout for an unsupported operator."""
    inner: Any = torch._C
    original = getattr(inner, "_jit_onnx_log", None)
    if original is None:
        yield
        return
    inner._jit_onnx_log = lambda *_: None
    try:
        yield
    finally:
        inner._jit_onnx_log = original


def _legacy(model: Any, args: Any, target: Any, names: Any, axes: Any, request: ExportRequest) -> None:
    export: Callable[..., Any] = torch.onnx.export
    export(
        model,
        args,
        target,
        dynamo=False,
        input_names=names,
        output_names=request.output_names,
        dynamic_axes=axes,
        opset_version=request.opset,
        **request.options,
    )


def _structure(written: Path | bytes) -> ir.Model:
    if isinstance(written, bytes):
        return to_ir(parse_structure(WireSource.of_bytes(written), "model.onnx"))
    with regular_file(written) as (fd, status):
        return to_ir(parse_structure(WireSource(status.st_size, fd), written.name))
