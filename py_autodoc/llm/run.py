"""Plans text generation: a decoder on devices, for several batches and contexts."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from py_autodoc.errors import OptionError
from py_autodoc.hardware.cloud import CloudInstance, checked_provider, of_devices
from py_autodoc.hardware.profile import Profile
from py_autodoc.hardware.requested import requested_profile
from py_autodoc.hardware.runtimes import TENSORRT, Runtime
from py_autodoc.hardware.runtimes import runtime as runtime_of
from py_autodoc.limits import LIBRARY, Limits
from py_autodoc.llm import formulas
from py_autodoc.llm.config import decoder_of_config
from py_autodoc.llm.decoder import Decoder, decoder_of
from py_autodoc.llm.links import LINKS, link_of
from py_autodoc.llm.service import (
    ANSWER,
    PROMPT,
    Goals,
    Load,
    load_of,
    missed,
    most_users,
    request_seconds,
)
from py_autodoc.llm.sizes import SizedModel
from py_autodoc.llm.step import (
    COMPARED_PROMPT,
    Setup,
    Time,
    compute_bound_batch,
    decode_time,
    of_long_prompt,
    prefill_time,
)
from py_autodoc.report.builders.hardware_section import WORKSPACE, available_bytes
from py_autodoc.report.pipeline.device_choice import (
    DeviceChoice,
    checked_precision,
    choose_device,
    precision_in,
    usual_runtime,
)
from py_autodoc.report.schema.generation import SCHEMA, DecoderFacts, Limit, LlmPoint, Plan, Plans, Service
from py_autodoc.report.schema.model import Generator
from py_autodoc.version import NAME, version

MAX_POINTS = 2_000
CONTEXTS = (1024, 4096, 32768)
MAX_CONTEXT, MAX_BATCH = 1 << 24, 1 << 16
MAX_DEVICES = 1024
WAITS = 0.25
"""Share of a prefill spent on communication from which tensor parallelism gets a warning."""
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """Plan options: all combinations of devices (ids, files or choices), precisions and device counts.

    ``context`` defaults to those of 1,024, 4,096 and 32,768 tokens that the model supports, ``precision`` to
    the stored one. ``chunk`` is the number of prompt tokens processed at a time, which determines the
    activation memory. ``link`` is ``auto`` (the device's own link, if any), ``nvlink`` or ``pcie``.
    ``provider`` is the cloud for prices, ``all`` for any, empty for none; ``price`` overrides it in dollars
    per hour and device. ``runtime`` is the runtime of the model, with the default of ``analyze``.

    A request has ``input_tokens`` and ``output_tokens`` (0: 1,024 and 256, or what the model supports);
    ``first_token_ms`` and ``user_tokens_per_s`` are goals for each of ``users`` (0: as many as one replica
    serves).
    """

    hardware: Sequence[str | DeviceChoice]
    batch: Sequence[int] = (1, 8, 32)
    context: Sequence[int] = ()
    precision: Sequence[str] = ()
    tensor_parallel: Sequence[int] = (1,)
    pipeline_parallel: Sequence[int] = (1,)
    link: str = "auto"
    provider: str = ""
    price: float | None = None
    chunk: int = 2048
    runtime: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    first_token_ms: float | None = None
    user_tokens_per_s: float | None = None
    users: int = 0
    bindings: Mapping[str, int] = field(default_factory=dict)
    limits: Limits = LIBRARY


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
        planned = _PlannedModel(
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


class _PlannedModel:
    """One or several devices of one type, in one precision."""

    def __init__(
        self,
        decoder: Decoder,
        sized: SizedModel | None,
        options: PlanOptions,
        runtime: Runtime,
        provider: str,
        hardware: str | DeviceChoice,
        precision: str,
        tensor: int,
        stages: int,
    ) -> None:
        chosen = hardware if isinstance(hardware, DeviceChoice) else choose_device(hardware)
        if chosen is None:
            raise OptionError("hardware-missing", "A device id is empty.", "Pass the id of a device.")
        self.device = chosen.device
        self.decoder, self.sized, self.options, self.provider = decoder, sized, options, provider
        self.requested_precision = checked_precision(precision)
        self.precision = precision_in(self.device, self.requested_precision, decoder.stored)
        self.count = tensor * stages
        link = link_of(_profile(hardware), max(tensor, stages), options.link) if self.count > 1 else None
        self.setup = Setup(
            decoder,
            self.device,
            self.precision or "fp16",
            tensor,
            stages,
            link,
            runtime,
            None if sized is None else sized.kernels,
            None if sized is None else partial(sized.launches, self.device),
        )
        if stages > decoder.layers:
            raise OptionError(
                "too-many-stages",
                f"{decoder.name} has {decoder.layers} layers, too few for {stages} stages.",
                "Use a smaller --pipeline-parallel.",
            )
        self.available = available_bytes(self.device)
        self.instance, self.price = self._price()

    def _price(self) -> tuple[CloudInstance | None, float | None]:
        if self.options.price is not None:
            return None, self.options.price * self.count
        if not self.options.provider:
            return None, None
        price = of_devices(self.device.id, self.count, self.provider)
        return (None, None) if price is None else price

    def plan(self) -> Plan:
        """Return the plan."""
        setup, decoder = self.setup, self.decoder
        has_rate = bool(self.precision)
        width = setup.width if has_rate else None
        weights = decoder.weights(width) if width else None
        cache = decoder.cache(width) if width else None
        points = (
            [self._point(batch, context) for batch in self.options.batch for context in self.options.context]
            if has_rate
            else []
        )
        rented = self.instance
        requested = self.requested_precision or decoder.stored[0]
        return Plan(
            hardware=self.device.id,
            device_name=self.device.name,
            precision=self.precision or None,
            tensor_parallel=setup.tensor,
            pipeline_parallel=setup.stages,
            devices=self.count,
            link=setup.link.name if setup.link else None,
            available_bytes=self.available,
            weight_bytes=weights,
            weight_bytes_per_device=None if weights is None else round(weights * setup.share),
            kv_cache_bytes_per_token=cache,
            kv_cache_bytes_per_token_per_device=None if cache is None else round(cache * setup.cache_share),
            compute_bound=[self._computing(context) for context in self.options.context] if has_rate else [],
            instance=rented.id if rented else None,
            instance_devices=rented.device_count if rented else None,
            price_usd_per_hour=self.price,
            price_date=rented.price_date if rented else None,
            region=rented.region if rented else None,
            points=points,
            service=self._service() if has_rate else None,
            longest_context=[self._longest(batch) for batch in self.options.batch] if has_rate else [],
            largest_batch=[self._largest(context) for context in self.options.context] if has_rate else [],
            warnings=self._warnings(points),
            reason="" if has_rate else f"{self.device.name} has no published {requested} rate",
        )

    def _warnings(self, points: Sequence[LlmPoint]) -> list[str]:
        setup, warnings = self.setup, []
        if self.count > 1 and setup.link is None:
            warnings.append(
                f"The interconnect of {self.device.name} is unknown, and so are the times for several."
            )
        shares = [point.interconnect_share for point in points if point.interconnect_share is not None]
        worst = max(shares, default=0.0)
        if setup.tensor > 1 and setup.link is not None and (setup.link.pcie or worst >= WAITS):
            pipeline = " A pipeline (--pipeline-parallel) exchanges far less." if setup.link.pcie else ""
            warnings.append(
                f"Tensor parallel over {setup.link.name}: up to {100 * worst:.0f} % of the prefill is spent "
                f"on communication.{pipeline}"
            )
        if any(point.fits is False for point in points):
            warnings.append("If the model does not fit, the times assume enough memory.")
        if self._copied():
            warnings.append(
                f"{self.decoder.kv_heads} key-value heads on {setup.tensor} devices: each is stored "
                f"{setup.tensor / (self.decoder.kv_heads or 1):g} times."
            )
        longest = max((point.context for point in points), default=0)
        request = self.options.input_tokens + self.options.output_tokens
        longest = max(longest, request)
        if self.decoder.max_context is not None and longest > self.decoder.max_context:
            warnings.append(f"The model supports at most {self.decoder.max_context:,} tokens.")
        return warnings

    def _copied(self) -> bool:
        return self.decoder.kv_heads is not None and self.setup.tensor > self.decoder.kv_heads

    # ------------------------------------------------------------------ points

    def _prefill(self, batch: int, context: int) -> tuple[Time | None, int | None, bool, str]:
        """Return the time of one prompt per sequence, its FLOPs, whether by kernels, and what is missing."""
        estimate, flops, why = None, None, ""
        if self.sized is not None and (self.sized.prompts or (batch, context) == self.sized.fixed):
            estimate, numbers, why = self.sized.prefill(batch, context, self.device, self.precision)
            flops = None if numbers is None else numbers.flops
            kernels = None if numbers is None else numbers.kernels
            if estimate is not None and kernels is not None and context > COMPARED_PROMPT:
                estimate = of_long_prompt(estimate, kernels.kind, self.setup)
        if flops is None:
            flops = self.decoder.prefill_flops(batch, context)
        time = prefill_time(self.setup, batch, context, flops, estimate)
        return time, flops, estimate is not None, why if estimate is None else ""

    def _point(self, batch: int, context: int) -> LlmPoint:
        decoder, setup, answer = self.decoder, self.setup, self.options.output_tokens
        prefill, flops, by_kernels, why = self._prefill(batch, context)
        decode = decode_time(setup, batch, context)
        activations = self._activation_bytes(batch, context)
        need = self._need(batch, context, activations)
        fits = None if need is None or self.available is None else need <= self.available
        price = None if fits is False else self.price
        rate = batch / decode.seconds if decode else None
        first = batch * context / prefill.seconds if prefill else None
        middle = decode_time(setup, batch, context + answer // 2)
        whole = request_seconds(prefill.seconds, middle.seconds, answer) if prefill and middle else None
        reasons = [why]
        if decode is None:
            reasons.append("the link between the devices, or the width of the model, is unknown")
        elif prefill is None and not why:
            reasons.append(
                "there is no formula for the prefill of this model: the tokens per expert are unknown"
            )
        if need is None:
            reasons.append("activations of unknown size")
        return LlmPoint(
            batch=batch,
            context=context,
            prefill_flops=flops,
            prefill_ms=_ms(prefill.seconds if prefill else None),
            prefill_low_ms=_ms(prefill.low if prefill else None),
            prefill_high_ms=_ms(prefill.high if prefill else None),
            prefill_method=("kernels" if by_kernels else "formula") if prefill else "",
            prefill_label=prefill.label if prefill else "",
            prefill_tokens_per_s=first,
            decode_ms=_ms(decode.seconds if decode else None),
            decode_low_ms=_ms(decode.low if decode else None),
            decode_high_ms=_ms(decode.high if decode else None),
            decode_label=decode.label if decode else "",
            decode_bottleneck=decode.bound if decode else "",
            interconnect_share=prefill.exchange if prefill else None,
            tokens_per_s=rate,
            tokens_per_s_per_request=1 / decode.seconds if decode else None,
            request_ms=_ms(whole),
            tokens_per_s_with_prompts=batch * answer / whole if whole else None,
            kv_cache_bytes=batch * decoder.cached(context, setup.width),
            activation_bytes=activations,
            memory_bytes_per_device=need,
            fits=fits,
            usd_per_million_input_tokens=_million(price, first),
            usd_per_million_output_tokens=_million(price, rate),
            reason="; ".join(filter(None, reasons)),
        )

    # ------------------------------------------------------------------ service

    def _service(self) -> Service:
        """Return how many users a replica serves at once, and the replicas for the users given."""
        options = self.options
        goal_ms = options.first_token_ms
        goals = Goals(
            options.input_tokens,
            options.output_tokens,
            None if goal_ms is None else goal_ms / 1e3,
            options.user_tokens_per_s,
        )
        prefill = self._prefill(1, goals.prompt)[0]
        fitting, reason = self._most(lambda users: self._fits(users, goals.prompt + goals.answer), MAX_BATCH)
        if prefill is None or decode_time(self.setup, 1, goals.prompt) is None:
            fitting, reason = None, "the time of a prompt or of a step is unknown"
        if fitting is None or prefill is None:
            return self._served(goals, None, None, None, "", reason)
        times = {"seconds": prefill.seconds, "low": prefill.low, "high": prefill.high}

        def load(users: int, end: str = "seconds") -> Load:
            step = decode_time(self.setup, users, goals.prompt + goals.answer // 2)
            assert step is not None  # One user has a time.
            return load_of(users, times[end], getattr(step, end), self.setup.stages, goals)

        users, low, high = (most_users(partial(load, end=end), fitting) for end in ("seconds", "high", "low"))
        limit = "search" if users == MAX_BATCH else "memory" if users == fitting else missed(load(users + 1))
        reason = ""
        if not users:
            one = load(1)
            reason = {
                "memory": "one request does not fit",
                "first_token": f"the first token of a single user takes {one.first_token_s:.3g} s",
                "tokens_per_s": f"a single user gets {one.tokens_per_s_per_user:.3g} tokens per second",
            }[limit]
            return self._served(goals, (0, low, high), None, None, limit, reason)
        replicas = -(-options.users // users) if options.users else None
        served = load(-(-options.users // replicas) if replicas else users)
        return self._served(goals, (users, low, high), served, replicas, limit, "")

    def _served(
        self,
        goals: Goals,
        users: tuple[int, int, int] | None,
        load: Load | None,
        replicas: int | None,
        limit: str,
        reason: str,
    ) -> Service:
        price = None if load is None or self.price is None else self.price
        return Service(
            input_tokens=goals.prompt,
            output_tokens=goals.answer,
            first_token_goal_ms=self.options.first_token_ms,
            tokens_per_s_goal=goals.tokens_per_s,
            users=self.options.users or None,
            users_per_replica=users[0] if users else None,
            users_per_replica_low=users[1] if users else None,
            users_per_replica_high=users[2] if users else None,
            users_per_device=users[0] / self.count if users else None,
            limited_by=limit,
            load=load.users if load else None,
            first_token_ms=_ms(load.first_token_s if load else None),
            first_token_worst_ms=_ms(load.first_token_worst_s if load else None),
            request_ms=_ms(load.round_s if load else None),
            tokens_per_s_per_user=load.tokens_per_s_per_user if load else None,
            tokens_per_s=load.tokens_per_s if load else None,
            requests_per_s=load.requests_per_s if load else None,
            prompt_share=load.prompt_share if load else None,
            replicas=replicas,
            devices=None if replicas is None else replicas * self.count,
            usd_per_hour=None if price is None else price * (replicas or 1),
            usd_per_million_output_tokens=_million(price, load.tokens_per_s if load else None),
            reason=reason,
        )

    def _computing(self, context: int) -> Limit:
        """Return the batch from which a decode step is bound by arithmetic."""
        if self.decoder.active is None:
            return Limit(batch=None, context=context, limited_by="", reason="the active weights are unknown")
        batch = compute_bound_batch(self.setup, context, MAX_BATCH)
        if batch is not None:
            return Limit(batch=batch, context=context, limited_by="compute", reason="")
        most = decode_time(self.setup, MAX_BATCH, context)
        if most is None:
            return Limit(batch=None, context=context, limited_by="", reason="the time of a step is unknown")
        return Limit(
            batch=None, context=context, limited_by=most.bound, reason="no batch is bound by arithmetic"
        )

    # ------------------------------------------------------------------ memory

    def _activation_bytes(self, batch: int, context: int) -> int | None:
        """Return the activations of a prompt chunk or of a decode step, whichever is larger."""
        chunk = min(self.options.chunk, context)
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

    def _need(self, batch: int, context: int, activations: int | None) -> int | None:
        """Return the bytes needed per device."""
        if activations is None:
            return None
        decoder, setup = self.decoder, self.setup
        caches = batch * decoder.cached(context, setup.width) * setup.cache_share
        return int((decoder.weights(setup.width) * setup.share + caches + activations) * (1 + WORKSPACE))

    def _fits(self, batch: int, context: int) -> bool | None:
        need = self._need(batch, context, self._activation_bytes(batch, context))
        return None if need is None or self.available is None else need <= self.available

    def _most(self, fits: Callable[[int], bool | None], most: int) -> tuple[int | None, str]:
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

    def _longest(self, batch: int) -> Limit:
        most = self.decoder.max_context or MAX_CONTEXT
        longest, reason = self._most(lambda context: self._fits(batch, context), most)
        end = "model" if self.decoder.max_context else "search"
        return Limit(
            batch=batch,
            context=longest,
            reason=reason,
            limited_by="" if longest is None else end if longest == most else "memory",
        )

    def _largest(self, context: int) -> Limit:
        largest, reason = self._most(lambda batch: self._fits(batch, context), MAX_BATCH)
        end = "search" if largest == MAX_BATCH else "memory"
        return Limit(batch=largest, context=context, limited_by="" if largest is None else end, reason=reason)


def _profile(hardware: str | DeviceChoice) -> Profile:
    return requested_profile(hardware.device.id if isinstance(hardware, DeviceChoice) else hardware)


def _million(price: float | None, rate: float | None) -> float | None:
    return formulas.usd_per_million(price, rate) if price and rate else None


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1e3
