"""Plans text generation: a decoder on devices, for several batches and contexts."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace

from py_autodoc.errors import OptionError
from py_autodoc.hardware.cloud import checked_provider
from py_autodoc.hardware.runtimes import TENSORRT, Runtime
from py_autodoc.hardware.runtimes import runtime as runtime_of
from py_autodoc.llm.config import decoder_of_config
from py_autodoc.llm.decoder import Decoder, decoder_of
from py_autodoc.llm.device_memory import MAX_BATCH, MAX_CONTEXT
from py_autodoc.llm.links import LINKS
from py_autodoc.llm.plan_options import CONTEXTS, MAX_DEVICES, MAX_POINTS, PlanOptions
from py_autodoc.llm.planned_model import PlannedModel
from py_autodoc.llm.service import (
    ANSWER,
    PROMPT,
)
from py_autodoc.llm.sizes import SizedModel
from py_autodoc.report.pipeline.device_choice import (
    DeviceChoice,
    choose_device,
    usual_runtime,
)
from py_autodoc.report.schema.generation import SCHEMA, DecoderFacts, Plans
from py_autodoc.report.schema.model import Generator
from py_autodoc.version import NAME, version

Progress = Callable[[int, int], None]


def plan(
    model: str | os.PathLike[str] | bytes, options: PlanOptions, progress: Progress | None = None
) -> Plans:
    """Plan a decoder (an ONNX model, or its config.json) on every device.

    Raises:
        InputError: the model cannot be read or does not generate tokens, or an option does not fit.
    """
    _check(options)
    if isinstance(model, (str, os.PathLike)) and os.fspath(model).lower().endswith(".json"):
        decoder = decoder_of_config(os.fspath(model))
        return _plans(decoder, None, options, _runtime(options, config=True), progress)
    runtime = _runtime(options, config=False)
    sized = SizedModel(model, options.limits, dict(options.bindings), runtime)
    return plan_sized(sized, options, runtime, progress)


def plan_sized(
    sized: SizedModel, options: PlanOptions, runtime: Runtime, progress: Progress | None = None
) -> Plans:
    """Plan a model already analysed for ``runtime``. Raises: InputError."""
    _check(options)
    return _plans(decoder_of(sized.base), sized, options, runtime, progress)


def _plans(
    decoder: Decoder,
    sized: SizedModel | None,
    options: PlanOptions,
    runtime: Runtime,
    progress: Progress | None,
) -> Plans:
    provider = "" if options.provider == "all" else checked_provider(options.provider)
    if not options.context:
        options = replace(options, context=_contexts(decoder.max_context))
    options = _with_lengths(options, decoder.max_context)
    setups = [
        (hardware, precision, tensor, stages)
        for hardware in options.hardware
        for precision in options.precision or [""]
        for tensor in options.tensor_parallel
        for stages in options.pipeline_parallel
    ]
    if len(setups) * len(options.batch) * len(options.context) > MAX_POINTS:
        raise OptionError(
            "too-many-points", f"The plan has more than {MAX_POINTS:,} points.", "Pass fewer values."
        )
    plans = []
    for hardware, precision, tensor, stages in setups:
        planned = PlannedModel(
            decoder, sized, options, runtime, provider, hardware, precision, tensor, stages
        )
        plans.append(planned.plan())
        if progress is not None:
            progress(len(plans), len(setups))
    return Plans(
        schema=SCHEMA,
        generator=Generator(name=NAME, version=version()),
        model=decoder.name,
        decoder=DecoderFacts(
            source=decoder.source,
            layers=decoder.layers,
            hidden_size=decoder.hidden,
            kv_heads=decoder.kv_heads,
            parameters=decoder.parameters,
            active_parameters=decoder.active,
            max_context=decoder.max_context,
            window=decoder.window,
            window_layers=decoder.window_layers,
            quantization=decoder.quantization,
            cache=decoder.cache_source,
        ),
        input_tokens=options.input_tokens,
        output_tokens=options.output_tokens,
        prefill_chunk=options.chunk,
        runtime=runtime.id,
        assumptions=_assumptions(decoder, sized, runtime),
        plans=plans,
    )


def _runtime(options: PlanOptions, config: bool) -> Runtime:
    """Return the runtime. Raises: OptionError if it needs the operators that a configuration lacks."""
    if not options.runtime:
        chosen = [
            device if isinstance(device, DeviceChoice) else choose_device(device)
            for device in options.hardware
        ]
        usual = usual_runtime([choice.device for choice in chosen if choice is not None])
        # Without operators, only what fuses them all can be estimated.
        return usual if usual.chains or not config else runtime_of("torch-compile")
    runtime = runtime_of(options.runtime)
    if config and not runtime.chains:
        raise OptionError(
            "no-operators",
            f"A configuration does not list the operators that {runtime.label} runs.",
            "Pass an ONNX model, or --runtime tensorrt or torch-compile.",
        )
    return runtime


def _contexts(most: int | None) -> list[int]:
    return [context for context in CONTEXTS if most is None or context <= most] or [most or CONTEXTS[0]]


def _with_lengths(options: PlanOptions, most: int | None) -> PlanOptions:
    """Return the options with the tokens of a request; what is not given fits the model."""
    answer = options.output_tokens or (ANSWER if most is None else min(ANSWER, max(most // 4, 1)))
    prompt = options.input_tokens or (PROMPT if most is None else min(PROMPT, max(most - answer, 1)))
    return replace(options, input_tokens=prompt, output_tokens=answer)


def _check(options: PlanOptions) -> None:
    if options.provider != "all":
        checked_provider(options.provider)
    if not options.hardware:
        raise OptionError("hardware-missing", "A device is needed.", "Add --hardware ID.")
    if options.link not in LINKS:
        raise OptionError(
            "unknown-link", f"Unknown link {options.link[:40]!r}.", f"Choose one of {', '.join(LINKS)}."
        )
    for name in ("batch", "context", "tensor_parallel", "pipeline_parallel"):
        values = getattr(options, name)
        most = {"batch": MAX_BATCH, "context": MAX_CONTEXT}.get(name, MAX_DEVICES)
        for value in values:
            if not 1 <= value <= most:
                raise OptionError("bad-list", f"{name} is {value:,}; it must be from 1 to {most:,}.", "")
    for name in ("input_tokens", "output_tokens", "users"):
        value = getattr(options, name)
        if not 0 <= value <= MAX_CONTEXT:
            raise OptionError("bad-list", f"{name} is {value:,}; it must be from 0 to {MAX_CONTEXT:,}.", "")
    for name in ("first_token_ms", "user_tokens_per_s"):
        goal = getattr(options, name)
        if goal is not None and not 0 < goal < 1e18:
            raise OptionError("bad-amount", f"{name} is {goal:g}; it must be above 0.", "")
    if not 1 <= options.chunk <= MAX_CONTEXT:
        raise OptionError("bad-list", f"A chunk of {options.chunk:,} tokens is not possible.", "Pass 2048.")


def _assumptions(decoder: Decoder, sized: SizedModel | None, runtime: Runtime) -> list[str]:
    assumptions = list(decoder.assumptions)
    if runtime is not TENSORRT:
        assumptions.append(f"the model runs in {runtime.label}")
    if sized is not None and not sized.prompts:
        assumptions.append("the file has fixed dimensions: prefill by formula, activations scaled by tokens")
    if decoder.experts:
        assumptions.append("tokens are distributed evenly over the experts")
    assumptions.append("keys and values have the precision of the weights' floats and are appended in place")
    return assumptions
