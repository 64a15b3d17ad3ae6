"""Small models of many kinds, with weights that differ from each other as trained ones do."""

from __future__ import annotations

import functools
import os
import tempfile
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")

import torch
import transformers as hf
from torch import nn

import py_autodoc.torch

torch.set_num_threads(1)
FOLDER = tempfile.TemporaryDirectory()


def perturbed(model):
    """Constant weights and statistics made distinct: exporters fold and share equal ones."""
    random = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for tensor in model.parameters():
            if tensor.numel() > 1 and float(tensor.max() - tensor.min()) == 0.0:
                tensor.add_(torch.rand(tensor.shape, generator=random) * 0.02 + 0.001)
        for module in model.modules():
            if isinstance(getattr(module, "running_var", None), torch.Tensor):
                module.running_mean.copy_(torch.randn(module.running_mean.shape, generator=random) * 0.05)
                module.running_var.copy_(torch.rand(module.running_var.shape, generator=random) * 0.5 + 0.75)
    return model.eval()


def ids(size=6, vocabulary=40):
    return (torch.arange(size).reshape(1, size) * 7 + 3) % vocabulary


def text(size=6):
    return {"input_ids": ids(size), "attention_mask": torch.ones(1, size, dtype=torch.long)}


def bert(layers=2):
    config = hf.BertConfig(
        vocab_size=40, hidden_size=8, num_hidden_layers=layers, num_attention_heads=2, intermediate_size=16,
        max_position_embeddings=16,
    )  # fmt: skip
    return hf.BertModel(config), text()


def vit():
    config = hf.ViTConfig(
        image_size=8, patch_size=4, hidden_size=8, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=16, num_labels=3,
    )  # fmt: skip
    return hf.ViTForImageClassification(config), {"pixel_values": torch.randn(1, 3, 8, 8)}


def resnet():
    config = hf.ResNetConfig(
        num_labels=3, embedding_size=4, hidden_sizes=[4, 8], depths=[1, 1], layer_type="basic"
    )
    return hf.ResNetForImageClassification(config), {"pixel_values": torch.randn(1, 3, 16, 16)}


def gpt2():
    config = hf.GPT2Config(
        vocab_size=40, n_positions=16, n_embd=8, n_layer=1, n_head=2, bos_token_id=1, eos_token_id=2,
        use_cache=False,
    )  # fmt: skip
    return hf.GPT2LMHeadModel(config), text()


def llama(layers=1):
    config = hf.LlamaConfig(
        vocab_size=40, hidden_size=16, intermediate_size=24, num_hidden_layers=layers, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=32, pad_token_id=0, bos_token_id=1, eos_token_id=2,
        use_cache=False,
    )  # fmt: skip
    return hf.LlamaForCausalLM(config), text()


def t5():
    config = hf.T5Config(
        vocab_size=40, d_model=8, d_kv=4, d_ff=16, num_layers=1, num_heads=2, decoder_start_token_id=0,
        use_cache=False,
    )  # fmt: skip
    return hf.T5ForConditionalGeneration(config), {"input_ids": ids(), "decoder_input_ids": ids(3)}


def distilbert():
    config = hf.DistilBertConfig(
        vocab_size=40, dim=8, n_heads=2, n_layers=2, hidden_dim=16, max_position_embeddings=16
    )
    return hf.DistilBertModel(config), text()


def convnext():
    config = hf.ConvNextConfig(num_stages=2, hidden_sizes=[4, 8], depths=[1, 1], num_labels=3)
    return hf.ConvNextForImageClassification(config), {"pixel_values": torch.randn(1, 3, 16, 16)}


def swin():
    """The second layer shifts its windows; between the stages patches are merged."""
    config = hf.SwinConfig(
        image_size=8, patch_size=1, embed_dim=4, depths=[2, 1], num_heads=[2, 2], window_size=4,
        mlp_ratio=2.0, num_labels=3,
    )  # fmt: skip
    return hf.SwinForImageClassification(config), {"pixel_values": torch.randn(1, 3, 8, 8)}


