"""The weights of a model, found by layer in any file format and read one at a time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from py_autodoc.keras.archive import LEGACY, Archive
from py_autodoc.keras.conversion_errors import broken, too_large
from py_autodoc.keras.hdf_reader import RawDataset, RawGroup
from py_autodoc.keras.layer_weight_slots import ALIASES, Slot, attribute, slots
from py_autodoc.keras.safe_hdf5 import most_weights
from py_autodoc.keras.spec import LayerSpec, ModelSpec

Key = tuple[tuple[str, ...], str]
_CONTAINERS = ("layers", "_layer_checkpoint_dependencies")


class ModelWeights:
    """All weights of a file by layer and name."""

    def __init__(self, datasets: Mapping[Key, RawDataset], file: str) -> None:
        self._datasets = datasets
        self._file = file

    def shape(self, path: tuple[str, ...], name: str) -> tuple[int, ...]:
        """Return the shape in the file. Raises: InputError if the weight is missing."""
        return self._stored(path, name).shape

    def take(self, path: tuple[str, ...], name: str, shape: tuple[int, ...]) -> npt.NDArray[Any]:
        """Read a weight as float32.

        Raises:
            InputError: it is missing, or has another shape than its layer needs.
        """
        stored = self._stored(path, name)
        if stored.shape != shape:
            raise broken(
                self._file,
                f"{'/'.join(path)}: {name} has the shape {_sizes(stored.shape)}, "
                f"its layer needs {_sizes(shape)}.",
            )
        return stored.read().astype(np.float32, copy=False)

    def _stored(self, path: tuple[str, ...], name: str) -> RawDataset:
        dataset = self._datasets.get((path, name))
        if dataset is None:
            raise broken(self._file, f"{'/'.join(path)}: the file has no {name} for it.")
        return dataset

    @property
    def parameters(self) -> int:
        """Number of elements in all weights."""
        return sum(int(np.prod(dataset.shape, dtype=np.int64)) for dataset in self._datasets.values())

    @property
    def kinds(self) -> list[str]:
        """Element types in the file."""
        return sorted({dataset.kind for dataset in self._datasets.values()})


def find(archive: Archive, model: ModelSpec) -> ModelWeights:
    """Find the weights of a model without reading them.

    Raises:
        InputError: a weight is missing, or a layer has other weights than its class.
        LimitError: their total size exceeds the limit.
    """
    datasets = _legacy(archive, model) if archive.form == LEGACY else _numbered(archive, model)
    total = sum(stored.nbytes for stored in datasets.values())
    max_weights = most_weights(archive.size)
    if total > max_weights:
        raise too_large(archive.name, "memory_bytes", total, max_weights, "bytes of weights")
    return ModelWeights(datasets, archive.name)


def _legacy(archive: Archive, model: ModelSpec) -> dict[Key, RawDataset]:
    """Find the weights in ``.h5``: one flat list per layer, trainable weights first."""
    layer_names = archive.weights.texts("layer_names")
    if layer_names is None:
        raise broken(archive.name, "its model_weights do not list their layers.")
    listed_names, datasets = set(layer_names), {}
    for spec in model.layers.values():
        expected = list(slots(spec, (spec.name,)))
        if not expected:
            continue
        group = archive.weights.group(spec.name) if spec.name in listed_names else None
        names = group.texts("weight_names") if group is not None else None
        if group is None or not names:
            raise broken(archive.name, f"{spec.label}: the file has no weights for it.")
        order = _order(expected, names)
        if order is None:
            raise broken(
                archive.name,
                f"{spec.label}: the file has the weights {_names_text(names)}, its layer needs "
                f"{_names_text([slot.name for slot in expected])}.",
            )
        for slot, name in zip(order, names, strict=True):
            stored = group.dataset(name)
            if stored is None:
                raise broken(archive.name, f"{spec.label}: the file lists {name} and does not have it.")
            datasets[slot.path, slot.name] = stored
    return datasets


def _order(expected: list[Slot], names: list[str]) -> list[Slot] | None:
    """Return the slots in the order of the file's list; None if the weights differ."""
    first = [slot for slot in expected if slot.trainable] + [slot for slot in expected if not slot.trainable]
    for order in (first, expected):
        if len(order) == len(names) and all(map(_same, order, names)):
            return order
    return None


