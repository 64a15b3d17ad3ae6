"""Models as text or in the ORT format, as arguments of commands that read files of protobufs.

The file is converted once by the one loader, and the command gets a temporary protobuf of the same name, so
that messages and results name the file that was given.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    _Type = click.ParamType[Any]
else:
    _Type = click.ParamType  # not generic in older versions

ARGUMENTS = frozenset({"a", "against", "b", "baseline", "model", "models", "others"})
"""Parameters that name models."""
CONVERTING = frozenset({"analyze", "check", "export", "recommend", "sweep"})
"""Commands that convert models themselves, or read other sources than ONNX."""
_HEAD = 1 << 12
_BINARY = re.compile(rb"[\x00-\x08\x0e-\x1a]")
_ORT_MARK = b"ORTM"
_NEXT_TO_IT = ("tokenizer.json",)
"""Files that commands look for next to a model."""


class ModelFile(_Type):
    """A path of a model; for one in another format, the path of a temporary protobuf.

    Args:
        path: the type of the parameter.
    """

    def __init__(self, path: _Type) -> None:
        self._path, self.name = path, path.name

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path. Raises: InputError, LimitError: a model in another format that cannot be read."""
        given = self._path.convert(value, param, ctx)
        if ctx is None or ctx.resilient_parsing or not isinstance(given, str) or not _is_other_format(given):
            return given
        from py_autodoc.graph.loading.other_formats import as_protobuf

        serialized = as_protobuf(given)
        return given if serialized is None else _stand_in(given, serialized, ctx)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[click.shell_completion.CompletionItem]:
        """Complete as the path does."""
        return self._path.shell_complete(ctx, param, incomplete)


def accept_other_formats(name: str, command: click.Command) -> None:
    """Let the arguments of a command that name models be models in other formats."""
    if name not in CONVERTING:
        for param in command.params:
            if param.name in ARGUMENTS and not isinstance(param.type, ModelFile):
                param.type = ModelFile(param.type)


def _is_other_format(path: str) -> bool:
    """Return whether a regular file begins like one. Nothing heavy is imported for others."""
    try:
        if not os.path.isfile(path):
            return False
        with open(path, "rb") as file:
            head = file.read(_HEAD)
    except (OSError, ValueError):
        return False  # the command reports it
    return head[4:8] == _ORT_MARK or (bool(head) and _BINARY.search(head) is None)


def _stand_in(path: str, serialized: bytes, ctx: click.Context) -> str:
    """Write a protobuf that is there until the command ends. Raises: InputError: weights are elsewhere."""
    from py_autodoc.errors import InputError
    from py_autodoc.graph.loading.first_pass import external_tensors
    from py_autodoc.graph.loading.load import parse_structure
    from py_autodoc.graph.protobuf.probe import base_name
    from py_autodoc.graph.protobuf.protobuf_wire import WireSource
    from py_autodoc.outputs.inputs import stands_for
    from py_autodoc.temporary import same_name

    name = base_name(path)
    if external_tensors(parse_structure(WireSource.of_bytes(serialized), name)):
        raise InputError(
            "text-with-external-data",
            f"{name} is a model written as text with weights in other files, which only `analyze` reads.",
            f"Convert it: python -c \"import onnx; onnx.save(onnx.load('{name}'), 'model.onnx')\"",
        )
    made = str(ctx.with_resource(same_name(path, serialized, _NEXT_TO_IT)))
    stands_for(made, path)
    return made
