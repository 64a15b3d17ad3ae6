"""``quantize``: prepare a model, quantize it, restore its tags, compare it and write it atomically."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import onnx

from py_autodoc.errors import InputError, OptionError
from py_autodoc.graph.ir.name_sanitizer import restore_names
from py_autodoc.graph.protobuf.probe import PathLike, base_name
from py_autodoc.hardware.detect import cpu
from py_autodoc.int8_kernels.document import IntegerKernels
from py_autodoc.int8_kernels.judge import RECIPE
from py_autodoc.int8_kernels.targets import computation
from py_autodoc.int8_kernels.text import REMEDY, both_figures, not_measured
from py_autodoc.ort import onnxruntime, original_names
from py_autodoc.outputs import output_failed
from py_autodoc.outputs.marks import unmark
from py_autodoc.outputs.temporary import scratch
from py_autodoc.quantize.clipping import ClippingPairs, clipping_pairs
from py_autodoc.quantize.document import GAP_DB, Quantization
from py_autodoc.quantize.exclude import excluded_nodes
from py_autodoc.quantize.kept_float import double_nodes, infinite_constants, infinite_nodes
from py_autodoc.quantize.methods import BUILT_IN, apply, method
from py_autodoc.quantize.prepare import fit_recipe, load_float_model, prepare_model
from py_autodoc.quantize.recipe import Recipe, complete_recipe
from py_autodoc.quantize.storage import check_space, store, too_large
from py_autodoc.samples import Images, analysis_at_sizes, check_memory, choose_samples, input_specs
from py_autodoc.tags import read_tags, restore_file, tag_file
from py_autodoc.tags.model import ROOT
from py_autodoc.tags.model_files import finish, staging, targets, to_ir
from py_autodoc.tags.read import table_in
from py_autodoc.units import plural
from py_autodoc.verify.api import verify
from py_autodoc.verify.document import VerifiedOutput
from py_autodoc.version import version

DATA_SAMPLES, SYNTHETIC_SAMPLES, COMPARED_SAMPLES = 128, 16, 16
Step = Callable[[str, int, int], None]


def quantize(
    model: PathLike,
    out: PathLike,
    data: Any = None,
    recipe: Recipe | None = None,
    *,
    samples: int | None = None,
    random_data: bool = False,
    seed: int = 0,
    bindings: Mapping[str, int] | None = None,
    input_shapes: Mapping[str, Sequence[int]] | None = None,
    force: bool = False,
    compare: bool = True,
    progress: Step | None = None,
) -> Quantization:
    """Write a quantized model with its tags and the recipe in its metadata. The original is not changed.

    Args:
        model: an ONNX file in float32 with its weights.
        out: the output file.
        data: values of the inputs, as for ``verify``; ``static`` needs them for ranges, every method for
            scores.
        recipe: settings of the quantization; None uses ``static`` for this machine.
        samples: number of samples; None uses 128.
        random_data: use synthetic values for ranges, which do not fit real inputs.
        seed: random seed for synthetic values.
        bindings: values of symbolic dimensions for the samples; others are taken from the data.
        input_shapes: full shapes of inputs.
        force: replace a file that ONNX Autodoc did not write.
        compare: run both models and compare their results; False: there are no ``outputs``.
        progress: called with each step.

    Raises:
        OptionError: the recipe is invalid, or there is no data.
        InputError: the model or the data cannot be used.
        RequirementError: ONNX Runtime is missing.
        AnalysisError: its tools or sessions reject the model.
        OutputError: the result cannot be written.
    """
    report_progress = progress or (lambda step, done, total: None)
    name = base_name(model)
    used_recipe = recipe or Recipe()
    plugin = used_recipe.method not in BUILT_IN
    run = method(used_recipe.method)
    chosen = used_recipe if plugin else complete_recipe(used_recipe)
    runtime = onnxruntime("Quantization")
    inputs_read = [model, *_files(data)]
    targets_by_kind = targets(out, inputs=inputs_read, force=force)
    if data is None and chosen.method == "static" and not random_data:
        raise OptionError(
            "no-data",
            "Static quantization needs samples of real inputs for its ranges.",
            "Pass them with --data. --random-data uses synthetic values, whose ranges do not fit real data.",
        )
    report_progress("reading", 0, 4)
    proto = load_float_model(model, "static" if plugin else chosen.method)
    constants = frozenset[str]() if chosen.method == "fp16" else infinite_constants(proto, name)
    chosen = chosen if plugin else fit_recipe(chosen, used_recipe, proto, name)
    analysis = analysis_at_sizes(model, data, bindings, input_shapes)
    check_memory(analysis)
    inputs, data_source = choose_samples(
        data, input_specs(analysis), samples, seed, (DATA_SAMPLES, SYNTHETIC_SAMPLES)
    )
    folded = prepare_model(proto, name, fold=chosen.method in ("static", "fp16"))
    names = excluded_nodes(chosen.exclude, analysis, proto)
    if too_large(proto):
        targets_by_kind = targets(out, data=True, inputs=inputs_read, force=force)
    with output_failed("temporary files"), scratch() as folder:
        source, quantized, final = (folder / f"{stem}.onnx" for stem in ("prepared", "quantized", "final"))
        check_space(proto, folder)
        store(proto, source)
        proto = _load_tagged(source)
        report_progress("quantizing", 1, 4)
        ranges = inputs if chosen.method == "static" or plugin else []
        static = chosen.method == "static"
        infinite = infinite_nodes(source, proto, constants, ranges, name) if static else []
        double = double_nodes(proto, analysis) if static else []
        apply(run, source, quantized, chosen, ranges, [*names, *infinite, *double], name)
        report_progress("tags", 2, 4)
        share = _complete(proto, quantized, final, _recipe_json(chosen, runtime, data_source, len(inputs)))
        report_progress("comparing", 3, 4)
        outputs, kernels = list[VerifiedOutput](), None
        if compare:
            verification = verify(
                final,
                model,
                inputs[:COMPARED_SAMPLES],
                bindings=analysis.types.bindings,
                input_shapes=input_shapes,
                target=chosen.target,
            )
            outputs, kernels = verification.outputs, verification.kernels
        result = onnx.load(final)
        signed = chosen.method in ("static", "dynamic") and chosen.weights == "s8"
        pairs = clipping_pairs(result) if signed else None
        machine = cpu()
        findings = _findings(chosen, outputs, kernels, pairs, data is None, len(infinite))
        restore_names(result.graph, original_names(model))
        # Remove the mark that restoring the tags left in the file.
        unmark(result)
        with staging(targets_by_kind[0].path) as stage:
            store(result, stage / targets_by_kind[0].path.name)
            size = sum(path.stat().st_size for path in finish(stage, targets_by_kind))
    report_progress("done", 4, 4)
    return Quantization(
        model=name,
        out=targets_by_kind[0].path.name,
        recipe=chosen,
        versions=_versions(runtime),
        cpu=machine["name"],
        flags=machine["flags"],
        samples=len(inputs) if chosen.method == "static" else 0,
        data=data_source,
        folded=folded,
        excluded=names,
        bytes_before=analysis.model.file.bytes + analysis.model.file.external_bytes,
        bytes_after=size,
        nodes=len(result.graph.node),
        tagged=share,
        outputs=outputs,
        kernels=kernels,
        clipping=pairs,
        findings=findings,
    )


def _load_tagged(source: Path) -> onnx.ModelProto:
    """Return the prepared model, tagged from the exporter's records if it has no tags yet.

    Weights of a large model stay in their file.
    """
    if table_in(to_ir(onnx.load(source, load_external_data=False))) is None:
        with suppress(InputError):  # the exporter recorded no modules
            tag_file(source, source)
    return onnx.load(source, load_external_data=False)


def _files(data: Any) -> list[str]:
    if isinstance(data, Images):
        return [str(data.path)]
    return [str(data)] if isinstance(data, (str, Path)) else []


def _versions(runtime: Any) -> dict[str, str]:
    return {"onnxruntime": runtime.__version__, "onnx": onnx.__version__, "onnx-autodoc": version()}


def _recipe_json(recipe: Recipe, runtime: Any, data: str, count: int) -> str:
    """Return the recipe and its context for the metadata."""
    metadata = {
        "recipe": msgspec.to_builtins(recipe),
        "versions": _versions(runtime),
        "data": data,
        "samples": count,
    }
    return json.dumps(metadata, sort_keys=True)


def _complete(source: onnx.ModelProto, quantized: Path, final: Path, recipe_json: str) -> float | None:
    """Complete the quantized file with the metadata of the source, the recipe, and tags on its nodes.

    Returns: the share of nodes with a tag; None if the source has no tags.
    """
    proto = onnx.load(quantized, load_external_data=False)
    keys = {entry.key for entry in proto.metadata_props}
    for entry in source.metadata_props:
        if entry.key not in keys:
            proto.metadata_props.add(key=entry.key, value=entry.value)
    for entry in [entry for entry in proto.metadata_props if entry.key == RECIPE]:
        proto.metadata_props.remove(entry)
    unmark(proto)
    proto.metadata_props.add(key=RECIPE, value=recipe_json)
    onnx.save(proto, quantized)
    if table_in(to_ir(onnx.load(quantized, load_external_data=False))) is None:
        onnx.save(proto, final)
        return None
    restore_file(quantized, final)
    tags = read_tags(to_ir(onnx.load(final, load_external_data=False)))
    tagged = sum(record.via != ROOT for record in tags.records.values())
    return tagged / len(tags.records) if tags.records else None


def _findings(
    recipe: Recipe,
    outputs: Sequence[VerifiedOutput],
    kernels: IntegerKernels | None,
    pairs: ClippingPairs | None,
    made_up: bool,
    infinite: int,
) -> list[str]:
    """Return notes about the result, one sentence each."""
    findings = []
    if infinite:
        findings.append(f"{plural(infinite, 'node')} with infinite values, such as masks, stay in float32.")
    if made_up:
        kind = "ranges" if recipe.method == "static" else "scores"
        findings.append(f"The {kind} come from synthetic data: measure again with real data.")
    findings += [note for output in outputs for note in _kernel_notes(output, kernels)]
    saturates = computation(recipe.target).kernel == "pairs"
    if pairs is not None and pairs.clipping and saturates:
        findings.append(
            f"{pairs.share:.1%} of neighbouring weights can clip on processors without VNNI, most in "
            f"{pairs.worst_layer} ({pairs.worst_share:.1%})."
        )
    if recipe.method == "fp16":
        findings.append(
            "ONNX Runtime's CPU kernels run float16 slower than float32; use it for GPUs or smaller files."
        )
    return findings


def _kernel_notes(output: VerifiedOutput, kernels: IntegerKernels | None) -> list[str]:
    """Return notes on the loss by integer kernels; the target's count, not this machine's."""
    notes = []
    here, target = output.error_fused, output.error_target
    if kernels is not None and kernels.differs and here is not None:
        if target is None:
            return [f"{output.name}: {not_measured(kernels)}."]
        notes.append(f"{output.name}: {both_figures(kernels, here.sqnr_db, target.sqnr_db)}.")
    judged = here if target is None else target
    file, kernel = output.error.sqnr_db, None if judged is None else judged.sqnr_db
    saturates = kernels is not None and kernels.target_computes == "pairs" and kernels.saturating_operators
    if kernels is not None and kernels.differs and kernels.target_computes == "pairs" and here is not None:
        file = here.sqnr_db  # exact, also where the operators of the file are integer ones
    if file is None or kernel is None or file - kernel <= GAP_DB:
        return notes
    if saturates:
        notes.append(
            f"{output.name}: sums of u8 and s8 saturate, which costs {file - kernel:.1f} dB. {REMEDY}"
        )
    else:
        notes.append(
            f"{output.name}: ONNX Runtime's fused and integer kernels lose {file - kernel:.1f} dB more than "
            f"the file does ({kernel:.1f} instead of {file:.1f} dB). Find the layer with `verify`, and keep "
            "it in float with --exclude."
        )
    return notes
