"""Values for the inputs of a model: generated, or read from files."""

from __future__ import annotations

from py_autodoc.samples.images import IMAGES, Images, image_input, images_in, read_image
from py_autodoc.samples.noise import synthetic_samples
from py_autodoc.samples.preprocessing import Preprocessing
from py_autodoc.samples.read import layout, read_samples, sample_files, samples_in, split, tell_renamed
from py_autodoc.samples.runnable_analysis import analysis_at_sizes, check_memory
from py_autodoc.samples.sample_source import choose_samples
from py_autodoc.samples.specs import InputSpec, Sample, cast_to_inputs, input_specs, sizes_in
from py_autodoc.samples.stored_arrays import read_arrays, stored_arrays

__all__ = [
    "IMAGES",
    "Images",
    "InputSpec",
    "Preprocessing",
    "Sample",
    "analysis_at_sizes",
    "cast_to_inputs",
    "check_memory",
    "choose_samples",
    "image_input",
    "images_in",
    "input_specs",
    "layout",
    "read_arrays",
    "read_image",
    "read_samples",
    "sample_files",
    "samples_in",
    "sizes_in",
    "split",
    "stored_arrays",
    "synthetic_samples",
    "tell_renamed",
]
