"""What a ``quantization_config`` stores: the bytes of each weight with its scales and zero points."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from py_autodoc.llm.architecture import Matrix
from py_autodoc.llm.config_fields import Fields

MAX_PATTERNS = 4096
_INT_TYPES = re.compile(r"(u?int|float|fp|nf|mxfp|nvfp)_?(\d{1,2})")


@dataclass(frozen=True, slots=True)
class Storage:
    """How weights are stored.

    ``bits`` an element, and for each group of ``group`` inputs (0: one for a column, -1: for the tensor) of
    every output ``scale`` bytes, ``zero`` bits and for each input ``index`` bytes. ``block`` outputs share a
    scale.
    """

    method: str
    bits: int
    group: int = 0
    scale: float = 2.0
    zero: int = 0
    index: int = 0
    block: int = 1
    skipped: Sequence[str] = ()
    head: bool = False
    """True if the head is quantized unless it is skipped."""
    experts_only: bool = False
    arithmetic: bool = False
    """True if products are computed in the stored type, so that nothing is unpacked."""

    def size(self, name: str, matrix: Matrix) -> int | None:
        """Return the bytes of a matrix, without its biases; None if it stays a float."""
        if not matrix.linear or (matrix.name == "lm_head" and not self.head):
            return None
        if self.experts_only and ".experts." not in name:
            return None
        if any(_matches(pattern, name) for pattern in self.skipped):
            return None
        elements = matrix.inputs * matrix.outputs
        if self.group < 0:
            groups = 1
        else:
            groups = -(-matrix.inputs // self.group) if self.group else 1
            groups *= -(-matrix.outputs // self.block)
        size = elements * self.bits / 8 + groups * (self.scale + self.zero / 8) + matrix.inputs * self.index
        return round(size) * matrix.experts


def _matches(pattern: str, name: str) -> bool:
    """Return True if a module is named by a pattern: a part of its path, or ``re:`` with ``.*`` as wildcard.

    Patterns are data: only ``.*`` and ``*`` have a meaning, so that none can take long.
    """
    if pattern.startswith("re:"):
        text = pattern[3:].replace("\\.", ".").replace("\\d+", ".*").strip("^")
        ends = text.endswith("$")
        parts = text.rstrip("$").split(".*")
        at = 0
        for number, part in enumerate(parts):
            at = name.find(part, at)
            if at < 0 or (number == 0 and at):
                return False
            at += len(part)
        return at == len(name) or not ends or not parts[-1]
    words, path = pattern.strip(".").split("."), name.split(".")
    return any(
        all(word in ("*", path[start + at]) for at, word in enumerate(words))
        for start in range(len(path) - len(words) + 1)
    )


def storage_of(fields: Fields) -> Storage:
    """Return how a quantized configuration stores its weights. Raises: ValueError for an unknown method."""
    method = fields.text("quant_method").lower()
    if not method and fields.has("bits"):
        method = "gptq"  # older files name no method
    if not method and (fields.has("load_in_4bit") or fields.has("load_in_8bit")):
        method = "bitsandbytes"
    reader = _METHODS.get(method)
    if reader is None:
        known = ", ".join(sorted(_METHODS))
        raise ValueError(
            f"its weights are quantized by {method[:40] or 'an unnamed method'!r}; known are {known}"
        )
    return reader(fields)


def _skipped(fields: Fields, name: str) -> list[str]:
    patterns = fields.texts(name)
    if len(patterns) > MAX_PATTERNS:
        raise ValueError(f"{name} has more than {MAX_PATTERNS:,} entries")
    return patterns


def _bits(fields: Fields, name: str = "bits") -> int:
    bits = fields.size(name, 4)
    if bits > 8:
        raise ValueError(f"{name} is {bits}")
    return bits


def _group(fields: Fields, name: str, default: int) -> int:
    """Return the group size; 0 for one scale for each output."""
    return 0 if fields.raw(name) in (-1, 0) else fields.size(name, default)


def _gptq(fields: Fields) -> Storage:
    bits = _bits(fields)
    return Storage(
        "gptq",
        bits,
        _group(fields, "group_size", 128),
        zero=bits,
        index=4,
        skipped=_skipped(fields, "modules_to_not_convert"),
        head=fields.flag("lm_head"),
    )


def _awq(fields: Fields) -> Storage:
    bits = _bits(fields, "bits" if fields.has("bits") else "w_bit")
    group = _group(fields, "group_size" if fields.has("group_size") else "q_group_size", 128)
    return Storage("awq", bits, group, zero=bits, skipped=_skipped(fields, "modules_to_not_convert"))


def _bitsandbytes(fields: Fields) -> Storage:
    skipped = _skipped(fields, "llm_int8_skip_modules")
    if not fields.flag("load_in_4bit"):
        return Storage("bitsandbytes", 8, 0, scale=4.0, skipped=skipped)
    # Double quantization: scales of 8 bits, with a float for each 256 of them.
    scale = 1 + 4 / 256 if fields.flag("bnb_4bit_use_double_quant") else 4.0
    return Storage("bitsandbytes", 4, 64, scale=scale, skipped=skipped)


def _fp8(fields: Fields) -> Storage:
    skipped = _skipped(fields, "modules_to_not_convert") + _skipped(fields, "ignored_layers")
    block = fields.numbers("weight_block_size")
    if len(block) == 2 and min(block) > 0:
        return Storage("fp8", 8, block[1], 4.0, block=block[0], skipped=skipped, arithmetic=True)
    return Storage("fp8", 8, -1, 4.0, skipped=skipped, arithmetic=True)


def _row_fp8(fields: Fields) -> Storage:
    return Storage(
        "fbgemm_fp8", 8, 0, 4.0, skipped=_skipped(fields, "modules_to_not_convert"), arithmetic=True
    )


def _mxfp4(fields: Fields) -> Storage:
    skipped = _skipped(fields, "modules_to_not_convert")
    return Storage("mxfp4", 4, 32, 1.0, skipped=skipped, experts_only=True)


def _compressed_tensors(fields: Fields) -> Storage:
    groups = fields.inner_of_each("config_groups")
    weights = groups[0].inner("weights") if groups else None
    if weights is None:
        raise ValueError("its quantization_config has no config_groups with weights")
    bits = _bits(weights, "num_bits")
    strategy = weights.text("strategy") or ("group" if weights.raw("group_size") else "tensor")
    block = 1
    if strategy == "block":
        block, group = ([*weights.numbers("block_structure"), 128, 128])[:2]
    else:
        group = {"channel": 0, "tensor": -1}.get(strategy, -2)
        group = _group(weights, "group_size", 128) if group == -2 else group
    symmetric = weights.flag("symmetric", True)
    inputs = groups[0].inner("input_activations")
    return Storage(
        "compressed-tensors",
        bits,
        group,
        scale=1.0 if strategy == "tensor_group" else 4.0 if strategy == "block" else 2.0,
        zero=0 if symmetric else bits,
        block=max(block, 1),
        skipped=_skipped(fields, "ignore"),
        head=True,
        arithmetic=bits == 8 and inputs is not None,
    )


def _torchao(fields: Fields) -> Storage:
    kind = fields.raw("quant_type")
    settings = fields
    if isinstance(kind, dict):
        default = Fields(kind).inner("default")
        name = "" if default is None else default.text("_type")
        settings = (None if default is None else default.inner("_data")) or fields
    else:
        name = fields.text("quant_type")
        settings = fields.inner("quant_type_kwargs") or fields
    lower = name.lower()
    found = _INT_TYPES.search(lower)
    if found is None:
        raise ValueError(f"its quant_type is {name[:40]!r}, which is not known")
    bits = int(found[2])
    if not 1 <= bits <= 8:
        raise ValueError(f"its quant_type is {name[:40]!r}, which is not known")
    dynamic = "dynamic" in lower
    skipped = _skipped(fields, "modules_to_not_convert")
    if bits < 8:
        # A scale and a zero point in 16 bits for each group.
        return Storage("torchao", bits, _group(settings, "group_size", 128), zero=16, skipped=skipped)
    return Storage("torchao", bits, 0, 2.0, skipped=skipped, arithmetic=dynamic)


_METHODS: dict[str, Callable[[Fields], Storage]] = {
    "awq": _awq,
    "bitsandbytes": _bitsandbytes,
    "compressed-tensors": _compressed_tensors,
    "fbgemm_fp8": _row_fp8,
    "fp8": _fp8,
    "gptq": _gptq,
    "mxfp4": _mxfp4,
    "torchao": _torchao,
}
