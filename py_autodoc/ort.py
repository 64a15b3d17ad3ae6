"""ONNX Runtime sessions: imported on use, opened safely, with one-line errors."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from py_autodoc.errors import (
    AnalysisError,
    AutodocError,
    InputError,
    ModelRefused,
    OptionError,
    RequirementError,
)
from py_autodoc.free_memory import exhausted, is_exhaustion
from py_autodoc.graph.ir.diagnostic_collector import DiagnosticCollector
from py_autodoc.graph.loading.external_data import location_hint
from py_autodoc.graph.loading.first_pass import collect_and_sanitize
from py_autodoc.graph.loading.load import load
from py_autodoc.graph.protobuf.probe import PathLike, base_name

if TYPE_CHECKING:
    import numpy as np
    import onnx

FOLDER = "session.model_external_initializers_file_folder_path"
"""Session option: the folder in which a session created from bytes finds external weights."""
FORMAT = "session.load_model_format"
"""Session option: the format of the file, whatever its name."""
ENDLESS = "expansion-too-large"
"""Diagnostic of functions that call each other so often that no runtime could expand them."""
OUT_OF_REACH = frozenset(
    {"external-hidden", "external-missing", "external-outside", "external-range", "external-self"}
)
"""Diagnostics of external weights that a session must not read."""
_LONGEST = 300
_SIGNATURE = re.compile(
    r" ?/\S*\.(?:cc|h|cpp|hpp|cu):\d+ .{1,1000}?\)(?: const)?(?: noexcept)?"
    r"(?: \[with [^\]]{0,500}\])? (?=[^\s,*&>)])"
)
"""Where a C++ function of the runtime raised: file, line and the function with its types."""
_STATUS = re.compile(
    r"^\[ONNXRuntimeError\] : \d+ : [A-Z_]+ : (?:Load model from .{0,300}? failed:)?(?:Fatal error: )?"
)
"""What the runtime puts in front of a reason: its number and name of the kind, and the file again."""
_FOREIGN = re.compile(r"is not a registered function/op|No Op registered for")
LARGEST = 2**31 - 1
"""Maximum bytes of a protobuf."""
_QUIET, _WARNING = 4, 2
"""ONNX Runtime log levels for stderr: only fatal errors, and its default."""


_default_severity = [_WARNING]
"""Level of that logger in this process, last; it cannot be asked."""


def onnxruntime(what: str) -> Any:
    """Return the module. ``what`` is the feature that needs it: "Calibration". Raises: RequirementError."""
    try:
        return sys.modules.get("onnxruntime") or _first_import()
    except ImportError:
        raise RequirementError(
            "needs-onnxruntime",
            f"{what} needs ONNX Runtime, which is not installed.",
            "pip install onnxruntime",
        ) from None


def _first_import() -> Any:
    """Import the module without the lines that it writes to stderr itself: about devices, and coloured.

    A process that has imported it before keeps its own level.
    """
    with quiet_descriptor(2):
        module = import_module("onnxruntime")
        module.set_default_logger_severity(_QUIET)
    _default_severity.append(_QUIET)
    return module


@contextmanager
def quiet_default_logger() -> Iterator[None]:
    """Silence the logger of ONNX Runtime that belongs to no session."""
    runtime = import_module("onnxruntime")
    runtime.set_default_logger_severity(_QUIET)
    try:
        yield
    finally:
        runtime.set_default_logger_severity(_default_severity[-1])


@contextmanager
def quiet_descriptor(number: int) -> Iterator[None]:
    """Drop what libraries write to a descriptor, below Python's streams."""
    try:
        kept = os.dup(number)
    except OSError:  # closed
        yield
        return
    try:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, number)
        os.close(null)
        yield
    finally:
        os.dup2(kept, number)
        os.close(kept)


def check_weights(path: PathLike) -> None:
    """Reject a file whose weights are missing or outside its folder, or whose functions expand without end.

    Raises: InputError.
    """
    loaded = load(path)
    for one in loaded.diagnostics:
        if one.code == ENDLESS:
            raise InputError(
                one.code,
                f"{base_name(path)}: {one.message}",
                "No runtime can expand them.",
            )
        if one.code in OUT_OF_REACH:
            count = sum(other.code == one.code for other in loaded.diagnostics)
            place = f"{one.where} (1 of {count:,})" if count > 1 else one.where
            # Without a location, it is the name of a tensor.
            location = one.where if one.where in loaded.facts.external_files else ""
            raise InputError(
                one.code,
                ": ".join(filter(None, (base_name(path), place, one.message))),
                location_hint(one.code, location),
            )