def segformer():
    config = hf.SegformerConfig(
        num_encoder_blocks=2, depths=[1, 1], sr_ratios=[2, 1], hidden_sizes=[4, 8], patch_sizes=[3, 3],
        strides=[2, 2], num_attention_heads=[1, 2], mlp_ratios=[2, 2], decoder_hidden_size=8, num_labels=3,
    )  # fmt: skip
    return hf.SegformerForSemanticSegmentation(config), {"pixel_values": torch.randn(1, 3, 16, 16)}


def mobilenet():
    """Of the blocks that keep the size one is enough: there is no setting for fewer."""
    config = hf.MobileNetV2Config(image_size=32, depth_multiplier=0.25, num_labels=3)
    model = hf.MobileNetV2ForImageClassification(config)
    blocks = list(model.mobilenet_v2.layer)
    first = next(block for block in blocks if block.use_residual)
    kept = [block for block in blocks if block is first or not block.use_residual]
    model.mobilenet_v2.layer = nn.ModuleList(kept)
    return model, {"pixel_values": torch.randn(1, 3, 32, 32)}


def mamba():
    """A state space model: its loop over the sequence is unrolled."""
    config = hf.MambaConfig(vocab_size=40, hidden_size=8, num_hidden_layers=1, state_size=4, use_cache=False)
    return hf.MambaForCausalLM(config), {"input_ids": ids(4)}


def clip():
    """Two towers that meet in a product."""
    tower = {"hidden_size": 8, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    ends = {"bos_token_id": 1, "eos_token_id": 39, "pad_token_id": 0}
    config = hf.CLIPConfig(
        text_config={**tower, **ends, "vocab_size": 40, "max_position_embeddings": 16},
        vision_config={**tower, "image_size": 8, "patch_size": 4},
        projection_dim=8,
    )
    inputs = text()
    inputs["pixel_values"] = torch.randn(1, 3, 8, 8)
    return hf.CLIPModel(config), {key: inputs[key] for key in ("input_ids", "pixel_values", "attention_mask")}


def whisper():
    """The encoder of a model for speech."""
    config = hf.WhisperConfig(
        vocab_size=40, num_mel_bins=8, d_model=8, encoder_layers=1, decoder_layers=1,
        encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=16, decoder_ffn_dim=16,
        max_source_positions=8, max_target_positions=8, pad_token_id=0,
        bos_token_id=1, eos_token_id=2, decoder_start_token_id=1,
    )  # fmt: skip
    return hf.WhisperModel(config).get_encoder(), {"input_features": torch.randn(1, 8, 16)}


class PlainNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2))
        self.head = nn.Linear(4 * 9, 5)

    def forward(self, x):
        return self.head(self.features(x).flatten(1))


def plain():
    return PlainNet(), (torch.randn(1, 3, 8, 8),)


class Step(nn.Module):
    def __init__(self, bias):
        super().__init__()
        self.a, self.b = nn.Linear(4, 4), nn.LayerNorm(4)
        self.bias = bias

    def forward(self, x):
        return torch.tanh(self.b(self.a(x))) + self.bias


class Nest(nn.Module):
    """ModuleList in ModuleList, Sequential in ModuleDict, keys that are special in names and paths."""

    def __init__(self):
        super().__init__()
        self.rows = nn.ModuleList(nn.ModuleList([Step(0.5), Step(1.5)]) for _ in range(2))
        self.by = nn.ModuleDict(
            {"a/b": nn.Sequential(Step(2.0), nn.GELU()), "x@1::y#2": Step(3.0), "it's": Step(4.0)}
        )

    def forward(self, x):
        for row in self.rows:
            for step in row:
                x = step(x)
        for step in self.by.values():
            x = step(x)
        return x


def nested():
    return Nest(), (torch.randn(2, 4),)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm, self.drop = nn.Conv2d(3, 3, 1), nn.BatchNorm2d(3), nn.Dropout()

    def forward(self, x):
        return self.drop(torch.relu(self.norm(self.conv(x))))


