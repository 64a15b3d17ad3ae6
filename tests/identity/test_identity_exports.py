"""Exported networks of kinds that no other test holds, by structure and the names of their ports."""

import io

import onnx
import pytest

from py_autodoc.report.pipeline.analysis import run_analysis

pytestmark = pytest.mark.slow

SMALL = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128}
TEXT = ("input_ids", "attention_mask")
IMAGE = ("pixel_values",)
CASES = {
    "fnet": ("FNetModel", "FNetConfig", {}, ("input_ids",), "text-encoding", "fourier"),
    "rwkv": (
        "RwkvForCausalLM", "RwkvConfig", {"context_length": 64, "attention_hidden_size": 64},
        ("input_ids",), "text-generation", "recurrent",
    ),
    "longformer": (
        "LongformerModel", "LongformerConfig", {"attention_window": [16, 16], "vocab_size": 50265},
        TEXT, "text-encoding", "transformer-encoder",
    ),
    "canine": (
        "CanineForSequenceClassification", "CanineConfig", {"num_labels": 3, "local_transformer_stride": 32},
        TEXT, "text-classification", "transformer-encoder",
    ),
    "electra": ("ElectraForPreTraining", "ElectraConfig", {}, TEXT, "token-classification",
                "transformer-encoder"),
    "ast": ("ASTForAudioClassification", "ASTConfig", {"num_labels": 527}, ("input_values",),
            "audio-classification", "transformer-encoder"),
    "dinov2": ("Dinov2Model", "Dinov2Config", {"patch_size": 14}, IMAGE, "image-encoding",
               "transformer-encoder"),
    "yolos": (
        "YolosForObjectDetection", "YolosConfig",
        {"image_size": [64, 64], "num_detection_tokens": 100, "num_labels": 91},
        IMAGE, "object-detection", "detector",
    ),
    "patchtst": (
        "PatchTSTForPrediction", "PatchTSTConfig",
        {"num_input_channels": 7, "context_length": 96, "prediction_length": 24, "patch_length": 16,
         "patch_stride": 8, "d_model": 32, "ffn_dim": 64, "loss": "mse"},
        ("past_values",), "time-series-forecasting", "transformer-encoder",
    ),
}  # fmt: skip
OUTPUTS = ("last_hidden_state", "logits", "pred_boxes", "prediction_outputs")


def fed(name):
    import torch

    torch.manual_seed(0)
    return {
        # RWKV is written step by step: a short text says as much.
        "input_ids": lambda: torch.randint(1, 900, (1, 16 if name == "rwkv" else 64)),
        "attention_mask": lambda: torch.ones(1, 64, dtype=torch.long),
        "pixel_values": lambda: torch.randn(
            1, 3, 56 if name == "dinov2" else 64, 56 if name == "dinov2" else 64
        ),
        "input_values": lambda: torch.randn(1, 1024, 128),
        "past_values": lambda: torch.randn(1, 96, 7),
    }


def exported(name) -> bytes:
    """The file without metadata and without names of nodes and weights."""
    import torch
    import transformers

    model, config, more, inputs, _, _ = CASES[name]
    made = getattr(transformers, model)(getattr(transformers, config)(**SMALL | more)).eval()
    more_fed = {"use_cache": False} if name == "rwkv" else {}

    class Picked(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.made = made

        def forward(self, *values):
            found = self.made(**dict(zip(inputs, values, strict=True)), **more_fed)
            return tuple(found[key] for key in OUTPUTS if found.get(key) is not None)

    picked, values = Picked(), tuple(fed(name)[key]() for key in inputs)
    with torch.no_grad():
        found = made(**dict(zip(inputs, values, strict=True)), **more_fed)
    outputs = [key for key in OUTPUTS if found.get(key) is not None]
    file = io.BytesIO()
    if name == "longformer":  # its windows are written by Python loops that only tracing follows
        torch.onnx.export(picked, values, file, dynamo=False, input_names=inputs, output_names=outputs)
        proto = onnx.load_from_string(file.getvalue())
    else:
        program = torch.onnx.export(picked, values, dynamo=True, verbose=False, input_names=inputs,
                                    output_names=outputs)  # fmt: skip
        proto = program.model_proto
    return nameless(proto).SerializeToString()


def nameless(proto):
    proto.producer_name = proto.doc_string = ""
    del proto.metadata_props[:]
    graph = proto.graph
    graph.name, graph.doc_string = "g", ""
    del graph.metadata_props[:]
    kept = {value.name for value in (*graph.input, *graph.output)}
    known: dict[str, str] = {}

    def other(name):
        return name if not name or name in kept else known.setdefault(name, f"t{len(known)}")

    for weight in graph.initializer:
        weight.name = other(weight.name)
    for value in graph.value_info:
        value.name = other(value.name)
        del value.metadata_props[:]
    for node in graph.node:
        assert not any(attribute.type == onnx.AttributeProto.GRAPH for attribute in node.attribute)
        node.name = node.doc_string = ""
        del node.metadata_props[:]
        node.input[:] = [other(name) for name in node.input]
        node.output[:] = [other(name) for name in node.output]
    return proto


@pytest.mark.parametrize("name", CASES)
def test_named_by_structure(name):
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    found = run_analysis(exported(name)).identified
    *_, task, family = CASES[name]
    assert (found.task.id, found.family.id) == (task, family)
    assert found.task.known in ("structure", "likely")
