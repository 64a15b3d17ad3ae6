"""Reading and changing shapes."""

from __future__ import annotations

from py_autodoc.to_torch.code import CodeValue, NotCovered, sequence
from py_autodoc.to_torch.op import OpContext
from py_autodoc.to_torch.registry import rule


@rule("Shape")
def shape(op: OpContext) -> None:
    """The shape, as Python integers if the rank is known."""
    value = op.value(0)
    start, end = op.attr("start", 0), op.attr("end", None)
    rank = op.rank(0)
    if value.kind == "constant" or value.kind == "host":
        sizes = op.dims(0) if value.kind == "constant" else () if value.scalar else (len(value.items),)
        op.integers(sizes[start:end])
        return
    if rank is None:
        cut = "" if not start and end is None else f"[{start}:{'' if end is None else end}]"
        op.out(f"torch.tensor({op.v(0)}.shape{cut}, dtype=torch.int64)")
        return
    op.integers([f"{value.code}.shape[{axis}]" for axis in range(rank)][start:end])


@rule("Size")
def size(op: OpContext) -> None:
    """The number of elements."""
    op.integers([f"{op.v(0)}.numel()"], True)


@rule("Reshape")
def reshape(op: OpContext) -> None:
    """``x.reshape(2, -1)``; 0 keeps a dimension."""
    sizes: tuple[int | str, ...] | None
    sizes = tuple(op.attr("shape")) if op.opset < 5 else op.ints(1)
    keeps_zeros = not op.attr("allowzero", 0)
    value = op.value(0)
    if value.kind == "host" and sizes is not None and (sizes in ((-1,), (1,)) or not sizes):
        op.set(CodeValue("host", "", value.items, not sizes, value.dtype))
        return
    if sizes is None:
        code = op.ints_code(1)
        shape = op.call("onnx_reshape_sizes", f"{op.v(0)}.shape", code) if keeps_zeros else code
        op.out(f"{op.v(0)}.reshape({shape})")
        return
    x = op.v(0)
    if not keeps_zeros and any(size == 0 for size in sizes) and -1 in sizes:
        raise NotCovered("an unknown dimension next to one of 0")
    items = [f"{x}.shape[{axis}]" if size == 0 and keeps_zeros else size for axis, size in enumerate(sizes)]
    op.out(f"{x}.reshape({', '.join(map(str, items)) if items else '()'})")


@rule("Flatten")
def flatten(op: OpContext) -> None:
    """Reshape to two dimensions."""
    axis, x, rank = op.attr("axis", 1), op.v(0), op.rank(0)
    if axis == 1 and rank is not None and rank >= 2:
        op.out(f"torch.flatten({op.t(0)}, 1)")
    else:
        op.out(f"{x}.reshape(math.prod({x}.shape[:{axis}]), math.prod({x}.shape[{axis}:]))")


@rule("Transpose")
def transpose(op: OpContext) -> None:
    """``x.permute(...)``, or ``x.transpose(a, b)`` if two axes are swapped."""
    x, rank = op.v(0), op.rank(0)
    perm = op.attr("perm", None)
    if perm is None:
        if rank is None:
            op.out(f"{x}.permute(tuple(reversed(range({x}.dim()))))")
            return
        perm = list(range(rank))[::-1]
    moved = [axis for axis, source in enumerate(perm) if axis != source]
    if not moved:
        op.same()
    elif len(moved) == 2:
        first, second = (axis - len(perm) if axis >= len(perm) - 2 else axis for axis in moved)
        op.out(f"{x}.transpose({first}, {second})")
    else:
        op.out(f"{x}.permute({', '.join(map(str, perm))})")


def axes_of(op: OpContext) -> tuple[int, ...] | None:
    """Return the axes from the attribute, or from the input since opset 13; None without either."""
    if "axes" in op.node.attributes:
        return tuple(op.attr("axes"))
    return op.fixed(1) if op.has(1) else None


def _computed(op: OpContext) -> bool:
    """True if the axes are known only at run time."""
    return "axes" not in op.node.attributes and op.has(1) and op.fixed(1) is None


