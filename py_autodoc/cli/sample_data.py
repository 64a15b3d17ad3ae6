"""Combines ``--data`` and ``--preprocessing``."""

from __future__ import annotations

from typing import Any

from py_autodoc.errors import OptionError


def samples_at(path: str | None, preprocessing: str | None) -> Any:
    """Return the path, or its images with their preprocessing. Raises: OptionError, InputError."""
    if preprocessing is None:
        return path
    from py_autodoc.samples import Images, images_in

    if images_in(path) is None:
        raise OptionError(
            "preprocessing-without-images",
            "--preprocessing is for images.",
            "Pass an image or a folder of images with --data.",
        )
    assert path is not None
    return Images(path, preprocessing)
