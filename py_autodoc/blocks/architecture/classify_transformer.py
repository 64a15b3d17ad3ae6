"""Encoder, decoder or both, from the attention layers of a model."""

from __future__ import annotations

from collections.abc import Sequence

from py_autodoc.blocks.architecture import output_signs
from py_autodoc.blocks.architecture.attention_dependencies import (
    MAX_LAYERS,
    independent_stacks,
    upstream_masks,
)
from py_autodoc.blocks.architecture.layer_inventory import LayerInventory
from py_autodoc.blocks.architecture.position_mixing import decomposed_attention
from py_autodoc.blocks.dataflow.dataflow_graph import DataflowGraph
from py_autodoc.blocks.results import AttentionLayer

FamilyVerdict = tuple[str, float, list[str]]
_BIG_VOCABULARY = 1000
"""Minimum vocabulary of a model that generates text."""
_MIN_LAYERS = 2
"""Self-attention layers before the first cross-attention that make an encoder; a decoder has one itself."""


def classify_transformer(
    main: DataflowGraph, attention: Sequence[AttentionLayer], inventory: LayerInventory
) -> FamilyVerdict:
    """Return (family, confidence, evidence) for a model that mixes positions by attention."""
    inside = set(main.order)
    layers = [layer for layer in attention if layer.anchor in inside][:MAX_LAYERS]
    masks = upstream_masks(main, layers)
    lines = [describe_attention(attention), *_inputs(inventory)]
    pooled = _pooled(layers, masks)
    crossing = [i for i, layer in enumerate(layers) if layer.kind == "cross" and i not in pooled]
    groups = independent_stacks(masks)
    self_attending = [group for group in groups if any(layers[i].kind == "self" for i in group)]
    # A decoder depends on its encoder: the cross-attention of independent towers is inside one of them.
    if crossing and not (len(self_attending) > 1 and all(len(group) > 1 for group in self_attending)):
        choice = _cross_attention(main, layers, masks, crossing, lines)
        if choice is not None:
            return choice
    if len(self_attending) > 1:
        return _independent(layers, self_attending, lines)
    return _single(main, attention, inventory, lines, _feeds_decoder(layers, masks))


def describe_attention(attention: Sequence[AttentionLayer]) -> str:
    """Return a text such as ``12 self-attention layers, none causal``; cross-attention is counted apart."""
    cross_attention = [layer for layer in attention if layer.kind == "cross"]
    self_attention = [layer for layer in attention if layer.kind != "cross"]
    parts = []
    if self_attention:
        parts.append(f"{_plural(len(self_attention), 'self-attention layer')}, {_causality(self_attention)}")
    if cross_attention:
        parts.append(_plural(len(cross_attention), "cross-attention layer"))
    return "; ".join(parts)


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _causality(layers: Sequence[AttentionLayer]) -> str:
    causal_flags = [layer.causal for layer in layers]
    yes, no, open_ = causal_flags.count(True), causal_flags.count(False), causal_flags.count(None)
    if not open_:
        return "all causal" if not no else "none causal" if not yes else f"{yes} of them causal"
    if open_ == len(causal_flags):
        return "causality unknown (mask values were not read)"
    parts = [(yes, "causal"), (no, "not causal"), (open_, "with mask values that were not read")]
    return ", ".join(f"{count} {label}" for count, label in parts if count)


def _inputs(inventory: LayerInventory) -> list[str]:
    """Describe the inputs of the model: image patches, tokens."""
    lines = []
    for kernel in dict.fromkeys(inventory.patches):
        size = "×".join(map(str, kernel))
        lines.append(
            f"patch embedding (vision): {size} convolution on the input, with a stride of the same size"
        )
    if inventory.token_tables:
        rows = max(inventory.token_tables)
        lines.append(f"token embedding (language): table of {rows:,} rows")
    return lines


def _pooled(layers: Sequence[AttentionLayer], masks: Sequence[int]) -> set[int]:
    """Return layers with a single query that no other layer reads: pooling layers, as in SigLIP."""
    read = 0
    for mask in masks:
        read |= mask
    if any(layer.past for layer in layers):
        return set()
    return {i for i, layer in enumerate(layers) if layer.queries == 1 and not read >> i & 1}


def _cross_attention(
    main: DataflowGraph,
    layers: Sequence[AttentionLayer],
    masks: Sequence[int],
    crossing: list[int],
    lines: list[str],
) -> FamilyVerdict | None:
    self_mask = sum(1 << i for i, layer in enumerate(layers) if layer.kind == "self")
    first = min(crossing, key=lambda i: (masks[i] & self_mask).bit_count())
    before = (masks[first] & self_mask).bit_count()
    after = self_mask.bit_count() - before
    if before >= _MIN_LAYERS:
        evidence = f"{before} self-attention layers before the first cross-attention layer, {after} after it"
        return "encoder-decoder", 0.95, [*lines, evidence]
    selves = [layer for layer in layers if layer.kind == "self"]
    if decomposed_attention(main, {layer.anchor for layer in layers}) >= _MIN_LAYERS:
        evidence = "attention in separate operators before the first cross-attention layer"
        return "encoder-decoder", 0.7, [*lines, evidence]
    if selves and (all(layer.causal for layer in selves) or any(layer.past for layer in layers)):
        evidence = "cross-attention to a model input: the decoder of an encoder–decoder"
        return "transformer-decoder", 0.85, [*lines, evidence]
    if len(crossing) < len(layers):
        evidence = "cross-attention first: latent positions attend to the input"
        return "transformer-encoder", 0.6, [*lines, evidence]
    return None