@rule("Squeeze")
def squeeze(op: OpContext) -> None:
    """Removes dimensions of size 1."""
    axes = axes_of(op)
    value = op.value(0)
    if _computed(op):
        op.out(f"{op.v(0)}.squeeze(tuple({op.ints_code(1)}))")
    elif value.kind == "host" and len(value.items) == 1:
        op.set(CodeValue("host", "", value.items, True, value.dtype))
    elif axes is None:
        op.out(f"{op.v(0)}.squeeze()")
    elif len(axes) == 1:
        op.out(f"{op.v(0)}.squeeze({axes[0]})")
    else:
        op.out(f"{op.v(0)}.squeeze({sequence(axes)})" if axes else op.t(0))


@rule("Unsqueeze")
def unsqueeze(op: OpContext) -> None:
    """Inserts dimensions of size 1."""
    if _computed(op):
        op.out(op.call("onnx_unsqueeze", op.t(0), op.ints_code(1)))
        return
    axes = axes_of(op) or ()
    value = op.value(0)
    if value.kind == "host" and value.scalar and axes in ((0,), (-1,)):
        op.set(CodeValue("host", "", value.items, False, value.dtype))
        return
    if (
        value.kind == "constant"
        and op.array(0) is not None
        and op.array(0).ndim == 0
        and axes in ((0,), (-1,))
    ):
        array = op.array(0)
        if array.dtype.kind == "i" and op.dtype(0) in (6, 7):
            op.set(CodeValue("host", "", (int(array[()]),), False, op.dtype(0)))
            return
    rank = op.rank(0)
    if len(axes) > 1 and min(axes) < 0:
        if rank is None:
            raise NotCovered("negative axes with an unknown rank")
        axes = tuple(axis % (rank + len(axes)) for axis in axes)
    code = op.v(0)
    for axis in sorted(axes):
        code += f".unsqueeze({axis})"
    op.out(code)


@rule("Expand")
def expand(op: OpContext) -> None:
    """Broadcasting in both directions."""
    sizes = op.ints(1)
    x = op.v(0)
    code = sequence(sizes) if sizes is not None else op.ints_code(1)
    op.out(f"{x}.expand(torch.broadcast_shapes({x}.shape, {code}))")


@rule("Tile")
def tile(op: OpContext) -> None:
    """``x.repeat(2, 1)``."""
    if op.opset < 6:
        raise NotCovered("Tile before opset 6")
    sizes = op.ints(1)
    op.out(f"{op.v(0)}.repeat({', '.join(map(str, sizes)) if sizes else op.ints_code(1)})")


@rule("Concat")
def concat(op: OpContext) -> None:
    """``torch.cat``; shapes stay in Python."""
    hosts = [op.host(index) for index in range(op.count)]
    if all(host is not None and not host.scalar for host in hosts) and any(
        op.value(index).kind == "host" for index in range(op.count)
    ):
        items = [item for host in hosts if host is not None for item in host.items]
        op.integers(items, dtype=op.dtype(0) or 7)
        return
    if op.count == 1:
        op.same()
        return
    axis = op.attr("axis", 1)
    op.out(f"torch.cat([{', '.join(op.t(index) for index in range(op.count))}], dim={axis})")


def _block(op: OpContext) -> int:
    """Return the block size. Raises: NotCovered."""
    block = op.attr("blocksize")
    if not isinstance(block, int) or block < 1:
        raise NotCovered(f"a block size of {block!r:.40}")
    return block


@rule("DepthToSpace")
def depth_to_space(op: OpContext) -> None:
    """Rearrange channels into blocks of pixels."""
    block = _block(op)
    if op.choice("mode", "DCR", ("DCR", "CRD")) == "CRD":
        op.out(f"F.pixel_shuffle({op.t(0)}, {block})")
    else:
        op.out(op.call("onnx_depth_to_space", op.t(0), block))


@rule("SpaceToDepth")
def space_to_depth(op: OpContext) -> None:
    """Rearrange blocks of pixels into channels."""
    op.out(
        op.call(
            "onnx_space_to_depth",
            op.t(0),
            _block(op),
            channels_first=op.choice("mode", "DCR", ("DCR", "CRD")) == "CRD",
        )
    )
