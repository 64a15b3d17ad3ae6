"""Small models of transformers and PyTorch by kind, one item each: exported with the batch fixed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import transformers as hf

SIZES = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48}
TEXT = {**SIZES, "vocab_size": 64}
PATCHES = {**SIZES, "image_size": 32, "patch_size": 8}
PAIR = {
    "vocab_size": 64, "d_model": 32, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 4,
    "decoder_attention_heads": 4, "encoder_ffn_dim": 48, "decoder_ffn_dim": 48, "use_cache": False,
}  # fmt: skip
T5 = {"vocab_size": 64, "d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 2, "num_heads": 4}
SPEECH = {
    **TEXT, "conv_dim": (16, 16), "conv_stride": (5, 2), "conv_kernel": (10, 3), "num_feat_extract_layers": 2,
    "num_conv_pos_embeddings": 8, "num_conv_pos_embedding_groups": 4,
}  # fmt: skip
WINDOWS = {"image_size": 32, "patch_size": 2, "embed_dim": 8, "window_size": 4}
STAGES = {"depths": [1] * 4, "hidden_sizes": [8, 16, 16, 16]}
RELATIVE = {"relative_attention": True, "pos_att_type": ["p2c", "c2p"], "max_position_embeddings": 32}


class First(torch.nn.Module):
    """The first output alone; inputs by name."""

    def __init__(self, model: Any, names: tuple[str, ...]) -> None:
        super().__init__()
        self.model, self.names = model, names

    def forward(self, *given: Any) -> Any:
        named = dict(zip(self.names, given, strict=True))
        made = self.model(**named) if named else self.model(*given)
        if torch.is_tensor(made):
            return made
        return made.logits if hasattr(made, "logits") else made[0]


def ids(length: int = 12) -> Any:
    return torch.randint(3, 20, (1, length))


def mask(length: int = 12) -> Any:
    return torch.ones(1, length, dtype=torch.long)


def picture(size: int = 32) -> Any:
    return torch.randn(1, 3, size, size)


def of(model: Callable[..., Any], config: Callable[..., Any], *given: Any, **options: Any) -> Any:
    """(a model, its inputs); tensors of ids may go with a mask and with ids of a decoder."""
    names = ("input_ids", "attention_mask", "decoder_input_ids")[: len(given)] if len(given) > 1 else ()
    built = model(config(**options))
    if not names:
        return _Plain(built), given
    return First(built, names), given


class _Plain(torch.nn.Module):
    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, *given: Any) -> Any:
        made = self.model(*given)
        if torch.is_tensor(made):
            return made
        return made.logits if hasattr(made, "logits") else made[0]


MODELS: dict[str, Callable[[], Any]] = {
    # Text
    "bert_words": lambda: of(hf.BertForMaskedLM, hf.BertConfig, ids(), mask(), **TEXT),
    "bert_classes": lambda: of(hf.BertForSequenceClassification, hf.BertConfig, ids(), **TEXT),
    "roberta": lambda: of(hf.RobertaModel, hf.RobertaConfig, ids(), mask(), **TEXT),
    "distilbert": lambda: of(
        hf.DistilBertModel, hf.DistilBertConfig, ids(), mask(), vocab_size=64, dim=32, n_layers=2, n_heads=4,
        hidden_dim=48,
    ),
    "electra": lambda: of(hf.ElectraModel, hf.ElectraConfig, ids(), **TEXT),
    "mpnet": lambda: of(hf.MPNetModel, hf.MPNetConfig, ids(), **TEXT),
    "deberta": lambda: of(hf.DebertaModel, hf.DebertaConfig, ids(), **TEXT, **RELATIVE),
    "squeezebert": lambda: of(hf.SqueezeBertModel, hf.SqueezeBertConfig, ids(), **TEXT, embedding_size=32),
    "layoutlm": lambda: of(hf.LayoutLMModel, hf.LayoutLMConfig, ids(), **TEXT),
    "clip_text": lambda: of(hf.CLIPTextModel, hf.CLIPTextConfig, ids(), **TEXT, eos_token_id=2),
    "t5_encoder": lambda: of(hf.T5EncoderModel, hf.T5Config, ids(), mask(), **T5),
    "t5": lambda: of(
        hf.T5ForConditionalGeneration, hf.T5Config, ids(), mask(), ids(5), **T5, use_cache=False
    ),
    "bart": lambda: of(hf.BartModel, hf.BartConfig, ids(), mask(), ids(5), **PAIR, pad_token_id=1),
    "marian": lambda: of(
        hf.MarianModel, hf.MarianConfig, ids(), mask(), ids(5), **PAIR, pad_token_id=1,
        decoder_start_token_id=1,
    ),
    "opt": lambda: of(
        hf.OPTModel, hf.OPTConfig, ids(), vocab_size=64, hidden_size=32, ffn_dim=48, num_hidden_layers=2,
        num_attention_heads=4, word_embed_proj_dim=32, use_cache=False,
    ),
    "bloom": lambda: of(
        hf.BloomModel, hf.BloomConfig, ids(), vocab_size=64, hidden_size=32, n_layer=2, n_head=4,
        use_cache=False,
    ),
    "mamba": lambda: of(
        hf.MambaModel, hf.MambaConfig, ids(6), vocab_size=64, hidden_size=16, num_hidden_layers=1,
        state_size=4, use_cache=False,
    ),
    # Sound
    "wav2vec2": lambda: of(hf.Wav2Vec2Model, hf.Wav2Vec2Config, torch.randn(1, 400), **SPEECH),
    "hubert": lambda: of(hf.HubertModel, hf.HubertConfig, torch.randn(1, 400), **SPEECH),
    "spectrogram": lambda: of(
        hf.ASTModel, hf.ASTConfig, torch.randn(1, 32, 16), **SIZES, patch_size=8, max_length=32,
        num_mel_bins=16, frequency_stride=8, time_stride=8,
    ),
    # Pictures
    "vit": lambda: of(hf.ViTModel, hf.ViTConfig, picture(), **PATCHES),
    "deit": lambda: of(hf.DeiTModel, hf.DeiTConfig, picture(), **PATCHES),
    "beit": lambda: of(
        hf.BeitModel, hf.BeitConfig, picture(), **PATCHES, use_relative_position_bias=True
    ),
    "dinov2": lambda: of(
        hf.Dinov2Model, hf.Dinov2Config, picture(28), hidden_size=32, num_hidden_layers=2,
        num_attention_heads=4, mlp_ratio=2, image_size=28, patch_size=14,
    ),
    "clip_vision": lambda: of(hf.CLIPVisionModel, hf.CLIPVisionConfig, picture(), **PATCHES),
    "swin": lambda: of(
        hf.SwinModel, hf.SwinConfig, picture(), **WINDOWS, depths=[2, 2], num_heads=[2, 2]
    ),
    "swinv2": lambda: of(
        hf.Swinv2Model, hf.Swinv2Config, picture(), **WINDOWS, depths=[2, 2], num_heads=[2, 2]
    ),
    "pvt": lambda: of(
        hf.PvtV2Model, hf.PvtV2Config, picture(64), **STAGES, image_size=64, num_attention_heads=[1, 2, 2, 2]
    ),
    "levit": lambda: of(
        hf.LevitModel, hf.LevitConfig, picture(64), image_size=64, hidden_sizes=[16, 24, 32],
        num_attention_heads=[2, 3, 4], depths=[1, 1, 1], key_dim=[8, 8, 8],
    ),
    "poolformer": lambda: of(hf.PoolFormerModel, hf.PoolFormerConfig, picture(64), **STAGES),
    "convnextv2": lambda: of(hf.ConvNextV2Model, hf.ConvNextV2Config, picture(64), **STAGES),
    "regnet": lambda: of(
        hf.RegNetModel, hf.RegNetConfig, picture(64), **STAGES, embedding_size=8, groups_width=8
    ),
    "yolos": lambda: of(
        hf.YolosModel, hf.YolosConfig, picture(), **{**PATCHES, "image_size": [32, 32]},
        num_detection_tokens=4,
    ),
    "depth": lambda: of(
        hf.DPTForDepthEstimation, hf.DPTConfig, picture(), **{**PATCHES, "num_hidden_layers": 4},
        backbone_out_indices=[0, 1, 2, 3], neck_hidden_sizes=[8, 8, 16, 16], fusion_hidden_size=16,
        head_in_index=-1,
    ),
    "super_resolution": lambda: of(
        hf.Swin2SRModel, hf.Swin2SRConfig, picture(16), image_size=16, patch_size=1, embed_dim=8, depths=[2],
        num_heads=[2], window_size=4,
    ),
    # Recurrent
    "lstm": lambda: (torch.nn.LSTM(8, 16, 2, batch_first=True, bidirectional=True), (torch.randn(1, 7, 8),)),
    "gru": lambda: (torch.nn.GRU(8, 16, batch_first=True), (torch.randn(1, 7, 8),)),
}  # fmt: skip
REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    # Chunks of all items are put into one tensor by stored places.
    "longformer": (
        lambda: of(hf.LongformerModel, hf.LongformerConfig, ids(16), **TEXT, attention_window=4), "ScatterND",
    ),
    # The export counts queries with the batch as a number.
    "detr": (
        lambda: of(
            hf.DetrModel, hf.DetrConfig, picture(64), use_timm_backbone=False, backbone=None,
            use_pretrained_backbone=False, num_queries=5,
            **{k: v for k, v in PAIR.items() if k not in ("vocab_size", "use_cache")},
            backbone_config=hf.ResNetConfig(**STAGES, embedding_size=8, out_features=["stage4"]),
        ),
        "Range",
    ),
}  # fmt: skip
"""Name → (maker, the node that is named)."""
