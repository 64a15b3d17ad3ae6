"""Number of elements in all windows of a pooling, in closed form along each axis.

A window is clipped at the bounds of the input (or of the padded input, if padding counts). The clipped part
consists of two corners: the (window, element) pairs that are too early or too late. A corner is a sum of
quotients, computed by Euclid's algorithm for numbers and window by window for symbols.
"""

from __future__ import annotations

from py_autodoc.costs.registry import NodeView, UnknownSize, ceil_div, is_number, maximum, minimum
from py_autodoc.graph.symbolic_dims import pooling_windows

MAX_WINDOWS = 16
"""Maximum windows that may reach into the padding of an axis with a symbolic size."""


def covered(v: NodeView, padding: bool = False, channels_last: bool = False) -> int:
    """Return the total elements in all windows of pooling ``v``. Raises: UnknownSize.

    Args:
        v: a pooling with input 0 (N, C, d1…dn) and output (N, C, o1…on), or channels last.
        padding: whether elements of the padding count, as by ``count_include_pad``.
        channels_last: whether input and output have their channels last.
    """
    x, y = v.shape(0), v.out()
    if len(x) < 3 or len(x) != len(y):
        raise UnknownSize("pooling needs spatial axes, as many in its output as in its input")
    spatial = slice(1, -1) if channels_last else slice(2, None)
    try:
        axes = pooling_windows.axes(v.node.attributes, len(x) - 2)
    except pooling_windows.PoolFault as error:
        raise UnknownSize(str(error)) from None
    count = y[0] * (y[-1] if channels_last else y[1])
    for axis, size, windows in zip(axes, x[spatial], y[spatial], strict=True):
        count = count * positions_read(axis, size, windows, padding)
    return count


def positions_read(axis: pooling_windows.PoolingAxis, size: int, windows: int, padding: bool = False) -> int:
    """Return the elements that ``windows`` windows cover along one axis of ``size``. Raises: UnknownSize."""
    k, s, d = axis.kernel, axis.stride, axis.dilation
    head, tail, widest = _pads(axis, size)
    before, after = (head, tail) if padding else (0, 0)
    late = (windows - 1) * s - head + axis.reach - size - after
    widest_edge = widest[1] + (s - 1 if axis.ceil else 0)
    early = _corner(windows, k, s, d, head - before, widest[0])
    return windows * k - early - _corner(windows, k, s, d, late, widest_edge)


def _pads(axis: pooling_windows.PoolingAxis, size: int) -> tuple[int, int, tuple[int, int]]:
    """Return the padding before and after the axis, and the maximum of each."""
    if axis.auto_pad not in pooling_windows.SAME:
        return axis.head, axis.tail, (max(axis.head, 0), max(axis.tail, 0))
    k, s = axis.kernel, axis.stride
    total = maximum((ceil_div(size, s) - 1) * s + k - size, 0)
    if axis.auto_pad == "SAME_LOWER":
        return ceil_div(total, 2), total // 2, (k // 2, k // 2)
    return total // 2, ceil_div(total, 2), (k // 2, k // 2)


def _corner(windows: int, k: int, s: int, d: int, edge: int, widest: int) -> int:
    """Count pairs of window i and element j with ``i·s + j·d < edge``, i < ``windows``, j < ``k``.

    ``widest`` bounds a symbolic edge. Raises: UnknownSize.
    """
    if is_number(edge, windows):
        return _counted(windows, k, s, d, edge)
    reaching = -(-(min(edge, widest) if is_number(edge) else widest) // s)
    if reaching > MAX_WINDOWS:
        raise UnknownSize(f"more than {MAX_WINDOWS} windows of an axis reach into its padding")
    pairs = 0
    for i in range(reaching):
        elements = minimum(maximum(ceil_div(edge - i * s, d), 0), k)
        repeats = minimum(windows, i + 1) - minimum(windows, i) if i else 1
        pairs = pairs + elements * repeats
    return pairs


def _counted(windows: int, k: int, s: int, d: int, edge: int) -> int:
    if edge <= 0 or windows <= 0:
        return 0
    reaching = min(windows, -(-edge // s))
    inside = min(max(-(-(edge - (k - 1) * d) // s), 0), reaching)
    partial = reaching - inside
    # ceil((edge - i·s)/d) over the rest, from the last window that extends beyond the edge.
    return inside * k + quotients(partial, d, s, edge - (reaching - 1) * s + d - 1)


def quotients(n: int, m: int, a: int, b: int) -> int:
    """Return the sum of ``(a·i + b) // m`` over i < ``n``, in O(log) steps; a, b >= 0 and m >= 1."""
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
    """Return the total elements in windows over ``size`` channels, clipped at the first and last."""
    same = pooling_windows.PoolingAxis(size, head=(size - 1) // 2, tail=size // 2)
    return positions_read(same, channels, channels)


def resampled(size: int, out: int, support: int) -> int:
    """Return the total samples of the filters of an antialiased axis, clipped at both ends.

    A filter spans ``support`` samples of the coarser grid on either side of its centre. Raises: UnknownSize
    for a symbolic size.
    """
    if not is_number(size, out):
        raise UnknownSize("the filters of an antialiased axis have no exact expression in its size")
    if size < 1 or out < 1:
        return 0
    reach = 2 * support * max(size, out)

    def ends(shift: int) -> int:
        """Return the sum of ``floor(centre + shift + 1/2)`` over the outputs, between 0 and ``size``."""
        first = size + shift + out
        low = min(max(-(first // (2 * size)), 0), out)  # those below 0
        high = min(max(-(-(2 * out * size - first) // (2 * size)), low), out)  # those from here on: clipped
        inside = quotients(high - low, 2 * out, 2 * size, first + 2 * size * low)
        return inside + (out - high) * size

    return ends(reach) - ends(-reach)
