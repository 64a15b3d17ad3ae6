"""Shape inference: every tensor's element type and shape, symbols kept.

One pass in execution order over the frozen ``Model``. A rule written here handles an operator with
symbols, expressions and followed values; ONNX's own inference of that one operator completes what is
left. Bodies of control flow are part of the same pass, so captured values keep their types.
"""

from py_autodoc.graph.shapes.infer import SymbolicTypes, infer, infer_symbolic

__all__ = ["SymbolicTypes", "infer", "infer_symbolic"]
