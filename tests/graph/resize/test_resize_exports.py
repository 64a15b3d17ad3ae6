"""Other sizes for exports of PyTorch: equal to an export of the same model at the wanted size, or refused."""

from __future__ import annotations

import contextlib
import io

import pytest
from resize_proof import outputs, worst

from py_autodoc.extract.resize import resize
from py_autodoc.graph.resize import ResizeBlocked

pytestmark = pytest.mark.slow
torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

EXACT = 1e-5
SMALL = {
    "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48,
    "vocab_size": 64,
}  # fmt: skip


class First(torch.nn.Module):
    """The first output alone."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, *given):
        made = self.model(*given)
        return made if torch.is_tensor(made) else made[0]


class Upsampling(torch.nn.Module):
    """A picture pooled to one place, back at the size of a feature map, then of the picture."""

    def __init__(self):
        super().__init__()
        self.down = torch.nn.Conv2d(3, 8, 3, 4, 1)
        self.pooled, self.out = torch.nn.Conv2d(8, 8, 1), torch.nn.Conv2d(16, 4, 1)

    def forward(self, x):
        function = torch.nn.functional
        low = function.relu(self.down(x))
        wide = self.pooled(function.adaptive_avg_pool2d(low, 1))
        wide = function.interpolate(wide, size=low.shape[-2:], mode="bilinear")
        return function.interpolate(self.out(torch.cat([low, wide], 1)), size=x.shape[-2:], mode="bilinear")


class LastAndShift(torch.nn.Module):
    """The last step of a GRU, and every token beside the one before it."""

    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(64, 16)
        self.steps = torch.nn.GRU(16, 16, batch_first=True)

    def forward(self, ids):
        given = self.embed(ids)
        return torch.cat([given[:, 1:], given[:, :-1]], -1).sum(-1), self.steps(given)[0][:, -1]


class SummedMean(torch.nn.Module):
    """A mean as a sum over a number: the export stores the number."""

    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(64, 16)

    def forward(self, ids):
        given = self.embed(ids)
        return given.sum(1) / given.shape[1]


def bert():
    return First(transformers.BertModel(transformers.BertConfig(**SMALL, max_position_embeddings=64)))


def deberta():
    config = transformers.DebertaV2Config(
        **SMALL, relative_attention=True, pos_att_type=["p2c", "c2p"], max_position_embeddings=32
    )
    return First(transformers.DebertaV2Model(config))


def t5():
    config = transformers.T5Config(vocab_size=64, d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4)
    return First(transformers.T5EncoderModel(config))


def llama():
    config = transformers.LlamaConfig(**SMALL, num_key_value_heads=2, use_cache=False)
    return First(transformers.LlamaModel(config))


def bloom():
    config = transformers.BloomConfig(vocab_size=64, hidden_size=32, n_layer=2, n_head=4, use_cache=False)
    return First(transformers.BloomModel(config))


def segformer():
    config = transformers.SegformerConfig(
        depths=[1] * 4, hidden_sizes=[8, 16, 16, 16], num_attention_heads=[1, 2, 2, 2], decoder_hidden_size=16
    )
    return First(transformers.SegformerForSemanticSegmentation(config))


def windows():
    config = transformers.SwinConfig(
        image_size=64, patch_size=2, embed_dim=8, depths=[1, 1], num_heads=[2, 2], window_size=4
    )
    return First(transformers.SwinModel(config))


def speech():
    config = transformers.Wav2Vec2Config(
        **SMALL, conv_dim=(16, 16, 16), conv_stride=(5, 2, 2), conv_kernel=(10, 3, 3),
        num_feat_extract_layers=3, num_conv_pos_embeddings=8, num_conv_pos_embedding_groups=4,
    )  # fmt: skip
    return First(transformers.Wav2Vec2Model(config))


def vit():
    config = {**SMALL, "image_size": 32, "patch_size": 8}
    return First(transformers.ViTModel(transformers.ViTConfig(**config)))


def shifted_windows():
    config = transformers.SwinConfig(
        image_size=64, patch_size=2, embed_dim=8, depths=[2, 2], num_heads=[2, 2], window_size=4
    )
    return First(transformers.SwinModel(config))


def ids(length):
    return torch.randint(3, 60, (1, length), generator=torch.Generator().manual_seed(length))


def picture(size):
    return torch.randn(1, 3, size, size, generator=torch.Generator().manual_seed(size))


def sound(length):
    return torch.randn(1, length, generator=torch.Generator().manual_seed(length))


def export(model, example, path, dynamo):
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        options = {"external_data": False} if dynamo else {}
        torch.onnx.export(model, (example,), str(path), dynamo=dynamo, input_names=["x"], **options)


GOOD = [
    (bert, ids, 16, 9, False), (deberta, ids, 16, 7, False),
    (t5, ids, 16, 9, False), (llama, ids, 16, 9, True), (bloom, ids, 16, 5, False),
    (LastAndShift, ids, 16, 24, True), (LastAndShift, ids, 16, 9, False),
    (segformer, picture, 128, 192, False), (Upsampling, picture, 64, 96, True),
    (windows, picture, 64, 96, False), (speech, sound, 640, 480, False),
]  # fmt: skip
BAD = [
    (vit, picture, 32, 64, "position_embeddings"),
    (shifted_windows, picture, 64, 96, ""),
    (bert, ids, 16, 24, "has only 16 entries"),
    (SummedMean, ids, 16, 9, "may be their number"),
]


@pytest.mark.parametrize(("make", "given", "size", "wanted", "dynamo"), GOOD)
@pytest.mark.filterwarnings("ignore")
def test_equals_an_export_at_that_size(make, given, size, wanted, dynamo, tmp_path):
    torch.manual_seed(0)
    model = make().eval()
    export(model, given(size), tmp_path / "fixed.onnx", dynamo)
    resize(tmp_path / "fixed.onnx", tmp_path / "resized.onnx", {"x": given(wanted).shape})
    with torch.no_grad():
        made = model(given(wanted))
    want = [value.numpy() for value in (made if isinstance(made, tuple) else (made,))]
    got = outputs(tmp_path / "resized.onnx", [given(wanted).numpy()])
    assert worst(got, want) < EXACT


@pytest.mark.parametrize(("make", "given", "size", "wanted", "says"), BAD)
@pytest.mark.filterwarnings("ignore")
def test_what_cannot_be_known_is_refused(make, given, size, wanted, says, tmp_path):
    export(make().eval(), given(size), tmp_path / "fixed.onnx", False)
    with pytest.raises(ResizeBlocked) as refused:
        resize(tmp_path / "fixed.onnx", tmp_path / "resized.onnx", {"x": given(wanted).shape})
    assert says in refused.value.message
    assert refused.value.refusal.node
