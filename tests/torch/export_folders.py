"""Tiny folders as save_pretrained writes them."""

from __future__ import annotations

import os

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")

import json

import torch
import transformers as hf
from tokenizers import Tokenizer, models, pre_tokenizers

torch.set_num_threads(1)
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "cat", "sat", "here", "there"]


def tokenizer(folder):
    made = Tokenizer(models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    fast = hf.PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="[PAD]", unk_token="[UNK]", model_max_length=16
    )
    fast.save_pretrained(folder)


def bert(folder, words=True):
    config = hf.BertConfig(
        vocab_size=40, hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
        max_position_embeddings=12,
    )  # fmt: skip
    torch.manual_seed(5)
    hf.BertForSequenceClassification(config).save_pretrained(folder)
    if words:
        tokenizer(folder)
    return folder


def vit(folder):
    config = hf.ViTConfig(
        image_size=[8, 12], patch_size=4, hidden_size=8, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=16, num_channels=2,
    )  # fmt: skip
    hf.ViTForImageClassification(config).save_pretrained(folder)
    return folder


def t5(folder):
    config = hf.T5Config(
        vocab_size=40, d_model=8, d_kv=4, d_ff=16, num_layers=1, num_heads=2, decoder_start_token_id=0
    )
    hf.T5ForConditionalGeneration(config).save_pretrained(folder)
    return folder


def llama(folder):
    config = hf.LlamaConfig(
        vocab_size=40, hidden_size=16, intermediate_size=24, num_hidden_layers=1, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=32, pad_token_id=0, bos_token_id=1, eos_token_id=2,
    )  # fmt: skip
    hf.LlamaForCausalLM(config).save_pretrained(folder)
    return folder


def config_only(kind, **settings):
    """A writer of a folder without weights."""

    def write(folder):
        model, config = getattr(hf, kind), getattr(hf, kind).config_class(**settings)
        folder.mkdir(parents=True)
        content = {**config.to_dict(), "architectures": [model.__name__]}
        (folder / "config.json").write_text(json.dumps(content))
        return folder

    return write


FACTORY = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = nn.Linear(4, 3)

    def forward(self, x, scale):
        return torch.relu(self.part(x)) * scale

class Single(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 2, 3)

    def forward(self, image):
        return self.conv(image)

def pair():
    print("a factory that talks")
    return Net(), (torch.randn(2, 4), torch.full((3,), 2.0))

def single():
    return Single(), torch.randn(1, 3, 8, 8)

def alone():
    return Net()

def broken():
    raise RuntimeError("no such luck\\nsecond line")

NET = 3
"""


def factory(folder):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "my_nets.py").write_text(FACTORY)
    (folder / "bad_nets.py").write_text("import not_there_at_all\n")
    return folder
