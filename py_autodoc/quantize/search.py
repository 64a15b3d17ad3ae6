"""Try the recipes that suit a model and its target, and choose one."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from py_autodoc.errors import AutodocError, InputError, OptionError
from py_autodoc.int8_kernels.targets import COMPUTATIONS
from py_autodoc.quantize.document import GAP_DB, Quantization
from py_autodoc.quantize.kernels import current_runtime
from py_autodoc.quantize.recipe import STATIC_OPS, Recipe
from py_autodoc.quantize.search_document import Search, Trial
from py_autodoc.quantize.speed import FASTER
from py_autodoc.samples import Sample
from py_autodoc.temporary import scratch

GOALS = ("balanced", "size", "latency", "accuracy")
CLOSE_DB, CLOSE_AGREEMENT = 20.0, 0.99
"""Results are close with this agreement of classes, or without classes from this ratio on."""
ENOUGH_DB = 30.0
"""Ratio from which on types of weights are chosen by speed alone."""
_HELD_BACK = 16
Quantize = Callable[[Path, Recipe, Sequence[Sample], Sequence[Sample]], Quantization]
"""Writes a file: path, recipe, samples for ranges, samples for scores."""


def candidates(recipe: Recipe) -> dict[str, Recipe]:
    """Return the recipes to try by name, with all settings of ``recipe`` that they leave open.

    Raises: OptionError: the recipe sets what is searched for, or an unknown target.
    """
    given = recipe.weights or recipe.activations or recipe.format or recipe.ops
    if given or recipe.per_channel is not None:
        raise OptionError(
            "auto-chooses",
            "auto chooses format, operators, types and scales.",
            "Omit these options, or name a method.",
        )
    target = recipe.target or current_runtime()
    if target not in COMPUTATIONS:
        raise OptionError(
            "bad-recipe", f"target: {target[:40]!r} is unknown.", f"Choose one of {', '.join(COMPUTATIONS)}."
        )
    base = replace(recipe, target=target)
    if target == "tensorrt":
        return {
            "static s8·s8": replace(base, method="static"),
            "fp16": replace(base, method="fp16"),
        }
    saturates = COMPUTATIONS[target].kernel == "pairs"
    full, fast = ("u8", "s7") if saturates else ("s8", "s8")
    return {
        **{
            f"static u8·{weights}": replace(base, method="static", weights=weights)
            for weights in dict.fromkeys((fast, full, "s7"))
        },
        f"static u8·{fast} with Add": replace(base, method="static", weights=fast, ops=[*STATIC_OPS, "Add"]),
        f"dynamic u8·{full}": replace(base, method="dynamic", weights=full),
        "int8 weights": replace(base, method="int8-weights"),
        "int4 weights": replace(base, method="int4-weights"),
    }


def split(samples: Sequence[Sample]) -> tuple[Sequence[Sample], Sequence[Sample]]:
    """Return the samples for ranges and those held back for scores; a single one serves both."""
    held = min(_HELD_BACK, len(samples) // 4 or len(samples) - 1)
    return (samples[:-held], samples[-held:]) if held else (samples, samples)


def search(
    run: Quantize, recipe: Recipe, samples: Sequence[Sample], goal: str, progress: Callable[[int, int], None]
) -> tuple[Recipe, Search]:
    """Return the recipe for a goal, and all trials.

    Args:
        run: quantizes and compares.
        recipe: settings that all recipes share: target, calibration, nodes to exclude.
        samples: values of the inputs; a fourth is held back for the scores.
        goal: one of ``GOALS``.
        progress: called with the number of recipes tried and the total.

    Raises:
        OptionError: an unknown goal.
        InputError: no recipe gives a file; the reason is that of the first.
    """
    if goal not in GOALS:
        raise OptionError("bad-goal", f"Unknown goal {goal[:40]!r}.", f"Choose one of {', '.join(GOALS)}.")
    recipes = candidates(recipe)
    ranges, held = split(samples)
    trials, before = _try(run, recipes, ranges, held, progress)
    chosen = choose(trials, goal, before)
    if chosen is None:
        raise InputError(
            "no-recipe", f"No recipe applies: {trials[0].failed}", "Name a method with --method."
        )
    count = 0 if held is ranges else len(held)
    return recipes[chosen.name], Search(goal=goal, held_back=count, trials=trials, chosen=chosen.name)


def weights_by_trial(
    run: Quantize, recipe: Recipe, samples: Sequence[Sample], progress: Callable[[int, int], None]
) -> tuple[Recipe, Search]:
    """Return a static recipe with the weights that suit a processor whose sums of u8 and s8 saturate.

    s7 weights are faster than u8, and mostly as accurate. u8 is taken if s7 loses more than 3 dB,
    counted up to 30 dB: a difference above rarely changes what a model decides.
    """
    recipes = {f"static u8·{weights}": replace(recipe, weights=weights) for weights in ("s7", "u8")}
    trials, _ = _try(run, recipes, samples, samples, progress)
    s7, u8 = trials
    more = min(_accuracy(u8), ENOUGH_DB) - min(_accuracy(s7), ENOUGH_DB)
    loses = not u8.failed and (bool(s7.failed) or more > GAP_DB)
    chosen = u8 if loses else s7
    return recipes[chosen.name], Search(goal="weights", held_back=0, trials=trials, chosen=chosen.name)


def _try(
    run: Quantize,
    recipes: Mapping[str, Recipe],
    ranges: Sequence[Sample],
    held: Sequence[Sample],
    progress: Callable[[int, int], None],
) -> tuple[list[Trial], int]:
    """Return a trial of each recipe, and the bytes of the float model."""
    trials, before = list[Trial](), 0
    with scratch() as folder:
        for number, (name, one) in enumerate(recipes.items()):
            progress(number, len(recipes))
            try:
                made = run(folder / f"{number}.onnx", one, ranges, held)
            except AutodocError as error:
                trials.append(Trial(name=name, recipe=one, failed=str(error)))
                continue
            before = made.bytes_before
            trials.append(_trial(name, made))
    return trials, before


def _trial(name: str, made: Quantization) -> Trial:
    errors = [
        error
        for error in (output.error_target or output.error_fused or output.error for output in made.outputs)
        if error.sqnr_db is not None
    ]
    agreements = [output.agreement for output in made.outputs if output.agreement is not None]
    sqnr = min((error.sqnr_db for error in errors if error.sqnr_db is not None), default=None)
    agreement = min(agreements, default=None)
    finite = all(output.error.relative_error is not None for output in made.outputs)
    close = agreement >= CLOSE_AGREEMENT if agreement is not None else sqnr is None or sqnr >= CLOSE_DB
    return Trial(
        name=name,
        recipe=made.recipe,
        sqnr_db=sqnr,
        agreement=agreement,
        bytes=made.bytes_after,
        speed=None if made.cpu_time is None else made.cpu_time.speed,
        close=close and finite and not (made.half is not None and made.half.overflows),
    )


def choose(trials: Sequence[Trial], goal: str, before: int) -> Trial | None:
    """Return the trial for a goal; None if no recipe gave a file.

    ``accuracy`` takes the highest ratio of those that are smaller than the float model, whose size is
    ``before``. Other goals take the best of those that are close, or the highest ratio if none is.
    """
    written = [trial for trial in trials if not trial.failed]
    smaller = [trial for trial in written if trial.bytes is not None and trial.bytes < before] or written
    close = [trial for trial in smaller if trial.close]
    if goal == "accuracy" or not close:
        return max(smaller, key=_accuracy, default=None)
    if goal == "size":
        return min(close, key=lambda trial: (trial.bytes or 0, -_accuracy(trial)))
    if goal == "latency":
        return max(close, key=lambda trial: (trial.speed or 0.0, _accuracy(trial)))
    return max(close, key=lambda trial: (_gain(trial, before), _accuracy(trial)))


def _gain(trial: Trial, before: int) -> float:
    """Return the speed-up times the reduction in size."""
    return (trial.speed or 1.0) * before / (trial.bytes or before or 1)


def _gains(trial: Trial, goal: str, before: int) -> bool:
    """Return True if a file is better than the float model in what the goal asks; ``before`` is its size."""
    smaller = trial.bytes is not None and trial.bytes < before
    elsewhere = trial.recipe.target not in ("", current_runtime())  # whose times are not measured here
    faster = elsewhere or trial.speed is None or trial.speed > FASTER
    return {"size": smaller, "latency": faster}.get(goal, smaller or faster)


def _accuracy(trial: Trial) -> float:
    return math.inf if trial.sqnr_db is None else trial.sqnr_db


def search_notes(found: Search, before: int) -> list[str]:
    """Return a note if no recipe is close to the float model, or none gains anything.

    ``before`` is the size of the float model in bytes. A recipe gains if its file is smaller or faster.
    """
    if any(trial.close for trial in found.trials):
        written = [trial for trial in found.trials if trial.bytes is not None]
        useful = [trial for trial in written if trial.close and _gains(trial, found.goal, before)]
        if useful:
            return []
        what = {"size": "smaller", "latency": "faster"}.get(found.goal, "smaller or faster")
        return [f"No recipe that is close gives a file that is {what} than the float model: keep that one."]
    return [
        f"No recipe comes close to the float model ({CLOSE_AGREEMENT:.0%} agreement, or {CLOSE_DB:.0f} dB "
        "without classes). Rank the layers with `sensitivity`, and keep some in float with --exclude."
    ]
