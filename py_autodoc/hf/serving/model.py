"""The model object of a transformers pipeline: configuration, device, forward."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
import torch

from py_autodoc.errors import OptionError
from py_autodoc.hf.serving.feeds import Feeds
from py_autodoc.hf.serving.fixed_shapes import BatchRunner, PaddedBatch
from py_autodoc.hf.serving.outputs import Outputs
from py_autodoc.hf.serving.session import ServingSession

_MODALITIES = {
    "pixel_values": "image",
    "input_values": "audio",
    "input_features": "audio",
    "input_ids": "text",
}


class OnnxModel:
    """An ONNX file with the interface that pipelines expect of a transformers model.

    Tensors are on the CPU, whichever device ONNX Runtime uses. Inputs and outputs are passed without a copy
    if their types agree.

    Args:
        session: the session of the file.
        config: the configuration of the model, a ``PreTrainedConfig``.
        task: the task of the pipeline, which determines the names of the outputs.
        padding: padding values of the tokenizer, for files with a fixed length.
    """

    hf_device_map = None
    base_model_prefix = ""
    generation_config = None
    output_modalities = None

    def __init__(self, session: ServingSession, config: Any, task: str, padding: PaddedBatch) -> None:
        self.onnx = session
        self.session = session.runtime
        self.config = config
        self.device = torch.device("cpu")
        self.task = task
        self.main_input_name = next((name for name in _MODALITIES if name in session.inputs), "input_ids")
        self.input_modalities = _MODALITIES[self.main_input_name]
        self._feeds = Feeds(session.inputs, self._main(session, task), session.name)
        self.outputs = Outputs(task, session.outputs, session.name)
        self._run = BatchRunner(session, padding, self.outputs.tokenwise)

    def _main(self, session: ServingSession, task: str) -> str:
        """Return transformers' name of the main input, for a file whose only input has another name."""
        if self.main_input_name in session.inputs:
            return self.main_input_name
        return "pixel_values" if task.startswith("image-") else self.main_input_name

    @property
    def dtype(self) -> torch.dtype:
        """Floating-point type of the file: that of an input, else of an output."""
        ports = (*self.onnx.inputs.values(), *self.onnx.outputs)
        kind = next((port.dtype for port in ports if port.dtype.kind == "f"), np.dtype(np.float32))
        return torch.from_numpy(np.empty(0, kind)).dtype

    def forward(self, **inputs: Any) -> Any:
        """Run the file.

        Args:
            inputs: tensors under the names of the transformers model. Inputs that the file does not have are
                omitted, with a warning if they would affect results. Missing attention_mask and
                token_type_ids
                are ones and zeros, as in transformers.

        Returns:
            The ``ModelOutput`` of the task, including other outputs of the file under their own names.

        Raises:
            OptionError: an input is missing or does not fit.
            AnalysisError: ONNX Runtime fails.
        """
        return self.outputs(self._run(self._feeds(inputs)))

    __call__ = forward

    def to(self, *_args: Any, **_kwargs: Any) -> OnnxModel:
        """Return self; the execution provider determines the device."""
        return self

    def eval(self) -> OnnxModel:
        """Return self; the model is always in evaluation mode."""
        return self

    def can_generate(self) -> bool:
        """Return False: a single file without a cache cannot generate."""
        return False

    def save_pretrained(self, *_args: Any, **_kwargs: Any) -> NoReturn:
        """Raise an OptionError, since there is nothing to save."""
        raise OptionError(
            "pipeline-save", f"{self.onnx.name} has everything it needs.", "Copy the file instead."
        )


def named_after(architecture: str | None) -> type[OnnxModel]:
    """Return a class named after the architecture, which pipelines check for support."""
    if not architecture or not architecture.isidentifier():
        return OnnxModel
    return type(architecture, (OnnxModel,), {"__doc__": OnnxModel.__doc__, "__module__": __name__})
