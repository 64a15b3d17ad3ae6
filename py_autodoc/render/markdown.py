"""The report as a model card in Markdown, as code hosts and the Hugging Face Hub show it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from py_autodoc.errors import InputError
from py_autodoc.render.markdown_text import Picture, code, escape, mermaid, picture, pictures, quoted
from py_autodoc.report.document.report import Report
from py_autodoc.report.sections import sections
from py_autodoc.report.sections.section_model import Name, Section, SectionContext, Value

if TYPE_CHECKING:
    import jinja2

BEGIN, END = "<!-- onnx-autodoc: begin -->", "<!-- onnx-autodoc: end -->"
"""Lines of a file around the part that ``updated`` replaces."""
_LICENSES = (
    "agpl-3.0", "apache-2.0", "bsd-2-clause", "bsd-3-clause", "cc-by-4.0", "cc-by-nc-4.0", "cc-by-nc-sa-4.0",
    "cc-by-sa-4.0", "cc0-1.0", "gpl-2.0", "gpl-3.0", "lgpl-3.0", "mit", "mpl-2.0", "openrail", "unlicense",
)  # fmt: skip
"""Names of licenses on the Hub that a file may give."""
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
"""Task of the identity → its name among the Hub's pipeline tags."""


def card(context: SectionContext, figures: Mapping[str, str] | None = None) -> str:
    """The whole card: front matter, title, sections.

    ``figures`` is where pictures are: name of a figure → path relative to the card. A name with ``-dark``
    behind it is the same for dark pages.
    """
    report = context.report
    head = f"{front_matter(report)}\n# {escape(report.model.name)}\n\n"
    if report.identity:
        head += f"{escape(report.identity.text)}\n\n"
    return head + body(context, figures, level=2)


def body(context: SectionContext, figures: Mapping[str, str] | None = None, level: int = 2) -> str:
    """The sections alone, titles of so many ``#``."""
    return rendered(sections(context), figures, level)


def rendered(made: list[Section], figures: Mapping[str, str] | None = None, level: int = 2) -> str:
    """Sections as Markdown."""
    text = (
        _environment()
        .get_template("card.md.j2")
        .render(sections=made, figures=pictures(figures or {}), level=level)
    )
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def front_matter(report: Report) -> str:
    """What the Hub reads: library, task, license when the file has one, tags."""
    words, lines = report.identity, ["---", "library_name: onnx"]
    tags = ["onnx"]
    if words is not None:
        task = _HUB_TASKS.get(words.task_id)
        if task and words.known.task in ("file", "structure"):
            lines.append(f"pipeline_tag: {task}")
    lines += _license(report.model.metadata.get("license", ""))
    if report.architecture.family != "unknown":
        tags.append(report.architecture.family)
    made = report.architecture.quantization
    if made is not None and made.quantized:
        tags += ["quantized", *made.weights[:2]]
    lines += ["tags:", *(f"- {quoted(tag)}" for tag in dict.fromkeys(tags)), "---", ""]
    return "\n".join(lines)


def _license(given: str) -> list[str]:
    """``license`` of a name that the Hub has, else ``other`` with the text of the file."""
    if not given.strip():
        return []
    first = given.strip().lower().split()[0]
    if first in _LICENSES:
        return [f"license: {first}"]
    return ["license: other", f"license_name: {quoted(given)}"]


def updated(text: str, part: str, shown: str) -> str:
    """A text with ``part`` between its markers, line ends as they are; ``shown`` names the file.

    Raises: InputError: the markers are not there once each, one after the other.
    """
    begins, ends = (
        [found.start() for found in re.finditer(rf"^{re.escape(mark)}(?=[ \t]*\r?$)", text, re.M)]
        for mark in (BEGIN, END)
    )
    if len(begins) != 1 or len(ends) != 1 or ends < begins:
        raise InputError(
            "no-markers",
            f"{shown} does not have the two marker lines once each, the beginning first.",
            f"Put {BEGIN} and {END} on lines of their own where the card shall go.",
        )
    newline = "\r\n" if "\r\n" in text else "\n"
    inner = f"{BEGIN}\n\n{part}\n".replace("\n", newline)
    return text[: begins[0]] + inner + text[ends[0] :]


@cache
def _environment() -> jinja2.Environment:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("py_autodoc.render", "templates/markdown"),
        undefined=jinja2.StrictUndefined,
        # Everything that a template prints is escaped, unless it is Markdown already.
        finalize=_finalize,
        # Texts come out of ``finalize`` as done; what a macro gives is so, too.
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
        return Markup(value.text)  # noqa: S704 - digits and units
    if isinstance(value, str):
        return Markup(escape(value))  # noqa: S704 - inert
    raise TypeError(f"a template prints {type(value).__name__}")


def _markup_of_picture(found: Picture, caption: str) -> Markup:
    return Markup(picture(found, caption))  # noqa: S704 - a quoted path, an escaped text
