"""Memory of a decoder on devices: what a batch and a context need, and the most that fits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from py_autodoc.llm.decoder import Decoder
from py_autodoc.llm.sizes import SizedModel
from py_autodoc.llm.step import Setup
from py_autodoc.report.builders.hardware_section import WORKSPACE
from py_autodoc.report.schema.generation import Limit

MAX_CONTEXT, MAX_BATCH = 1 << 24, 1 << 16


@dataclass(frozen=True, slots=True)
class DeviceMemory:
    """The memory of each device of a setup."""

    decoder: Decoder
    setup: Setup
    sized: SizedModel | None
    available: int | None
    """Bytes that a device has for models; None if unknown."""
    chunk: int
    """Tokens of a prompt that are computed at a time."""

    def activation_bytes(self, batch: int, context: int) -> int | None:
        """Return the activations of a prompt chunk or of a decode step, whichever is larger."""
        chunk = min(self.chunk, context)
        width = self.setup.width
        if self.sized is None:
            pass_bytes = self.decoder.pass_bytes
            return (
                None if pass_bytes is None else max(pass_bytes(1, chunk, width), pass_bytes(batch, 1, width))
            )
        if not self.sized.prompts:
            return self.sized.scaled(max(chunk, batch), width)
        filling = self.sized.activations(1, chunk, context - chunk, width)
        step = self.sized.activations(batch, 1, max(context - 1, 0), width)
        return None if filling is None or step is None else max(filling, step)

    def need(self, batch: int, context: int, activations: int | None) -> int | None:
        """Return the bytes needed per device."""
        if activations is None:
            return None
        decoder, setup = self.decoder, self.setup
        caches = batch * decoder.cached(context, setup.width) * setup.cache_share
        return int((decoder.weights(setup.width) * setup.share + caches + activations) * (1 + WORKSPACE))

    def fits(self, batch: int, context: int) -> bool | None:
        """Return whether a batch with a context fits; None if it is unknown."""
        need = self.need(batch, context, self.activation_bytes(batch, context))
        return None if need is None or self.available is None else need <= self.available

    def most(self, fits: Callable[[int], bool | None], most: int) -> tuple[int | None, str]:
        """Return the largest number up to ``most`` that fits, or why there is none."""
        if self.sized is not None and not self.sized.closed:
            return None, "not all sizes of the model have expressions: pass contexts and batches to try"
        last = fits(most)
        if last is None:
            return None, "the memory of the device or of the model is unknown"
        if last:
            return most, ""
        low, high = 0, most
        while high - low > 1:
            middle = (low + high) // 2
            fitting = fits(middle)
            if fitting is None:
                return None, "the memory of the model is unknown at some points"
            low, high = (middle, high) if fitting else (low, middle)
        return low, ""

    def longest_context(self, batch: int) -> Limit:
        """Return the longest context that fits with a batch."""
        most = self.decoder.max_context or MAX_CONTEXT
        longest, reason = self.most(lambda context: self.fits(batch, context), most)
        end = "model" if self.decoder.max_context else "search"
        return Limit(
            batch=batch,
            context=longest,
            reason=reason,
            limited_by="" if longest is None else end if longest == most else "memory",
        )

    def largest_batch(self, context: int) -> Limit:
        """Return the largest batch that fits with a context."""
        largest, reason = self.most(lambda batch: self.fits(batch, context), MAX_BATCH)
        end = "search" if largest == MAX_BATCH else "memory"
        return Limit(batch=largest, context=context, limited_by="" if largest is None else end, reason=reason)
