"""One answer per image: classes or a vector."""

from __future__ import annotations

from py_autodoc.identity.case import IdentityCase
from py_autodoc.identity.model import PROBABLE, SURE, WEAK, RuleReading
from py_autodoc.identity.output_ends import OutputEnd
from py_autodoc.identity.registry import task
from py_autodoc.units import plural

_SETS = {
    1000: "ImageNet-1K classes",
    1001: "ImageNet-1K classes with background",
    21841: "ImageNet-21K classes",
    21843: "ImageNet-21K classes",
    11221: "ImageNet-21K-P classes",
    10450: "ImageNet-21K-P classes",
    365: "Places365 scenes",
}
_VECTORS = frozenset({64, 128, 192, 256, 320, 384, 512, 640, 768, 1024, 1152, 1280, 1408, 1536, 2048, 4096})
"""Common lengths of image embeddings."""
PIXELS = {784: "a flattened 28×28 image", 3072: "a flattened 32×32 RGB image"}
"""Pixel counts of MNIST and CIFAR images."""
_COARSE = 16
_LATENTS = frozenset({4, 6, 8, 16, 32})
"""Channels of a latent, or of its means and variances."""
_NARROW = 32
_GRIDS = (8, 14, 16, 28, 32)
"""Pixels per grid cell."""
_MANY_CLASSES = 300
"""Minimum number of scores between 0 and 1 that must be classes, as no result has so many coordinates."""


def flat(end: OutputEnd) -> int | None:
    """Return the width of a single vector per image."""
    if end.rank in (2, 4) and (end.rank == 2 or (end.at(2) == 1 and end.at(3) == 1)):
        return end.at(1)
    return end.at(0) if end.rank == 1 else None


def several_rows(case: IdentityCase) -> int:
    """Return the output rows if they outnumber the images, so that a row is not an answer per image."""
    image, rows = case.image, case.ends[0].at(0)
    batch = image.shape[0] if image is not None and image.rank == 4 and image.shape is not None else None
    tables = all(end.rank == 2 for end in case.ends)
    return rows if tables and rows and isinstance(batch, int) and rows > batch else 0


@task(
    "image-classification",
    "image classification",
    ("image-classification", "classify"),
    ("ForImageClassification",),
)
def classification(case: IdentityCase) -> RuleReading | None:
    """Match scores of classes for an image."""
    image = case.image
    if image is None:
        return _in_a_row(case)
    if case.only != "image" or not case.ends or case.count("image") > 1:
        return None
    widths = [flat(end) for end in case.ends]
    end, width = case.ends[0], widths[0]
    if several_rows(case):
        return None
    if width is None or (len(widths) > 1 and (None in widths or len(widths) > 4)):
        return None
    are_all_scores = all(end.activation in ("Softmax", "ArgMax") for end in case.ends) or len(case.ends) == 1
    strength = SURE if image.sure and are_all_scores else PROBABLE
    evidence = f"image input, {plural(width, 'output value')} per image"
    if end.activation in ("Softmax", "ArgMax") and width > 1 and end.kind in ("linear", "conv", "other"):
        final = (
            "final Softmax: class probabilities"
            if end.activation == "Softmax"
            else "final ArgMax: class index"
        )
        return RuleReading(strength, (evidence, final), "class scores")
    if end.kind not in ("linear", "conv", "join", "other"):
        return None
    if width in _SETS:
        return RuleReading(strength, (evidence, f"{width:,} is the number of {_SETS[width]}"), "class scores")
    if width == 1:
        if end.activation == "Sigmoid":
            return RuleReading(PROBABLE, (evidence, "final Sigmoid"), "score")
        return None
    if width in _VECTORS and not end.activation:
        return RuleReading(WEAK, (evidence,), "class scores")
    if end.activation == "Sigmoid" and width >= _MANY_CLASSES:
        return RuleReading(strength, (evidence, "final Sigmoid: several classes may apply"), "class scores")
    if end.activation in ("", "Sigmoid") and case.head(end) is not None:
        return RuleReading(PROBABLE, (evidence, "head on pooled features"), "class scores")
    return RuleReading(WEAK, (evidence,), "class scores")


def _in_a_row(case: IdentityCase) -> RuleReading | None:
    """Match an image whose pixels are passed as one row."""
    port, end = case.port("features"), case.end
    if case.only != "features" or port is None or port.rank != 2 or port.shape is None or end is None:
        return None
    data_set = PIXELS.get(port.shape[1]) if isinstance(port.shape[1], int) else None
    if data_set is None or end.rank != 2 or not 1 < (end.width or 0) <= _MANY_CLASSES or end.kind != "linear":
        return None
    if end.activation not in ("", "Softmax"):
        return None
    evidence = f"input rows of {port.shape[1]:,} values, as in {data_set}; {end.width} scores as output"
    return RuleReading(PROBABLE, (evidence,), "class scores")


