"""What a pipeline of transformers takes for its model: configuration, device, forward."""

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
    """An ONNX file that behaves as a model of transformers does towards a pipeline.

    Tensors are on the CPU, whatever ONNX Runtime computes on. Inputs and outputs are handed over
    without a copy where the types agree.

    Args:
        session: what runs the file.
        config: the configuration of the model, a ``PreTrainedConfig``.
        task: the task of the pipeline, which says what the outputs are called.
        padding: of the tokenizer, for files of a fixed length.
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
        """The main input under transformers' name, for a file whose only input has another."""
        if self.main_input_name in session.inputs:
            return self.main_input_name
        return "pixel_values" if task.startswith("image-") else self.main_input_name

    @property
    def dtype(self) -> torch.dtype:
        """The type of the file's numbers with fractions: of an input, else of an output."""
        ports = (*self.onnx.inputs.values(), *self.onnx.outputs)
        kind = next((port.dtype for port in ports if port.dtype.kind == "f"), np.dtype(np.float32))
        return torch.from_numpy(np.empty(0, kind)).dtype

    def forward(self, **inputs: Any) -> Any:
        """Run the file.

        Args:
            inputs: tensors under the names that the model of transformers takes. What the file has no
                input for is left out, with a warning where it says something; attention_mask and
                token_type_ids that are not given are ones and zeros, as in transformers.

        Returns:
            The ``ModelOutput`` of the task; other outputs of the file are in it under their names.

        Raises:
            OptionError: an input is missing or does not fit.
            AnalysisError: ONNX Runtime fails.
        """
        return self.outputs(self._run(self._feeds(inputs)))

    __call__ = forward

    def to(self, *_args: Any, **_kwargs: Any) -> OnnxModel:
        """Stay where it is: the execution provider says what computes."""
        return self

    def eval(self) -> OnnxModel:
        """It always evaluates."""
        return self

    def can_generate(self) -> bool:
        """One file without a cache does not."""
        return False

    def save_pretrained(self, *_args: Any, **_kwargs: Any) -> NoReturn:
        """Nothing to save. Raises: OptionError."""
        raise OptionError(
            "pipeline-save", f"{self.onnx.name} has everything it needs.", "Copy the file instead."
        )


def named_after(architecture: str | None) -> type[OnnxModel]:
    """The class under the name of the architecture, by which pipelines tell what they support."""
    if not architecture or not architecture.isidentifier():
        return OnnxModel
    return type(architecture, (OnnxModel,), {"__doc__": OnnxModel.__doc__, "__module__": __name__})
