"""The report as a model card in Markdown, for code hosts and the Hugging Face Hub."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from py_autodoc.errors import InputError
from py_autodoc.render.markdown_text import Picture, code, escape, mermaid, picture, pictures, quote_yaml
from py_autodoc.report.document.report import Report
from py_autodoc.report.sections import sections
from py_autodoc.report.sections.section_model import Name, Section, SectionContext, Value

if TYPE_CHECKING:
    import jinja2

BEGIN, END = "<!-- onnx-autodoc: begin -->", "<!-- onnx-autodoc: end -->"
"""Marker lines around the part of a file that ``replace_between_markers`` replaces."""
_LICENSES = (
    "agpl-3.0", "apache-2.0", "bsd-2-clause", "bsd-3-clause", "cc-by-4.0", "cc-by-nc-4.0", "cc-by-nc-sa-4.0",
    "cc-by-sa-4.0", "cc0-1.0", "gpl-2.0", "gpl-3.0", "lgpl-3.0", "mit", "mpl-2.0", "openrail", "unlicense",
)  # fmt: skip
"""License names of the Hub that a file may state."""
_HUB_TASKS = {
    name: name
    for name in (
        "text-generation", "text-classification", "token-classification", "question-answering", "fill-mask",
        "feature-extraction", "image-classification", "object-detection", "image-segmentation",
        "image-to-text",
        "image-to-image", "depth-estimation", "keypoint-detection", "automatic-speech-recognition",
        "audio-classification", "audio-to-audio", "text-to-speech", "voice-activity-detection",
        "tabular-classification", "tabular-regression", "translation", "summarization",
        "image-feature-extraction",
        "image-text-to-text", "zero-shot-image-classification", "sentence-similarity", "mask-generation",
        "video-classification", "zero-shot-object-detection", "visual-question-answering",
    )
} | {
    "instance-segmentation": "image-segmentation", "speech-recognition": "automatic-speech-recognition",
    "text-encoding": "feature-extraction", "image-encoding": "image-feature-extraction",
    "audio-encoding": "feature-extraction", "super-resolution": "image-to-image",
    "voice-activity": "voice-activity-detection", "audio-enhancement": "audio-to-audio",
    "speech-synthesis": "text-to-speech", "image-text-matching": "zero-shot-image-classification",
    "masked-language-modeling": "fill-mask",
}  # fmt: skip
"""Task of the identity → pipeline tag of the Hub."""


def card(context: SectionContext, figures: Mapping[str, str] | None = None) -> str:
    """Return the whole card: front matter, title, sections.

    ``figures`` maps figure names to image paths relative to the card; a name ending in ``-dark`` is the
    variant for dark pages.
    """
    report = context.report
    head = f"{front_matter(report)}\n# {escape(report.model.name)}\n\n"
    if report.identity:
        head += f"{escape(report.identity.text)}\n\n"
    return head + body(context, figures, level=2)


def body(context: SectionContext, figures: Mapping[str, str] | None = None, level: int = 2) -> str:
    """Return only the sections, with titles of ``level`` ``#``."""
    return render_sections(sections(context), figures, level)


def render_sections(sections: list[Section], figures: Mapping[str, str] | None = None, level: int = 2) -> str:
    """Return sections as Markdown."""
    text = (
        _environment()
        .get_template("card.md.j2")
        .render(sections=sections, figures=pictures(figures or {}), level=level)
    )
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def front_matter(report: Report) -> str:
    """Return the metadata for the Hub: library, task, tags, and the license if the file states one."""
    identity, lines = report.identity, ["---", "library_name: onnx"]
    tags = ["onnx"]
    if identity is not None:
        task = _HUB_TASKS.get(identity.task_id)
        if task and identity.known.task in ("file", "structure"):
            lines.append(f"pipeline_tag: {task}")
    stated = report.card.license if report.card is not None else ""
    lines += _license(stated or report.model.metadata.get("license", ""))
    if report.architecture.family != "unknown":
        tags.append(report.architecture.family)
    quantization = report.architecture.quantization
    if quantization is not None and quantization.quantized:
        tags += ["quantized", *quantization.weights[:2]]
    lines += ["tags:", *(f"- {quote_yaml(tag)}" for tag in dict.fromkeys(tags)), "---", ""]
    return "\n".join(lines)


def _license(stated: str) -> list[str]:
    """Return ``license`` if the Hub knows the name, else ``other`` with the text of the file."""
    if not stated.strip():
        return []
    first = stated.strip().lower().split()[0]
    if first in _LICENSES:
        return [f"license: {first}"]
    return ["license: other", f"license_name: {quote_yaml(stated)}"]


def replace_between_markers(text: str, replacement: str, file_name: str) -> str:
    """Replace the text between the markers, keeping line ends; ``file_name`` is for messages.

    Raises: InputError unless both markers occur exactly once, in order.
    """
    begins, ends = (
        [match.start() for match in re.finditer(rf"^{re.escape(mark)}(?=[ \t]*\r?$)", text, re.M)]
        for mark in (BEGIN, END)
    )
    if len(begins) != 1 or len(ends) != 1 or ends < begins:
        raise InputError(
            "no-markers",
            f"{file_name} must contain the two marker lines once each, in order.",
            f"Put {BEGIN} and {END} on lines of their own where the card should go.",
        )
    newline = "\r\n" if "\r\n" in text else "\n"
    inner = f"{BEGIN}\n\n{replacement}\n".replace("\n", newline)
    return text[: begins[0]] + inner + text[ends[0] :]


@cache
def _environment() -> jinja2.Environment:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("py_autodoc.render", "templates/markdown"),
        undefined=jinja2.StrictUndefined,
        # All output of a template is escaped, unless it is Markdown already.
        finalize=_finalize,
        # ``finalize`` and macros return finished text, which autoescape leaves unchanged.
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals |= {
        "safe": Markup,
        "mermaid": lambda text: Markup(mermaid(text)),  # noqa: S704 - inert
        "kind_of": lambda block: type(block).__name__,
        "picture": _markup_of_picture,
    }
    return environment


def _finalize(value: Any) -> Any:
    if isinstance(value, Markup | int):
        return value
    if isinstance(value, Name):
        return Markup(code(value.text))  # noqa: S704 - inert
    if isinstance(value, Value):
        # A dollar would begin a formula.
        return Markup(escape(value.text) if "$" in value.text else value.text)  # noqa: S704 - digits and units
    if isinstance(value, str):
        return Markup(escape(value))  # noqa: S704 - inert
    raise TypeError(f"a template prints {type(value).__name__}")


def _markup_of_picture(paths: Picture, caption: str) -> Markup:
    return Markup(picture(paths, caption))  # noqa: S704 - a quoted path, an escaped text