@task("image-regression", "image regression", ("image-regression",), ())
def regression(case: IdentityCase) -> RuleReading | None:
    """Match one unbounded number per image, such as an age or a quality."""
    end = case.end
    if case.image is None or case.only != "image" or case.count("image") > 1 or end is None or flat(end) != 1:
        return None
    if case.named("age", "ages"):
        return RuleReading(PROBABLE + 0.1, ("image input, one scalar output named age",), "age")
    if end.activation or end.kind != "linear":
        return None
    return RuleReading(WEAK, ("image input, one unbounded scalar output",), "value")


@task("image-comparison", "image comparison")
def comparison(case: IdentityCase) -> RuleReading | None:
    """Match one number for two images."""
    end = case.end
    if case.only != "image" or case.count("image") != 2 or end is None or not 0 <= end.rank <= 2:
        return None
    if end.rank == 2 and end.width != 1:
        return None
    return RuleReading(PROBABLE, ("two image inputs, one scalar output",), "similarity")


def _latent(case: IdentityCase, end: OutputEnd) -> RuleReading | None:
    """Match one small map of few channels from layers of smaller size only (Rombach et al., 2022)."""
    image, flow = case.image, case.flow
    full, last = image.size[0] if image is not None and image.size else None, end.at(2)
    if case.end is None or end.rank != 4 or end.activation or end.kind not in ("conv", "other"):
        return None
    if not isinstance(full, int) or not last or full not in (4 * last, 8 * last, 16 * last):
        return None
    if end.at(1) not in _LATENTS or flow.of(("Resize", "Upsample", "ConvTranspose", "DepthToSpace")):
        return None
    evidence = f"one output map of {end.at(1)} channels at 1/{full // last} of the image size"
    return RuleReading(WEAK, (evidence,), "latent")


def _each_place(case: IdentityCase, end: OutputEnd) -> bool:
    """True for one row per grid cell of the image, as wide as the layers or a sum of their widths."""
    image, count = case.image, end.at(1)
    if image is None or end.rank != 3 or end.activation or not count or (end.width or 0) < _NARROW:
        return False
    rows, columns = image.size if len(image.size) == 2 else (None, None)
    if not isinstance(rows, int) or not isinstance(columns, int) or end.kind not in ("join", "linear"):
        return False
    gridded = any((rows // step) * (columns // step) == count for step in _GRIDS)
    wide = end.width in {layer.hidden_size for layer in case.structure.attention}
    return gridded and (wide or end.kind == "join")


@task(
    "image-encoding",
    "image encoding",
    ("image-feature-extraction", "image-encoding", "image-embedding"),
    (),
)
def encoding(case: IdentityCase) -> RuleReading | None:
    """Match features of an image: vectors, one per position or one in total."""
    image = case.image
    if image is None or case.only != "image" or not case.ends or case.family == "detector":
        return None
    end = case.ends[0]
    strength = SURE if image.sure else PROBABLE
    if case.named("embeds", "embedding", "embeddings", "feature", "features") and flat(end):
        return RuleReading(
            strength, ("image input, an output named as an embedding or features",), "embedding"
        )
    if end.rank == 3 and end.kind == "norm" and not end.activation:
        evidence = f"image input, a normalized vector of {end.width or '?'} values per position as output"
        return RuleReading(strength, (evidence,), "hidden states")
    if len(case.ends) <= 2 and _each_place(case, end):
        evidence = f"{end.at(1)} output vectors of {end.width} values, one per cell of a grid over the image"
        return RuleReading(PROBABLE, (evidence,), "hidden states")
    if any(e.kind == "unit" and flat(e) for e in case.ends):
        return RuleReading(strength, ("image input, one unit-length vector as output",), "embedding")
    width = flat(end)
    if width in _VECTORS and not end.activation and width not in _SETS:
        evidence = f"image input, one vector of {width} values as output, a common embedding length"
        strong = SURE if end.kind == "norm" and image.sure else PROBABLE
        return RuleReading(strong, (evidence,), "embedding")
    latent = _latent(case, end)
    if latent is not None:
        return latent
    if end.rank == 4 and all(e.rank == 4 for e in case.ends) and case.family not in ("detector", "segmenter"):
        rows, channels = end.at(2), case.ends[-1].at(1)
        full = image.size[0] if image.size else None
        last = case.ends[-1].at(2)
        if isinstance(full, int) and rows and last and full >= _COARSE * last and (channels or 0) >= 64:
            evidence = f"output maps of {channels} channels at 1/{full // last} of the image size"
            return RuleReading(PROBABLE, (evidence,), "features")
    return None