def read_model(path: PathLike, *, weights: bool) -> onnx.ModelProto:
    """Load the file as a protobuf, with or without external weights.

    Its names are those of the analysis: ``original_names`` has what they were.

    Raises: InputError: the file or its external weights cannot be read.
    """
    proto = _read(path, weights)
    if _has_odd_names(path):
        collect_and_sanitize(proto, DiagnosticCollector())
    return proto


def original_names(path: PathLike) -> dict[str, str]:
    """Return the names that are too long for the analysis, by their shortened form. Usually empty.

    Raises: InputError: as ``read_model``.
    """
    if not _has_odd_names(path):
        return {}
    return collect_and_sanitize(_read(path, False), DiagnosticCollector()).shortened


def _has_odd_names(path: PathLike) -> bool:
    """True if the analysis has other names than the file."""
    return any(one.code in ("long-name", "non-utf8-name") for one in load(path).diagnostics)


def _read(path: PathLike, weights: bool) -> onnx.ModelProto:
    import onnx

    check_weights(path)
    try:
        return onnx.load(os.fspath(path), format="protobuf", load_external_data=weights)
    except Exception as fault:  # protobuf has no common base for what it raises
        said = f"{base_name(path)} cannot be read: {type(fault).__name__}."
        raise InputError("not-readable", said) from fault


def stored_array(tensor: onnx.TensorProto, name: str) -> np.ndarray[Any, Any]:
    """Return the values of a tensor in memory. ``name`` is the file's, for the message.

    Raises: InputError: its data does not have the size of its shape, or its type is unknown.
    """
    from onnx import numpy_helper

    try:
        values: np.ndarray[Any, Any] = numpy_helper.to_array(tensor)
    except (ValueError, TypeError, KeyError, MemoryError, AttributeError, OverflowError) as fault:
        raise InputError(
            "weights-damaged",
            f"{name}: the data of {str(tensor.name)[:80] or 'a constant'} does not match its shape and type.",
            "Export the model again, or get an undamaged copy.",
        ) from fault
    return values


def weight_bytes(graph: onnx.GraphProto) -> int:
    """Return the bytes of a graph's tensors held in memory, including subgraphs.

    ``ByteSize`` of a protobuf fails from 2 GiB on.
    """
    found = sum(len(one.raw_data) or one.ByteSize() for one in graph.initializer)
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("t"):
                found += len(attribute.t.raw_data) or attribute.t.ByteSize()
            if attribute.HasField("g"):
                found += weight_bytes(attribute.g)
    return found


