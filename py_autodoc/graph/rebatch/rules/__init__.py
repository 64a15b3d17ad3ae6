"""One rule per operator: where the batch goes, or why items would mix. Importing registers them."""

from py_autodoc.graph.rebatch.rules import (  # noqa: F401
    attention,
    classic,
    control,
    elementwise,
    images,
    indexing,
    joining,
    normalizing,
    products,
    quantized,
    recurrent,
    reducing,
    reshaping,
    spreading,
)
