"""Image generation: from noise, from latents, or step by step."""

from __future__ import annotations

from py_autodoc.identity.case import IdentityCase
from py_autodoc.identity.inputs import first_uses, waves
from py_autodoc.identity.model import PROBABLE, SURE, ModelPort, RuleReading
from py_autodoc.identity.output_ends import OutputEnd
from py_autodoc.identity.registry import task
from py_autodoc.units import plural

_VECTOR = 2048
"""Maximum length of a vector from which an image is generated."""
_SMALLEST = 16
_COLOURS = (3, 1)
_SCALES = (4, 8, 16, 32)
_MAPS = ("image", "", "hidden states")
_LATENT = (4, 64)
"""Minimum and maximum channels of a latent."""


def _picture(end: OutputEnd | None) -> tuple[int, int] | None:
    """Return channels and rows of a result with roughly square shape."""
    if end is None or end.rank != 4:
        return None
    for channels, rows, columns in ((1, 2, 3), (3, 1, 2)):
        count, height, width = end.at(channels), end.at(rows), end.at(columns)
        if count not in _COLOURS or not height or not width or min(height, width) < _SMALLEST:
            continue
        if height == width or count == 3:
            return count or 0, height
    return None


def _vector(port: ModelPort) -> int | None:
    """Return the length of a vector, with or without axes of size 1."""
    shape = port.shape or ()
    if port.role not in ("features", "") or len(shape) not in (2, 4) or any(d != 1 for d in shape[2:]):
        return None
    return shape[1] if isinstance(shape[1], int) and 1 < shape[1] <= _VECTOR else None


@task("image-generation", "image generation", ("unconditional-image-generation",), ())
def generation(case: IdentityCase) -> RuleReading | None:
    """Match an image generated from a noise vector (Goodfellow et al., GAN, 2014)."""
    made = _picture(case.first)
    vectors = [size for port in case.ports if (size := _vector(port)) is not None]
    others = [p for p in case.ports if _vector(p) is None and p.role != "number" and not _label(p)]
    if made is None or not vectors or others or len(case.ports) > 4:
        return None
    image = f"output image with {plural(made[0], 'channel')} and {made[1]} rows"
    evidence = f"input vector of {max(vectors):,} values, {image}"
    end = case.first
    bounded = end is not None and end.activation in ("Tanh", "Sigmoid")
    why = (evidence, f"final {end.activation}") if bounded and end is not None else (evidence,)
    return RuleReading(PROBABLE + (0.1 if bounded else 0), why, "image")


def _label(port: ModelPort) -> bool:
    return port.role == "tokens" and port.rank <= 1


@task("image-decoding", "image decoding", ("image-decoding",), ())
def decoding(case: IdentityCase) -> RuleReading | None:
    """Match an image decoded from a latent: the decoder of an autoencoder (Rombach et al., 2022)."""
    end, port = case.end, case.ports[0] if len(case.ports) == 1 else None
    shape = port.shape if port is not None else None
    if end is None or shape is None or len(shape) != 4 or end.rank != 4 or end.at(1) != 3:
        return None
    channels, rows, after = shape[1], shape[2], end.at(2)
    if not isinstance(channels, int) or not _LATENT[0] <= channels <= _LATENT[1]:
        return None
    times = after / rows if isinstance(rows, int) and rows > 1 and after else 0
    if times not in _SCALES:
        return None
    evidence = f"input map of {channels} channels, output image with {times:.0f} times as many rows"
    return RuleReading(PROBABLE + 0.1, (evidence,), "image")


@task("image-diffusion", "image diffusion step", ("text-to-image",), ())
def diffusion(case: IdentityCase) -> RuleReading | None:
    """Match the noise in an image or latent at one step (Ho et al., DDPM, 2020)."""
    step, end = case.port("time step"), case.end
    maps = [port for port in case.ports if port.rank == 4 and port.role in _MAPS]
    if step is None or len(maps) != 1 or end is None or end.rank != 4:
        return None
    shape = maps[0].shape or ()
    channels, after = shape[1], end.at(1)
    if not isinstance(channels, int) or after is None or end.shape is None or end.shape[2:] != shape[2:]:
        return None
    if after not in (channels, 2 * channels):
        return None
    evidence = "a map and a time step as input, a map of the same size as output"
    sines = waves(first_uses(case.flow, step.tensor))
    why = (evidence, "sinusoidal embedding of the time step") if sines else (evidence,)
    return RuleReading(SURE if sines else PROBABLE, why, "noise")
