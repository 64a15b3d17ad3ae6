"""Another batch for fresh exports of PyTorch, by both of its exporters: proved by running them."""

from __future__ import annotations

import pytest
from rebatch_proof import prove

pytestmark = pytest.mark.slow
torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

SMALL = {
    "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48,
    "vocab_size": 64,
}  # fmt: skip


def ids():
    return torch.randint(3, 20, (1, 12))


def vit():
    config = {**SMALL, "image_size": 32, "patch_size": 8}
    config.pop("vocab_size")
    return transformers.ViTModel(transformers.ViTConfig(**config)), torch.randn(1, 3, 32, 32)


def albert():
    return transformers.AlbertModel(transformers.AlbertConfig(**SMALL, embedding_size=16)), ids()


def deberta():
    config = transformers.DebertaV2Config(
        **SMALL, relative_attention=True, pos_att_type=["p2c", "c2p"], max_position_embeddings=32
    )
    return transformers.DebertaV2Model(config), ids()


def segformer():
    config = transformers.SegformerConfig(
        depths=[1] * 4,
        hidden_sizes=[8, 16, 16, 16],
        num_attention_heads=[1, 2, 2, 2],
        decoder_hidden_size=16,
    )
    return transformers.SegformerForSemanticSegmentation(config), torch.randn(1, 3, 64, 64)


def lstm():
    return torch.nn.LSTM(8, 16, 2, batch_first=True, bidirectional=True), torch.randn(1, 7, 8)


def encoder_layer():
    return torch.nn.TransformerEncoderLayer(16, 4, 32, batch_first=True), torch.randn(1, 6, 16)


class First(torch.nn.Module):
    """The first output alone."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x):
        made = self.model(x)
        return made if torch.is_tensor(made) else made[0]


@pytest.mark.parametrize("dynamo", [True, False], ids=["dynamo", "torchscript"])
@pytest.mark.parametrize("make", [vit, albert, deberta, segformer, lstm, encoder_layer])
@pytest.mark.filterwarnings("ignore")
def test_items_are_computed_as_alone(make, dynamo, tmp_path):
    torch.manual_seed(0)
    model, example = make()
    options = {"external_data": False} if dynamo else {}
    torch.onnx.export(First(model.eval()), (example,), str(tmp_path / "fixed.onnx"), dynamo=dynamo, **options)
    folder = tmp_path / "proof"
    folder.mkdir()
    proof = prove(tmp_path / "fixed.onnx", folder)
    assert proof.worst < 1e-4
    assert proof.apart > 1e-3
