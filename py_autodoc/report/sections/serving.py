"""Text generation on the chosen device: tokens per second, users, time to the first token."""

from __future__ import annotations

from py_autodoc.report.sections.section_model import (
    Block,
    Items,
    Line,
    Name,
    Paragraph,
    Section,
    SectionContext,
    Table,
    Value,
)

_POINTER = "/serving/service"


def section(context: SectionContext) -> Section | None:
    """Return the numbers of one device; None for models that generate no text, or without a device."""
    serving = context.report.serving
    if serving is None:
        return None

    def time(milliseconds: float | None) -> Line:
        return (Value(None if milliseconds is None else milliseconds / 1e3, "seconds"),)

    rows: list[tuple[Line, ...]] = [
        (("Device",), (Name(serving.device_name),)),
        (
            ("Prompt and answer, tokens",),
            (Value(serving.input_tokens), " and ", Value(serving.output_tokens)),
        ),
        (
            ("Tokens per second, one user",),
            (Value(serving.decode_tokens_per_s, "count", "/serving/decode_tokens_per_s"),),
        ),
        (("Prompt, one user",), time(serving.prefill_ms)),
    ]
    service = serving.service
    blocks: list[Block] = []
    if service is not None:
        rows += [
            (
                ("Users at once",),
                (Value(service.users_per_replica, "exact", f"{_POINTER}/users_per_replica"),),
            ),
            (
                ("Likely range of users",),
                (Value(service.users_per_replica_low), " to ", Value(service.users_per_replica_high)),
            ),
            (("Limited by",), (service.limited_by.replace("_", " ") or "—",)),
            (
                ("First token with all users",),
                (*time(service.first_token_ms), ", at worst ", *time(service.first_token_worst_ms)),
            ),
            (
                ("Tokens per second of each user",),
                (Value(service.tokens_per_s_per_user, "count", f"{_POINTER}/tokens_per_s_per_user"),),
            ),
            (
                ("Tokens per second of the device",),
                (Value(service.tokens_per_s, "count", f"{_POINTER}/tokens_per_s"),),
            ),
            (
                ("Price per million tokens",),
                (Value(service.usd_per_million_output_tokens, "usd"),),
            ),
        ]
        if service.reason:
            blocks.append(Paragraph((service.reason, ".")))
    blocks.insert(0, Table(("Text generation", "Value"), tuple(rows)))
    if serving.assumptions:
        blocks.append(Items(tuple((text,) for text in serving.assumptions), "Assumptions"))
    return Section("serving", "Text generation", tuple(blocks))
