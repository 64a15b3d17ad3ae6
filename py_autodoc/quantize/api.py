"""``quantize``: prepare a model, quantize it, restore its tags, compare it and write it atomically."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import onnx

from py_autodoc.errors import AnalysisError, InputError, ModelRefused, OptionError
from py_autodoc.graph.ir.name_sanitizer import restore_names
from py_autodoc.graph.protobuf.probe import PathLike, base_name
from py_autodoc.hardware.detect import cpu
from py_autodoc.int8_kernels.document import IntegerKernels
from py_autodoc.int8_kernels.judge import RECIPE
from py_autodoc.int8_kernels.targets import computation
from py_autodoc.int8_kernels.text import REMEDY, both_figures, not_measured, remedy
from py_autodoc.ort import onnxruntime, open_session, original_names
from py_autodoc.outputs import output_failed
from py_autodoc.outputs.marks import unmark
from py_autodoc.quantize.choices import AUTO
from py_autodoc.quantize.clipping import ClippingPairs, clipping_pairs
from py_autodoc.quantize.document import GAP_DB, Quantization
from py_autodoc.quantize.exclude import excluded_nodes
from py_autodoc.quantize.kept_float import mask_constants, masked_nodes, other_float_nodes
from py_autodoc.quantize.kernels import current_runtime
from py_autodoc.quantize.methods import BUILT_IN, apply, method
from py_autodoc.quantize.passed_outputs import DetachedOutputs, detach_outputs
from py_autodoc.quantize.prepare import fit_recipe, load_float_model, modernize, prepare_model
from py_autodoc.quantize.recipe import ALL, Recipe, complete_recipe
from py_autodoc.quantize.search import GOALS, search, search_notes, split, weights_by_trial
from py_autodoc.quantize.search_document import Search
from py_autodoc.quantize.speed import FASTER, SLOWER, CpuTime, cpu_time
from py_autodoc.quantize.storage import check_space, store, too_large
from py_autodoc.quantize.written_form import WrittenForm, written_form
from py_autodoc.samples import Images, analysis_at_sizes, check_memory, choose_samples, input_specs
from py_autodoc.samples.sample_source import SYNTHETIC
from py_autodoc.samples.specs import Sample
from py_autodoc.tags import read_tags, restore_file, strip_tags, tag_file
from py_autodoc.tags.model import ROOT
from py_autodoc.tags.model_files import finish, staging, targets, to_ir
from py_autodoc.tags.read import table_in
from py_autodoc.tags.tag_storage import proto_nodes
from py_autodoc.temporary import scratch
from py_autodoc.units import plural
from py_autodoc.verify.api import verify
from py_autodoc.verify.document import VerifiedOutput
from py_autodoc.verify.half_range import HalfRange, half_notes
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
    tags: bool = True,
    goal: str = "",
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
        tags: write the module of each node; False writes no metadata of nodes, for a smaller file.
        goal: ``balanced``, ``size``, ``latency`` or ``accuracy``, by which the method ``auto`` chooses.
        progress: called with each step.

    Raises:
        OptionError: the recipe is invalid, or there is no data.
        InputError: the model or the data cannot be used.
        RequirementError: ONNX Runtime is missing.
        AnalysisError: its tools or sessions reject the model.
        OutputError: the result cannot be written.
    """
    report_progress = progress or (lambda step, done, total: None)
    used_recipe = recipe or Recipe()
    if goal and used_recipe.method != AUTO:
        raise OptionError("goal-without-search", "A goal belongs to the method auto.", "Add --method auto.")
    settings = _Settings(bindings, input_shapes, compare, tags)
    without_data = data is None and not random_data
    open_weights = compare and not without_data and _weights_are_open(used_recipe)
    if used_recipe.method != AUTO and not open_weights:
        count = _Count(samples, seed, random_data)
        return _quantize(model, out, data, used_recipe, count, settings, force, None, report_progress)
    if without_data:
        raise OptionError(
            "no-data",
            "A search needs samples of real inputs, for ranges and scores.",
            "Pass them with --data. --random-data uses synthetic values, whose scores mean little.",
        )
    targets(out, inputs=[model, *_files(data)], force=force)
    analysis = analysis_at_sizes(model, data, bindings, input_shapes)
    check_memory(analysis)
    chosen, source = choose_samples(
        data, input_specs(analysis), samples, seed, (DATA_SAMPLES, SYNTHETIC_SAMPLES)
    )

    tried: list[Quantization] = []

    def run(path: Path, one: Recipe, ranges: Sequence[Sample], held: Sequence[Sample]) -> Quantization:
        count = _Count(len(ranges), seed, True)
        made = _quantize(model, path, ranges, one, count, settings, True, (held, source), _silent)
        tried.append(made)
        return made

    def trial(done: int, total: int) -> None:
        report_progress("trying recipes", done, total)

    if open_weights:
        best, found = weights_by_trial(run, used_recipe, chosen, trial)
        ranges, held = list[Sample](chosen), list[Sample](chosen)
    else:
        best, found = search(run, used_recipe, chosen, goal or GOALS[0], trial)
        ranges, held = map(list, split(chosen))
    count = _Count(len(ranges), seed, True)
    result = _quantize(model, out, ranges, best, count, settings, force, (held, source), report_progress)
    # Its time is that of its trial, by which it was chosen: measured again it would contradict the table.
    of_trials = [made.cpu_time for made in tried if made.recipe == result.recipe and made.cpu_time]
    times = of_trials[0] if of_trials else result.cpu_time
    notes = [] if open_weights else search_notes(found, result.bytes_before)
    tagged = settings.tags and result.tagged is not None
    costs = _cost_notes(best, result.bytes_before, result.bytes_after, times, tagged, found)
    findings = [*notes, *result.findings, *costs]
    return msgspec.structs.replace(result, search=found, cpu_time=times, findings=findings)


