"""How many elements the windows of a pooling cover, in closed form along each axis.

A window is cut where it leaves the input (or the padded input, where the padding is counted). What is
cut off lies in two corners: of all (window, element) pairs those that begin too early or end too late. A
corner is a sum of quotients: by Euclid's algorithm for numbers, window by window for symbols.
"""

from __future__ import annotations

from py_autodoc.costs.registry import NodeView, UnknownSize, ceil_div, maximum, minimum, plain
from py_autodoc.graph.symbolic_dims import pooling_windows

MAX_WINDOWS = 16
"""Most windows that may reach into the padding of an axis whose size is a symbol."""


def covered(v: NodeView, padding: bool = False, channels_last: bool = False) -> int:
    """Elements that all windows of pooling ``v`` cover together. Raises: UnknownSize.

    Args:
        v: a pooling with input 0 (N, C, d1…dn) and output (N, C, o1…on), or channels last.
        padding: true when elements of the padding count, as ``count_include_pad`` says.
        channels_last: where the channels of input and output stand.
    """
    x, y = v.shape(0), v.out()
    if len(x) < 3 or len(x) != len(y):
        raise UnknownSize("pooling needs spatial axes, as many in its output as in its input")
    spatial = slice(1, -1) if channels_last else slice(2, None)
    try:
        axes = pooling_windows.axes(v.node.attributes, len(x) - 2)
    except pooling_windows.PoolFault as fault:
        raise UnknownSize(str(fault)) from None
    count = y[0] * (y[-1] if channels_last else y[1])
    for axis, size, windows in zip(axes, x[spatial], y[spatial], strict=True):
        count = count * along(axis, size, windows, padding)
    return count


def along(axis: pooling_windows.PoolingAxis, size: int, windows: int, padding: bool = False) -> int:
    """Elements that ``windows`` windows cover along one axis of ``size``. Raises: UnknownSize."""
    k, s, d = axis.kernel, axis.stride, axis.dilation
    head, tail, widest = _pads(axis, size)
    before, after = (head, tail) if padding else (0, 0)
    late = (windows - 1) * s - head + axis.reach - size - after
    over = widest[1] + (s - 1 if axis.ceil else 0)
    early = _corner(windows, k, s, d, head - before, widest[0])
    return windows * k - early - _corner(windows, k, s, d, late, over)


def _pads(axis: pooling_windows.PoolingAxis, size: int) -> tuple[int, int, tuple[int, int]]:
    """Padding before and after the axis, and the widest that both can be."""
    if axis.auto_pad not in pooling_windows.SAME:
        return axis.head, axis.tail, (max(axis.head, 0), max(axis.tail, 0))
    k, s = axis.kernel, axis.stride
    total = maximum((ceil_div(size, s) - 1) * s + k - size, 0)
    if axis.auto_pad == "SAME_LOWER":
        return ceil_div(total, 2), total // 2, (k // 2, k // 2)
    return total // 2, ceil_div(total, 2), (k // 2, k // 2)


def _corner(windows: int, k: int, s: int, d: int, edge: int, widest: int) -> int:
    """Pairs of window i and element j with ``i·s + j·d < edge``, i < ``windows``, j < ``k``.

    ``widest`` bounds an edge that is a symbol. Raises: UnknownSize.
    """
    if plain(edge, windows):
        return _counted(windows, k, s, d, edge)
    reaching = -(-(min(edge, widest) if plain(edge) else widest) // s)
    if reaching > MAX_WINDOWS:
        raise UnknownSize(f"more than {MAX_WINDOWS} windows of an axis reach into its padding")
    pairs = 0
    for i in range(reaching):
        beyond = minimum(maximum(ceil_div(edge - i * s, d), 0), k)
        there = minimum(windows, i + 1) - minimum(windows, i) if i else 1
        pairs = pairs + beyond * there
    return pairs


def _counted(windows: int, k: int, s: int, d: int, edge: int) -> int:
    if edge <= 0 or windows <= 0:
        return 0
    reaching = min(windows, -(-edge // s))
    whole = min(max(-(-(edge - (k - 1) * d) // s), 0), reaching)
    rest = reaching - whole
    # ceil((edge - i·s)/d) over the rest, from the last window that reaches beyond the edge.
    return whole * k + quotients(rest, d, s, edge - (reaching - 1) * s + d - 1)


def quotients(n: int, m: int, a: int, b: int) -> int:
    """Sum of ``(a·i + b) // m`` over i < ``n``, in O(log) steps; a, b >= 0 and m >= 1."""
    total = 0
    while n > 0:
        total += n * (n - 1) // 2 * (a // m) + n * (b // m)
        a, b = a % m, b % m
        top = a * n + b
        if top < m:
            break
        n, b, m, a = top // m, top % m, a, m
    return total


def over_channels(size: int, channels: int) -> int:
    """Elements that windows of ``size`` channels, cut at the first and last, cover together."""
    same = pooling_windows.PoolingAxis(size, head=(size - 1) // 2, tail=size // 2)
    return along(same, channels, channels)


def resampled(size: int, out: int, support: int) -> int:
    """Samples that the outputs of an antialiased axis weigh together, cut at both ends.

    A filter spans ``support`` samples on either side of its centre, of the coarser grid. Raises: UnknownSize
    for a size that is a symbol.
    """
    if not plain(size, out):
        raise UnknownSize("the filters of an antialiased axis have no exact expression in its size")
    if size < 1 or out < 1:
        return 0
    reach = 2 * support * max(size, out)

    def ends(shift: int) -> int:
        """Sum of ``floor(centre + shift + 1/2)`` over the outputs, between 0 and ``size``."""
        first = size + shift + out
        low = min(max(-(first // (2 * size)), 0), out)  # those below 0
        high = min(max(-(-(2 * out * size - first) // (2 * size)), low), out)  # those from here on are cut
        inside = quotients(high - low, 2 * out, 2 * size, first + 2 * size * low)
        return inside + (out - high) * size

    return ends(reach) - ends(-reach)
