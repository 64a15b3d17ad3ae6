"""Names for the generated file.

Names in a model are untrusted text: only ASCII letters, digits and underscores are kept, and no name shadows
one that the file needs.
"""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Container

MAX_NAME = 40
HELPER = "onnx_"
"""Prefix of runtime functions; no other name has it."""
_SEPARATORS = re.compile(r"[^0-9A-Za-z]+")
_WORD_RUN = re.compile(r"[0-9A-Za-z]+")
_BUILTINS = frozenset(dir(builtins))
_FILE = frozenset(
    {
        "torch", "nn", "F", "math", "Path", "load_file", "self", "np", "load", "Model", "WEIGHTS", "INPUTS",
        "OUTPUTS", "TIED", "BITS", "annotations", "Tensor", "main", "argparse", "device", "weights", "state",
    }
)  # fmt: skip
MODULE_NAMES = frozenset(
    [
        "T_destination",
        "add_module",
        "apply",
        "bfloat16",
        "buffers",
        "call_super_init",
        "children",
        "compile",
        "cpu",
        "cuda",
        "double",
        "dump_patches",
        "eval",
        "extra_repr",
        "float",
        "forward",
        "get_buffer",
        "get_extra_state",
        "get_parameter",
        "get_submodule",
        "half",
        "ipu",
        "load_state_dict",
        "modules",
        "mtia",
        "named_buffers",
        "named_children",
        "named_modules",
        "named_parameters",
        "parameters",
        "register_backward_hook",
        "register_buffer",
        "register_forward_hook",
        "register_forward_pre_hook",
        "register_full_backward_hook",
        "register_full_backward_pre_hook",
        "register_load_state_dict_post_hook",
        "register_load_state_dict_pre_hook",
        "register_module",
        "register_parameter",
        "register_state_dict_post_hook",
        "register_state_dict_pre_hook",
        "requires_grad_",
        "set_extra_state",
        "set_submodule",
        "share_memory",
        "state_dict",
        "to",
        "to_empty",
        "train",
        "training",
        "type",
        "xpu",
        "zero_grad",
        "clear",
        "copy",
        "fromkeys",
        "get",
        "has_key",
        "items",
        "keys",
        "pop",
        "popitem",
        "setdefault",
        "update",
        "values",
        "append",
        "extend",
        "insert",
        "mro",
    ]
)
"""Attributes that torch.nn.Module and ModuleDict define themselves."""


def identifier(text: str, fallback: str = "value") -> str:
    """Return a valid identifier close to ``text``: not a keyword, a builtin or a name the file uses."""
    name = _SEPARATORS.sub("_", text)[-MAX_NAME:].strip("_") or fallback
    if name[0].isdigit():
        name = f"{fallback}_{name}"
    if keyword.iskeyword(name) or keyword.issoftkeyword(name) or name in _BUILTINS or name in _FILE:
        name += "_"
    return f"x_{name}" if name.startswith(HELPER) else name


def attribute(text: str, fallback: str = "layer") -> str:
    """Return a name for an attribute of a module."""
    name = _SEPARATORS.sub("_", text)[-MAX_NAME:].strip("_") or fallback
    if name[0].isdigit():
        name = f"{fallback}_{name}"
    return f"{name}_" if keyword.iskeyword(name) or name in MODULE_NAMES else name


def class_name(text: str, fallback: str = "Block") -> str:
    """Convert ``transformer_layer`` to ``TransformerLayer``."""
    words = _WORD_RUN.findall(text[-200:])
    name = "".join(word[0].upper() + word[1:] for word in words)[:MAX_NAME] or fallback
    if name[0].isdigit():
        name = f"{fallback}{name}"
    return f"{name}_" if keyword.iskeyword(name) or name in _BUILTINS or name in _FILE else name


def unique(name: str, used: Container[str]) -> str:
    """Return ``name``, with the first free number from 2 appended if it is taken."""
    if name not in used:
        return name
    number = 2
    stem = name if not name[-1].isdigit() else f"{name}_"
    while f"{stem}{number}" in used:
        number += 1
    return f"{stem}{number}"


class NumberedNames:
    """Finds free names in constant time by keeping the next number for each name."""

    def __init__(self) -> None:
        self._next: dict[str, int] = {}

    def free(self, name: str, used: Container[str]) -> str:
        """Like ``unique``, without trying the same number twice."""
        if name not in used:
            return name
        stem = f"{name}_" if name[-1].isdigit() else name
        number = self._next.get(stem, 2)
        while f"{stem}{number}" in used:
            number += 1
        self._next[stem] = number + 1
        return f"{stem}{number}"


def shortened(text: str, max_length: int = 80) -> str:
    """Return model text as printable ASCII without quotes and backslashes, for comments and docstrings."""
    printable = "".join(c if " " <= c <= "~" and c not in "\"'\\`" else "?" for c in text[:max_length])
    return printable + ("..." if len(text) > max_length else "")