def _weights_are_open(recipe: Recipe) -> bool:
    """True if the type of static weights is open and the processor has no type that is always best."""
    target = recipe.target or current_runtime()
    return recipe.method == "static" and not recipe.weights and computation(target).kernel == "pairs"


@dataclass(frozen=True, slots=True)
class _Settings:
    bindings: Mapping[str, int] | None
    input_shapes: Mapping[str, Sequence[int]] | None
    compare: bool
    tags: bool


@dataclass(frozen=True, slots=True)
class _Count:
    samples: int | None
    seed: int
    random_data: bool


def _silent(step: str, done: int, total: int) -> None:
    pass


def _quantize(
    model: PathLike,
    out: PathLike,
    data: Any,
    used_recipe: Recipe,
    count: _Count,
    settings: _Settings,
    force: bool,
    held: tuple[Sequence[Sample], str] | None,
    report_progress: Step,
) -> Quantization:
    """Write a file. ``held`` has the samples for scores and the source of all; None: those for ranges."""
    samples, seed, random_data = count.samples, count.seed, count.random_data
    bindings, input_shapes, compare = settings.bindings, settings.input_shapes, settings.compare
    name = base_name(model)
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
    proto = load_float_model(model)
    changes = modernize(proto, name, "static" if plugin else chosen.method)
    constants = {} if chosen.method == "fp16" else mask_constants(proto, name)
    chosen = chosen if plugin else fit_recipe(chosen, used_recipe, proto, name)
    analysis = analysis_at_sizes(model, data, bindings, input_shapes)
    check_memory(analysis)
    inputs, data_source = choose_samples(
        data, input_specs(analysis), samples, seed, (DATA_SAMPLES, SYNTHETIC_SAMPLES)
    )
    compared = inputs[:COMPARED_SAMPLES]
    if held is not None:
        compared, data_source = list(held[0])[:COMPARED_SAMPLES], held[1]
    folded = prepare_model(proto, name, fold=chosen.method in ("static", "fp16"))
    names = excluded_nodes(chosen.exclude, analysis, proto)
    large = too_large(proto)
    if large:
        targets_by_kind = targets(out, data=True, inputs=inputs_read, force=force)
    with output_failed("temporary files"), scratch() as folder:
        # Messages about the result name it as the user does. Its weights stay in the file of ``quantized``.
        final = folder / targets_by_kind[0].path.name
        stems = [
            stem for stem in ("prepared", "quantized", "made") if not final.name.lower().startswith(stem)
        ]
        source, quantized = (folder / f"{stem}.onnx" for stem in stems[:2])
        check_space(proto, folder)
        declared = detach_outputs(proto)
        store(proto, source)
        proto = _load_tagged(source)
        report_progress("quantizing", 1, 4)
        ranges = inputs if chosen.method == "static" or plugin else []
        static = chosen.method == "static"
        types = None if ALL in chosen.ops else chosen.ops
        masked = masked_nodes(source, proto, constants, ranges, name, types) if static else []
        others = other_float_nodes(proto, analysis) if chosen.method in ("static", "dynamic") else []
        with _blaming(model):
            apply(run, source, quantized, chosen, ranges, [*names, *masked, *others], name)
        report_progress("tags", 2, 4)
        made = _recipe_json(chosen, runtime, data_source, len(inputs))
        share = _complete(proto, quantized, final, made, declared)
        report_progress("comparing", 3, 4)
        outputs, kernels = list[VerifiedOutput](), None
        times: CpuTime | None = None
        half: HalfRange | None = None
        if compare:
            with _blaming(model):
                verification = verify(
                    final,
                    model,
                    compared,
                    bindings=analysis.types.bindings,
                    input_shapes=input_shapes,
                    target=chosen.target,
                )
            outputs, kernels, half = verification.outputs, verification.kernels, verification.half
            if not too_large(onnx.load(final, load_external_data=False)) and not large:
                times = cpu_time(model, final, compared)
        result = onnx.load(final)
        form = written_form(result)
        signed = chosen.method in ("static", "dynamic") and chosen.weights == "s8"
        pairs = clipping_pairs(result) if signed else None
        machine = cpu()
        made_up = data is None or data_source.startswith(SYNTHETIC)
        findings = [*half_notes(half, "Keep these nodes and those that read them in float32 with --exclude.")]
        findings += _findings(chosen, outputs, kernels, pairs, made_up, len(masked), form)
        if not settings.tags:
            _strip_metadata(result)
        restore_names(result.graph, original_names(model))
        # Remove the mark that restoring the tags left in the file.
        unmark(result)
        with staging(targets_by_kind[0].path) as stage:
            store(result, stage / targets_by_kind[0].path.name)
            size = sum(path.stat().st_size for path in finish(stage, targets_by_kind))
    bytes_before = analysis.model.file.bytes + analysis.model.file.external_bytes
    if held is None:  # a search adds its own, which know the other recipes
        findings += _cost_notes(chosen, bytes_before, size, times, settings.tags and share is not None)
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
        changes=changes,
        form=form,
        folded=folded,
        excluded=names,
        bytes_before=bytes_before,
        bytes_after=size,
        cpu_time=times,
        nodes=len(result.graph.node),
        tagged=share if settings.tags else None,
        outputs=outputs,
        kernels=kernels,
        half=half,
        clipping=pairs,
        findings=findings,
    )


