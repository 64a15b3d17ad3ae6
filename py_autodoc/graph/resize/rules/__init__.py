"""One rule per operator: its edits at other sizes, or why they are impossible. Importing registers them."""

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
