"""One rule an operator: what other sizes mean for it, or why they cannot be had. Importing registers them."""

from py_autodoc.graph.resize.rules import (  # noqa: F401
    attention,
    cutting,
    elementwise,
    images,
    indexing,
    products,
    reducing,
    reshaping,
    spreading,
)