def _independent(
    layers: Sequence[AttentionLayer], groups: list[list[int]], lines: list[str]
) -> FamilyVerdict:
    evidence = "; ".join(
        f"{len(group)} layers of width {_width([layers[i] for i in group])}" for group in groups[:4]
    )
    return "transformer-encoder", 0.85, [*lines, f"{len(groups)} independent towers: {evidence}"]


def _width(layers: Sequence[AttentionLayer]) -> str:
    widths = sorted({layer.hidden_size for layer in layers if layer.hidden_size is not None})
    return "/".join(map(str, widths)) or "unknown"


def _feeds_decoder(layers: Sequence[AttentionLayer], masks: Sequence[int]) -> bool:
    """True if a causal layer depends on a layer that is not causal."""
    open_ = sum(1 << i for i, layer in enumerate(layers) if layer.kind != "cross" and layer.causal is False)
    return any(layer.causal and mask & open_ for layer, mask in zip(layers, masks, strict=True))


def _single(
    main: DataflowGraph,
    attention: Sequence[AttentionLayer],
    inventory: LayerInventory,
    lines: list[str],
    decodes: bool,
) -> FamilyVerdict:
    """One stack of self-attention. ``decodes``: a causal layer depends on one that is not."""
    causal = [layer.causal for layer in attention if layer.kind != "cross"]
    cached = sum(bool(layer.past) for layer in attention)
    vocabulary = output_signs.vocabulary_output(main)
    known_words = vocabulary is not None and (vocabulary[0] in inventory.token_tables)
    if vocabulary is not None and known_words:
        lines.append(f"output of {vocabulary[0]:,} scores per position, one for each row of the token table")
    if causal and all(causal):
        return "transformer-decoder", 0.95, lines
    if cached:
        lines.append(f"{_plural(cached, 'layer')} with keys and values cached in graph inputs")
        if known_words or not _streams(attention, inventory, vocabulary):
            return "transformer-decoder", 0.9, lines
        evidence = (
            "a streaming encoder: attention is not causal within a chunk, and earlier chunks are cached"
        )
        return "transformer-encoder", 0.8, [*lines, evidence]
    if any(causal) and not decodes and None not in causal:
        evidence = "the result of the causal layers conditions layers that are not causal"
        return "transformer-encoder", 0.7, [*lines, evidence]
    if any(causal):
        evidence = "both causal and non-causal layers: an encoder feeds a decoder"
        return "transformer-decoder", 0.7, [*lines, evidence]
    if all(c is False for c in causal):
        return "transformer-encoder", 0.95, lines
    return _by_inputs_and_outputs(
        inventory, lines, vocabulary[1] if vocabulary is not None and known_words else None, main
    )


def _streams(
    attention: Sequence[AttentionLayer], inventory: LayerInventory, vocabulary: tuple[int, bool] | None
) -> bool:
    """True for cached layers of an encoder that reads a signal chunk by chunk (Emformer, 2021).

    Tokens, or one query a step, mean a decoder; so do vectors that end in word scores without a bias.
    """
    selves = [layer for layer in attention if layer.kind != "cross"]
    if inventory.token_tables or any(layer.queries == 1 for layer in selves):
        return False
    if all(layer.causal is False for layer in selves):
        return True
    if any(layer.causal for layer in selves):
        return False
    next_words = vocabulary is not None and vocabulary[1] and vocabulary[0] >= _BIG_VOCABULARY
    return inventory.spatial >= _MIN_LAYERS and not next_words


def _scores_vocabulary(main: DataflowGraph) -> bool:
    """True if an output looks like one score for each word of a vocabulary."""
    vocabulary = output_signs.vocabulary_output(main)
    return vocabulary is not None and vocabulary[1] and vocabulary[0] >= _BIG_VOCABULARY


def _by_inputs_and_outputs(
    inventory: LayerInventory, lines: list[str], without_bias: bool | None, main: DataflowGraph
) -> FamilyVerdict:
    """Decide by the inputs and outputs of the network, since the values of the masks were not read."""
    if inventory.patches:
        return "transformer-encoder", 0.8, lines
    if not inventory.token_tables and not _scores_vocabulary(main):
        evidence = "features instead of tokens as input, no vocabulary scores as output"
        return "transformer-encoder", 0.7, [*lines, evidence]
    if without_bias:
        evidence = "output scores without a bias, typical of next-token prediction"
        return "transformer-decoder", 0.75, [*lines, evidence]
    ranks = [
        len(shape) for t in main.model.graphs[main.graph].outputs if (shape := main.shape(t)) is not None
    ]
    if ranks and max(ranks) == 2:
        return "transformer-encoder", 0.6, [*lines, "one output for the whole input"]
    return "unknown", 0.0, [*lines, "encoder or decoder: undecided, since the mask is unknown"]
