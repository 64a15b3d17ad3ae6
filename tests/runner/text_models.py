"""A small tokenizer and models that read text, made here."""

import json

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers

SENTENCES = ["the cat sat on the mat", "a dog ran over the hill", "good bad fine awful"]
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]


def words():
    """A tokenizer of whole words, as BERT's puts its marks around a text."""
    made = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.train_from_iterator(SENTENCES, trainers.WordLevelTrainer(special_tokens=SPECIAL))
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )  # fmt: skip
    return made


def pairs_of_bytes():
    """A tokenizer of byte pairs without marks, as decoders have, which fill up on the left."""
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=300, special_tokens=["<|endoftext|>"], show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )  # fmt: skip
    made.train_from_iterator(SENTENCES, trainer)
    return made


def saved(tokenizer, folder, **config):
    """The files of a tokenizer in a folder."""
    folder.mkdir(exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    if config:
        (folder / "tokenizer_config.json").write_text(json.dumps(config))
    return folder / "tokenizer.json"


def reader(
    path, names=("input_ids", "attention_mask"), shape=("batch", "sequence"), kind=TensorProto.INT64, rows=400
):
    """A model that gives the sum of the ids under the mask, and the ids' embeddings."""
    inputs = [helper.make_tensor_value_info(one, kind, list(shape)) for one in names]
    table = np.arange(2 * rows, dtype=np.float32).reshape(rows, 2)
    nodes = [
        helper.make_node("Gather", ["table", names[0]], ["rows"], name="embed"),
        *(helper.make_node("Cast", [one], [f"{one}_f"], to=TensorProto.FLOAT) for one in names),
    ]
    last = f"{names[0]}_f"
    for one in names[1:]:
        nodes.append(helper.make_node("Add", [last, f"{one}_f"], [f"{one}_sum"]))
        last = f"{one}_sum"
    nodes.append(helper.make_node("ReduceSum", [last, "axis"], ["scores"], keepdims=1))
    outputs = [
        helper.make_tensor_value_info("scores", TensorProto.FLOAT, [shape[0], 1]),
        helper.make_tensor_value_info("rows", TensorProto.FLOAT, [*shape, 2]),
    ]
    weights = [numpy_helper.from_array(table, "table"), numpy_helper.from_array(np.array([1]), "axis")]
    graph = helper.make_graph(nodes, "g", inputs, outputs, weights)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(made)
    onnx.save(made, path)
    return path