def _same(slot: Slot, name: str) -> bool:
    last = re.sub(r":\d+$", "", name.rpartition("/")[2])
    # Older versions append a number to a second variable of the same name.
    return re.sub(r"_\d+$", "", last) in {slot.name, *ALIASES.get(slot.name, ())}


def _sizes(shape: tuple[int, ...]) -> str:
    return "×".join(map(str, shape)) or "a number"


def _names_text(names: list[str]) -> str:
    return ", ".join(names[:8]) + (" …" if len(names) > 8 else "") or "none"


def _numbered(archive: Archive, model: ModelSpec) -> dict[Key, RawDataset]:
    """Find the weights in ``.keras``: one group per layer with numbered weights."""
    datasets: dict[Key, RawDataset] = {}
    groups = _Groups(archive.weights, model)
    for spec in model.layers.values():
        by_layer: dict[tuple[str, ...], list[Slot]] = {}
        for slot in slots(spec, (spec.name,)):
            by_layer.setdefault(slot.path, []).append(slot)
        for path, slots_of_layer in by_layer.items():
            group = groups.group_at(path)
            for number, slot in enumerate(slots_of_layer):
                stored = group.dataset(f"vars/{number}") if group is not None else None
                if stored is None:
                    raise broken(archive.name, f"{'/'.join(path)}: the file has no {slot.name} for it.")
                datasets[slot.path, slot.name] = stored
    return datasets


class _Groups:
    """Maps layers to groups of the file, which are named by class and number."""

    def __init__(self, top: RawGroup, model: ModelSpec) -> None:
        self._cache: dict[tuple[str, ...], RawGroup | None] = {(): top}
        self._add((), model)

    def group_at(self, path: tuple[str, ...]) -> RawGroup | None:
        """Return the group of a layer; None if there is none."""
        if path not in self._cache:
            above = self.group_at(path[:-1])
            self._cache[path] = _attribute(above, path[-1]) if above is not None else None
        return self._cache[path]

    def _add(self, path: tuple[str, ...], model: ModelSpec) -> None:
        """Add the layers of a model and of models in it; nesting was limited when it was parsed."""
        top = self.group_at(path)
        container = next(filter(None, (top.group(name) for name in _CONTAINERS)), None) if top else None
        layers = [spec for spec in model.layers.values() if not spec.kind.startswith("ops.")]
        names = _group_names(container, layers)
        for spec in layers:
            name = names.get(spec.name)
            group = container.group(name) if container is not None and name else None
            inner = (*path, spec.name)
            self._cache[inner] = group
            self._inside(inner, spec)

    def _inside(self, path: tuple[str, ...], spec: LayerSpec) -> None:
        if spec.model is not None:
            self._add(path, spec.model)
        for key, child in spec.parts.items():
            if not key.startswith("cells/"):
                self._inside((*path, attribute(spec, key)), child)
        cells = [cell for key, cell in spec.parts.items() if key.startswith("cells/")]
        if cells:
            above = self.group_at((*path, "cells"))
            named = _group_names(above, cells)
            for number, cell in enumerate(cells):
                group = above.group(named[cell.name]) if above is not None and cell.name in named else None
                cell_path = (*path, "cells", str(number))
                self._cache[cell_path] = group


def _attribute(group: RawGroup, name: str) -> RawGroup | None:
    """Return a layer that another one holds; some versions keep the underscore of the attribute."""
    return group.group(name) or group.group(f"_{name}")


def _group_names(container: RawGroup | None, layers: Iterable[LayerSpec]) -> dict[str, str]:
    """Return layer → group: by the stored name, else by counting classes as Keras does."""
    if container is None:
        return {}
    names: dict[str, str] = {}
    for name in container.names():
        group = container.group(name)
        variables = group.group("vars") if group is not None else None
        stored_name = variables.attribute("name") if variables is not None else None
        if stored_name is not None:
            names[stored_name] = name
    named = bool(names)
    counted: dict[str, int] = {}
    for spec in layers:
        base = snake_case(spec.kind)
        number = counted[base] = counted.get(base, -1) + 1
        if not named:
            names[spec.name] = f"{base}_{number}" if number else base
    return names


def snake_case(kind: str) -> str:
    """Convert ``Conv2D`` to ``conv2d``, as Keras names groups."""
    kind = "Functional" if kind == "Model" else kind
    kind = re.sub(r"\W+", "", kind)
    kind = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", kind)
    return re.sub("([a-z])([A-Z])", r"\1_\2", kind).lower()
