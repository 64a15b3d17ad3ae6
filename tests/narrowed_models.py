"""Large models of the corpus with smaller inner widths: hundreds of MB of made-up weights prove no more."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

_ENCODER = {3072: 192, 30522: 1000}
NARROWED = {
    "models/light_bvlc_alexnet": {48: 3, 96: 6, 192: 12, 256: 16, 384: 24, 4096: 256, 9216: 576},
    "models/light_vgg19": {64: 4, 128: 8, 256: 16, 512: 32, 4096: 256, 25088: 1568},
    "stripped/bert_base.stripped": _ENCODER,
    "stripped/bert_base_dyn.stripped": _ENCODER,
    "stripped/clip_b32.stripped": {2048: 128, 3072: 192, 49408: 1000},
    "stripped/detr_r50.stripped": {512: 32, 1024: 64, 2048: 128},
    "stripped/distilbert.stripped": _ENCODER,
    "stripped/gpt2.stripped": {3072: 192, 50257: 1000},
    "stripped/llama_gqa_small.stripped": {1376: 86, 32000: 1000},
    "stripped/t5_small_encoder.stripped": {2048: 128, 32128: 1000},
    "stripped/vit_b16.stripped": _ENCODER,
    "stripped/whisper_tiny_encoder.stripped": {1536: 96},
}
"""File → width → smaller width."""
_FIELDS = ("float_data", "int32_data", "int64_data", "double_data", "uint64_data", "string_data")


def narrow(model: onnx.ModelProto, sizes: Mapping[int, int]) -> onnx.ModelProto:
    """Replace inner widths: dimensions of weights that a file lacks, and numbers that name them."""
    for tensor in model.graph.initializer:
        made = [sizes.get(size, size) for size in tensor.dims]
        if tensor.data_type == TensorProto.INT64 and not lacks_values(tensor):
            numbers = numpy_helper.to_array(tensor)
            values = np.vectorize(lambda number: sizes.get(number, number), otypes=[np.int64])(numbers)
            tensor.CopyFrom(numpy_helper.from_array(values, tensor.name))
        elif list(tensor.dims) != made:
            if not lacks_values(tensor):
                values = numpy_helper.to_array(tensor)[tuple(map(slice, made))].copy()
                tensor.CopyFrom(numpy_helper.from_array(values, tensor.name))
            tensor.dims[:] = made
    del model.graph.value_info[:]
    for info in (*model.graph.input, *model.graph.output):
        for dim in info.type.tensor_type.shape.dim:
            if dim.dim_value in sizes:
                dim.dim_value = sizes[dim.dim_value]
    return model


def lacks_values(tensor: TensorProto) -> bool:
    """True if the file has no values for it."""
    return not tensor.raw_data and not any(len(getattr(tensor, field)) for field in _FIELDS)
