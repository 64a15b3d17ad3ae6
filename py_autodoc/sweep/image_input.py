"""The image input of a model, whose height and width are varied together."""

from __future__ import annotations

from dataclasses import dataclass

from py_autodoc.errors import OptionError
from py_autodoc.report.pipeline.analysis import Analysis


@dataclass(frozen=True, slots=True)
class ImageInput:
    """An input with images: its name, its sizes, and where height and width are."""

    name: str
    sizes: tuple[int, ...]
    height: int
    """Axis of the height; the width is the next one."""
    free_batch: bool
    """Whether the file leaves the number of images open."""

    def shape(self, batch: int | None, height: int, width: int) -> tuple[int, ...]:
        """Return the shape for images of this size; ``batch`` images if the file leaves that open."""
        sizes = list(self.sizes)
        sizes[self.height : self.height + 2] = [height, width]
        if batch is not None and self.free_batch:
            sizes[0] = batch
        return tuple(sizes)


def image_input(analysis: Analysis) -> ImageInput:
    """Return the first input with images in a batch. Raises: OptionError: there is none."""
    for port in analysis.identified.inputs:
        if port.role != "image" or port.shape is None or len(port.shape) != 4 or not port.channels:
            continue
        if not all(isinstance(size, int) for size in port.shape):
            continue
        sizes = tuple(size for size in port.shape if isinstance(size, int))
        declared = analysis.model.tensors[port.tensor].shape
        first = declared[0] if declared else None
        height = 2 if sizes[1] == port.channels else 1
        return ImageInput(port.name, sizes, height, not isinstance(first, int))
    raise OptionError(
        "no-image-input",
        f"{analysis.model.file.name} has no input that is known to be an image of height and width.",
        "Pass full shapes: --resize NAME=1x3x320x320,1x3x640x640.",
    )