@contextmanager
def _blaming(model: PathLike) -> Iterator[None]:
    """Where a tool or a session fails, say so about the model itself if ONNX Runtime refuses that, too."""
    try:
        yield
    except (AnalysisError, ModelRefused):
        open_session(model, "Quantization", fuse=False)
        raise


def _load_tagged(source: Path) -> onnx.ModelProto:
    """Return the prepared model, tagged from the exporter's records if it has no tags yet.

    Weights of a large model stay in their file.
    """
    if table_in(to_ir(onnx.load(source, load_external_data=False))) is None:
        with suppress(InputError):  # the exporter recorded no modules
            tag_file(source, source)
    return onnx.load(source, load_external_data=False)


def _strip_metadata(model: onnx.ModelProto) -> None:
    """Remove tags, and what the exporter recorded for each node."""
    strip_tags(model)
    for node in proto_nodes(model):
        del node.metadata_props[:]
        node.ClearField("doc_string")


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


def _complete(
    source: onnx.ModelProto,
    quantized: Path,
    final: Path,
    recipe_json: str,
    declared: DetachedOutputs,
) -> float | None:
    """Complete the quantized file with the metadata of the source, its outputs, the recipe, and tags.

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
    declared.attach(proto)
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
    masked: int,
    form: WrittenForm,
) -> list[str]:
    """Return notes about the result, one sentence each."""
    findings = []
    if masked:
        findings.append(f"{plural(masked, 'node')} with values of masks, infinite or large, stay in float32.")
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
    if recipe.method == "static" and form.quantized and not {"Conv", "ConvTranspose"} & set(form.quantized):
        findings.append(
            "Only matrix products are quantized, for which --method dynamic is often more accurate and "
            "faster on a CPU. --method auto tries both."
        )
    if recipe.method == "fp16":
        findings.append(
            "ONNX Runtime's CPU kernels run float16 slower than float32; use it for GPUs or smaller files."
        )
    return findings


def _cost_notes(
    recipe: Recipe, before: int, after: int, times: CpuTime | None, tagged: bool, found: Search | None = None
) -> list[str]:
    """Return notes on a file that is larger or slower than the float model, with the way out.

    ``found`` is the search that chose the recipe: what it tried without success is no way out.
    """
    notes = []
    searched = found is not None and found.goal in GOALS
    smaller = found is not None and any(one.close and (one.bytes or before) < before for one in found.trials)
    if after > before:
        ways = ["Leave the metadata of nodes out with --no-tags"] if tagged else []
        ways += ["Let --method auto --for size choose"] if not searched or smaller else []
        way = ", or ".join([*ways[:1], *(one[0].lower() + one[1:] for one in ways[1:])])
        notes.append(f"The file is larger than the float model.{f' {way}.' if way else ''}")
    here = recipe.target in ("", current_runtime())
    if times is not None and times.speed < SLOWER and here:
        others = [one for one in ("static", "dynamic") if one != recipe.method]
        way = (
            f"Try --method {' or '.join(others)}, let --method auto --for latency choose, or keep the float "
            "model."
        )
        if found is not None and searched:
            faster = [one.name for one in found.trials if one.close and (one.speed or 0) > FASTER]
            way = (
                f"--for latency chooses among those that are faster and close: {', '.join(faster)}."
                if faster
                else "No recipe that is close is faster: for speed, keep the float model."
            )
        notes.append(
            f"The file takes more CPU time than the float model: {times.quantized_ms:.3g} ms instead of "
            f"{times.float_ms:.3g} ms in one thread. {way}"
        )
    return notes


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
            f"{output.name}: sums of u8 and s8 saturate, which costs {file - kernel:.1f} dB. "
            f"{remedy(kernels.target) if kernels else REMEDY}"
        )
    else:
        notes.append(
            f"{output.name}: ONNX Runtime's fused and integer kernels lose {file - kernel:.1f} dB more than "
            f"the file does ({kernel:.1f} instead of {file:.1f} dB). Find the layer with `verify`, and keep "
            "it in float with --exclude."
        )
    return notes
