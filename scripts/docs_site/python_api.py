"""Pages of the Python API: a page per task, filled by mkdocstrings from the docstrings."""

from __future__ import annotations

from importlib import import_module

FOLDER = "reference/python"
PAGES: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "analysis": (
        "Analysis and report",
        "Analyse a model and read its weights. The fields of the report: [report](../../report.md).",
        ("py_autodoc.analyze", "py_autodoc.Report", "py_autodoc.Limits", "py_autodoc.read_weights",
         "py_autodoc.read_array", "py_autodoc.to_markdown", "py_autodoc.to_pdf", "py_autodoc.plots",
         "py_autodoc.validate_report"),
    ),
    "notebook": (
        "Notebook",
        "Widgets for notebooks. Guides: [notebook](../../notebook.md), [playground](../../playground.md).",
        ("py_autodoc.Autodoc", "py_autodoc.side_by_side", "py_autodoc.QuantPlayground"),
    ),
    "change": (
        "Extract, batch, size",
        "Write parts of a model, or the model at other dimensions. Guides: [export](../../export.md),\n"
        "[batch](../../rebatch.md), [size](../../resize.md).",
        ("py_autodoc.extract_submodel", "py_autodoc.extract_module_subgraph", "py_autodoc.rebatch",
         "py_autodoc.resize"),
    ),
    "export": (
        "Export and tags",
        "Export from PyTorch and Keras, read and write tags, write PyTorch source.\n"
        "Guides: [export](../../export.md), [ONNX to PyTorch](../../to-torch.md).",
        ("py_autodoc.torch.export", "py_autodoc.torch.Quantize", "py_autodoc.torch.ExportResult",
         "py_autodoc.keras.convert", "py_autodoc.to_torch.write", "py_autodoc.to_torch.uncovered",
         "py_autodoc.tags.read_tags", "py_autodoc.tags.tag_file", "py_autodoc.tags.restore_file"),
    ),
    "transformers": (
        "Pipelines and metadata",
        "Run an exported transformers model and read its metadata. Guides: [pipeline](../../pipeline.md),\n"
        "[metadata](../../metadata.md).",
        ("py_autodoc.pipeline", "py_autodoc.hf.metadata_of", "py_autodoc.hf.read_metadata",
         "py_autodoc.hf.detect_task"),
    ),
    "hardware": (
        "Sizes and devices",
        "Sweep dimensions and devices, recommend a device, plan text generation.\n"
        "Guides: [sweep](../../sweep.md), [recommend](../../recommend.md), [text generation](../../llm.md).",
        ("py_autodoc.devices", "py_autodoc.sweep.sweep", "py_autodoc.sweep.Axes",
         "py_autodoc.sweep.SweepOptions",
         "py_autodoc.recommend.recommend", "py_autodoc.recommend.RecommendOptions", "py_autodoc.llm.plan",
         "py_autodoc.llm.PlanOptions"),
    ),
    "compare": (
        "Check, compare, verify",
        "Policies, topology and values of two models.\n"
        "Guides: [check](../../check.md), [compare](../../compare.md), [verify](../../verify.md).",
        ("py_autodoc.check.check", "py_autodoc.check.Policy", "py_autodoc.check.PolicyLimits",
         "py_autodoc.compare.same_topology", "py_autodoc.verify.verify"),
    ),
    "quantize": (
        "Quantize and run",
        "Quantize a model, rank its layers, run and measure it. Guides: [quantize](../../quantize.md),\n"
        "[sensitivity](../../sensitivity.md), [run](../../run.md), [operation reference](../../opdocs.md).",
        ("py_autodoc.quantize.quantize", "py_autodoc.quantize.Recipe",
         "py_autodoc.quantize.reference.evaluate", "py_autodoc.sensitivity.sensitivity",
         "py_autodoc.opdocs.opdocs", "py_autodoc.playground.Playground",
         "py_autodoc.runner.InferenceRunner", "py_autodoc.runner.compare_precisions",
         "py_autodoc.runner.measure_nodes", "py_autodoc.runner.text_loader",
         "py_autodoc.runner.MetricsCalculator"),
    ),
    "errors": (
        "Errors",
        "Every error is an `AutodocError` with a message, a hint and a code; the codes are listed under\n"
        "[diagnostics](../../diagnostics.md).",
        ("py_autodoc.errors",),
    ),
}  # fmt: skip
"""File name → (title, introduction, public names)."""


METHODS_ONLY = {"py_autodoc.Report": ("from_json", "to_json", "to_dict", "to_pandas", "stats", "weights")}
"""Classes whose fields have a page of their own."""


def python_pages() -> dict[str, str]:
    """Path below ``docs/`` → Markdown with a directive of mkdocstrings per name."""
    rows = "".join(
        f"| [{title}]({name}.md) | {', '.join(f'`{path}`' for path in paths)} |\n"
        for name, (title, _, paths) in PAGES.items()
    )
    index = f"# Python API\n\n| page | names |\n|---|---|\n{rows}"
    pages = {f"{FOLDER}/index.md": index}
    for name, (title, about, paths) in PAGES.items():
        directives = "\n".join(_directive(path) for path in paths)
        pages[f"{FOLDER}/{name}.md"] = f"# {title}\n\n{about}\n\n{directives}"
    return pages


def _directive(path: str) -> str:
    if path == "py_autodoc.errors":
        return f"::: {path}\n    options:\n      show_root_heading: false\n      members_order: source\n"
    lines = ["options:", f"  heading: {path}", f"  toc_label: {path.rpartition('.')[2]}"]
    if path in METHODS_ONLY:
        lines.append(f"  members: [{', '.join(METHODS_ONLY[path])}]")
    return "\n    ".join([f"::: {defined_in(path)}", *lines]) + "\n"


def defined_in(path: str) -> str:
    """The module and name where a public object is defined; public names may be loaded lazily."""
    module, _, name = path.rpartition(".")
    found = getattr(import_module(module), name)
    return f"{found.__module__}.{found.__qualname__}"
