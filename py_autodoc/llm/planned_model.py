"""A decoder on one or several devices of one type: its times, its users, its memory and its price."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from py_autodoc.errors import OptionError
from py_autodoc.hardware.cloud import CloudInstance, of_devices
from py_autodoc.hardware.profile import Profile
from py_autodoc.hardware.requested import requested_profile
from py_autodoc.hardware.runtimes import Runtime
from py_autodoc.llm import formulas
from py_autodoc.llm.decoder import Decoder
from py_autodoc.llm.device_memory import MAX_BATCH, DeviceMemory
from py_autodoc.llm.links import link_of
from py_autodoc.llm.plan_options import PlanOptions
from py_autodoc.llm.service import (
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
from py_autodoc.report.builders.hardware_section import available_bytes
from py_autodoc.report.pipeline.device_choice import (
    DeviceChoice,
    checked_precision,
    choose_device,
    precision_in,
)
from py_autodoc.report.schema.generation import Limit, LlmPoint, Plan, Service

WAITS = 0.25
"""Share of a prefill spent on communication from which tensor parallelism gets a warning."""


class PlannedModel:
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
        self.memory = DeviceMemory(decoder, self.setup, sized, available_bytes(self.device), options.chunk)
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
            available_bytes=self.memory.available,
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
            longest_context=[self.memory.longest_context(batch) for batch in self.options.batch]
            if has_rate
            else [],
            largest_batch=[self.memory.largest_batch(context) for context in self.options.context]
            if has_rate
            else [],
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
        activations = self.memory.activation_bytes(batch, context)
        need = self.memory.need(batch, context, activations)
        fits = None if need is None or self.memory.available is None else need <= self.memory.available
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
        fitting, reason = self.memory.most(
            lambda users: self.memory.fits(users, goals.prompt + goals.answer), MAX_BATCH
        )
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
        reason = f"no batch up to {MAX_BATCH:,} is bound by compute"
        return Limit(batch=None, context=context, limited_by=most.bound, reason=reason)


def _profile(hardware: str | DeviceChoice) -> Profile:
    return requested_profile(hardware.device.id if isinstance(hardware, DeviceChoice) else hardware)


def _million(price: float | None, rate: float | None) -> float | None:
    return formulas.usd_per_million(price, rate) if price and rate else None


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1e3