def cores() -> int:
    """Return the number of cores that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


def usable_threads(threads: int) -> int:
    """Return the threads for a request, at most one per core: more would only wait for each other."""
    return min(threads, cores())


def open_session(
    path: PathLike,
    what: str,
    *,
    proto: onnx.ModelProto | None = None,
    fuse: bool = True,
    threads: int = 0,
    providers: Sequence[str] = (),
    profile: str = "",
    optimized: str = "",
    spin: bool = True,
    portable: bool = False,
    settings: Mapping[str, str] | None = None,
) -> Any:
    """Open an ``InferenceSession``.

    Args:
        path: the model; its weights are read only from its own folder.
        what: the feature that needs the session, for messages.
        proto: replaces the file's structure; external weights are those of the file.
        fuse: False runs every operator as in the file.
        threads: threads per operator, at most one for each core; 0: ONNX Runtime's default.
        providers: execution providers, in order of preference; none: the CPU.
        profile: prefix of the file that ``end_profiling`` writes; empty: no profile.
        optimized: file for the optimized graph; empty: none.
        spin: let idle threads spin, which is ONNX Runtime's default; without it, several concurrent sessions
        use less CPU.
        portable: leave out the optimizations that choose layouts for this processor; the optimized graph is
        then the same on every machine.
        settings: entries of the session's configuration.

    Raises:
        OptionError: a provider that this ONNX Runtime does not have.
        RequirementError: ONNX Runtime is missing.
        InputError: external weights cannot be read, or ``proto`` has more than 2 GB of them.
        LimitError: memory ran out.
        ModelRefused: ONNX Runtime refuses the model.
    """
    runtime = onnxruntime(what)
    check_weights(path)
    options = runtime.SessionOptions()
    options.log_severity_level = _QUIET
    options.intra_op_num_threads = usable_threads(threads)
    if not spin:
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    if not fuse:
        options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    elif portable:
        options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    # It would go by the ending, and what stands for a model in another format has the name of that.
    options.add_session_config_entry(FORMAT, "ONNX")
    for key, value in (settings or {}).items():
        options.add_session_config_entry(key, value)
    if profile:
        options.enable_profiling = True
        options.profile_file_prefix = profile
    if optimized:
        options.optimized_model_filepath = optimized
    chosen = [*providers] or ["CPUExecutionProvider"]
    for one in chosen:
        if one not in runtime.get_available_providers():
            raise OptionError(
                "provider-unknown",
                f"This ONNX Runtime has no provider {one[:80]}.",
                f"Choose one of {', '.join(runtime.get_available_providers())}.",
            )
    given: str | bytes = os.fspath(path)
    if proto is None and _has_odd_names(path):
        # The runtime must know the tensors by the names that the analysis gives them.
        proto = read_model(path, weights=False)
    if proto is not None:
        options.add_session_config_entry(FOLDER, str(Path(os.fspath(path)).resolve().parent))
        if weight_bytes(proto.graph) > LARGEST - (64 << 20):  # room for the nodes
            raise InputError(
                "model-too-large",
                f"{base_name(path)} has more than 2 GB of weights, which one session cannot hold.",
            )
        given = proto.SerializeToString()
    try:
        return runtime.InferenceSession(given, options, providers=chosen)
    except Exception as fault:
        raise refused(fault, base_name(path), path) from fault


def refused(fault: BaseException, name: str, path: PathLike | None = None) -> AutodocError:
    """Return the error for a session that could not be opened, whatever ONNX Runtime raised.

    Args:
        fault: what ``InferenceSession`` raised.
        name: the model as the user knows it.
        path: its file, which the message names without its folder.

    Returns: a ``LimitError`` if memory ran out, a ``ModelRefused`` otherwise.
    """
    if is_exhaustion(fault):
        return exhausted(name)
    kind = type(fault).__name__
    # The kinds that mean "this runtime cannot", and those of operators of others; the rest is a faulty file.
    if kind == "NotImplemented":
        hint = "Convert the model to types that ONNX Runtime computes here, mostly float32."
    elif _FOREIGN.search(str(fault)[:2000]):
        hint = "Replace the operator, or run the model in the runtime that has it."
    elif kind == "EPFail":
        hint = "Choose another --provider; the CPU runs most models."
    else:
        hint = "Export the model again; `onnx-autodoc validate` shows what is wrong with the file."
    said = _STATUS.sub("", one_line(fault, path))
    return ModelRefused(f"{name}: ONNX Runtime refuses the model: {said.rstrip('. ')}.", hint)


def run_session(
    session: Any, names: list[str] | None, feeds: dict[str, Any], name: str, options: Any = None
) -> list[Any]:
    """Return the outputs with these names, or all. Raises: AnalysisError, in one line."""
    try:
        return session.run(names, feeds, options)  # type: ignore[no-any-return]
    except Exception as fault:
        if is_exhaustion(fault):
            raise exhausted(name) from fault
        raise AnalysisError(
            "session-run", f"{name}: ONNX Runtime failed to run the model: {one_line(fault, name)}"
        ) from fault


def one_line(fault: BaseException, path: PathLike | None = None) -> str:
    """Return the first line of a library's error, shortened inside, with file names instead of paths.

    The sizes that ONNX Runtime lists on lines of their own are part of it.
    """
    said = str(fault)
    if path is not None:
        said = said.replace(str(path), base_name(path)).replace(f"{Path(os.fspath(path)).parent}{os.sep}", "")
    # The name of the C++ function that refused is as long as the line, and the reason comes after it.
    said = _SIGNATURE.sub(" ", said)
    lines = said.strip().splitlines()
    text = lines[0].strip() if lines else type(fault).__name__
    sizes = [*takewhile(lambda line: line.startswith("index: "), (line.strip() for line in lines[1:]))]
    if sizes:
        text = f"{text.rstrip(':')}: {'; '.join(sizes)}"
    # The reason is at the end.
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST // 3]} … {text[-2 * _LONGEST // 3 :]}"
