"""Files that Keras itself wrote are read in a thread."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="module")
def in_thread():
    """HDF5 is read as on Windows: these tests are about layers, and each starts a process otherwise.

    ``test_keras_reader`` holds both ways against each other; it and the damaged files have the process.
    """
    from py_autodoc.keras import hdf_reader

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hdf_reader, "in_process", hdf_reader.in_thread)
        yield