class Repeat(nn.Module):
    """One block called three times, once under another name; one of its own kind; one never called."""

    def __init__(self):
        super().__init__()
        self.block = Block()
        self.again = self.block
        self.other = Block()
        self.unused = nn.Linear(2, 2)

    def forward(self, x):
        x = self.other(self.block(x))
        return self.again(self.block(x) + 1)


def repeat():
    return Repeat(), (torch.randn(1, 3, 4, 4),)


class Tied(nn.Module):
    """Input and output embedding are one tensor; a part is called inside another that does not own it."""

    def __init__(self):
        super().__init__()
        self.shared = nn.Embedding(20, 6)
        self.encoder = Caller(self.shared)
        self.head = nn.Linear(6, 20, bias=False)
        self.head.weight = self.shared.weight

    def forward(self, x):
        return self.head(self.encoder(x))


class Caller(nn.Module):
    def __init__(self, table):
        super().__init__()
        self.table, self.mix = table, nn.Linear(6, 6)

    def forward(self, x):
        return torch.tanh(self.mix(self.table(x)))


def tied():
    return Tied(), (ids(4, 20),)


class Adapter(nn.Module):
    """A wrapper around a layer, as LoRA makes it."""

    def __init__(self, base, rank=2):
        super().__init__()
        self.base = base
        self.down = nn.ModuleDict({"default": nn.Linear(base.in_features, rank, bias=False)})
        self.up = nn.ModuleDict({"default": nn.Linear(rank, base.out_features, bias=False)})

    def forward(self, x):
        return self.base(x) + self.up["default"](self.down["default"](x)) * 2.0


def lora():
    model, inputs = bert(1)
    for layer in model.encoder.layer:
        layer.attention.self.query = Adapter(layer.attention.self.query)
    return model, inputs


class Branch(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear, self.norm = nn.Linear(4, 4), nn.LayerNorm(4)

    def forward(self, x):
        return torch.relu(self.norm(self.linear(x))) * 2


class Choice(nn.Module):
    """Two branches with equal norms, which the exporter makes one initializer."""

    def __init__(self):
        super().__init__()
        self.yes, self.no, self.out = Branch(), Branch(), nn.Linear(4, 2)

    def forward(self, x):
        return self.out(torch.cond(x.sum() > 0, lambda x: self.yes(x), lambda x: self.no(x), (x,)))


def choice():
    return Choice(), (torch.randn(2, 4),)


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 4)
        self.lstm = nn.LSTM(4, 3, bidirectional=True, batch_first=True)
        self.head = nn.Linear(6, 2)

    def forward(self, x):
        out, _ = self.lstm(self.embed(x))
        return self.head(out[:, -1])


def lstm():
    return Recurrent(), (ids(5, 20),)


def sequential():
    return nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Sequential(nn.Linear(4, 4), nn.ReLU())), (
        torch.randn(1, 3),
    )


MODELS = {
    make.__name__: make
    for make in (
        bert, distilbert, vit, resnet, convnext, swin, segformer, mobilenet, gpt2, llama, mamba, t5, clip,
        whisper, plain, nested, repeat, tied, lora, choice, lstm, sequential,
    )
}  # fmt: skip
TRACED = [name for name in MODELS if name != "choice"]
"""Those the TorchScript exporter can export."""


def make(name):
    """(model in evaluation mode, inputs), the same every time."""
    torch.manual_seed(0)
    model, inputs = MODELS[name]()
    return (model.eval() if name == "choice" else perturbed(model)), inputs


def parts(inputs):
    """Positional and named inputs."""
    return ((), inputs) if isinstance(inputs, dict) else (inputs, {})


@functools.cache
def exported(exporter, name):
    """(model, inputs, result) of an export that all tests share; none may change it."""
    model, inputs = make(name)
    path = Path(FOLDER.name) / f"{name}.{exporter}.onnx"
    return model, inputs, py_autodoc.torch.export(model, inputs, path, exporter=exporter)
