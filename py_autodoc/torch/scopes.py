"""Modules of a PyTorch model: names, tensors, modes, and which of them ran."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from py_autodoc.tags.model import Tags
from py_autodoc.tags.naming import Namer
from py_autodoc.tags.sidecar import ModuleInfo

Modules = dict[str, torch.nn.Module]


def named(model: torch.nn.Module) -> tuple[Modules, dict[str, str]]:
    """Return path → module under its first name, and every other name → the first name.

    A module inside an alias is not listed again: its name follows from that of the alias.
    """
    first: dict[int, str] = {}  # by identity, since a module may define its own equality
    modules: Modules = {}
    aliases: dict[str, str] = {}
    pending: list[tuple[str, torch.nn.Module]] = [("", model)]
    while pending:
        path, module = pending.pop()
        if id(module) in first:
            aliases[path] = first[id(module)]
            continue
        first[id(module)] = path
        modules[path] = module
        children = [(name, child) for name, child in module._modules.items() if child is not None]
        pending += [(f"{path}.{name}" if path else name, child) for name, child in reversed(children)]
    return modules, aliases


def kind(module: torch.nn.Module) -> str:
    """Return the class of a module with its package."""
    return f"{type(module).__module__}.{type(module).__qualname__}"


def namer_of(model: torch.nn.Module, keep: tuple[str, ...]) -> Namer:
    """Return the names of all modules of a model."""
    modules, aliases = named(model)
    return Namer({path: kind(module) for path, module in modules.items()}, aliases, keep)


def describe(model: torch.nn.Module) -> dict[str, ModuleInfo]:
    """Return the facts about modules for the sidecar. Tensors are named, not read."""
    modules, aliases = named(model)
    inside: dict[str, list[str]] = {}
    described: dict[str, ModuleInfo] = {}
    for path in reversed(modules):  # children before parents
        module = modules[path]
        own_names = [name for name, _ in module.named_parameters(recurse=False, remove_duplicate=False)]
        names = list(own_names)
        children: dict[str, str] = {}
        for name, child in module._modules.items():
            if child is not None:
                children[name] = type(child).__name__
                full_name = f"{path}.{name}" if path else name
                names += [f"{name}.{inner}" for inner in inside.get(aliases.get(full_name, full_name), ())]
        inside[path] = names
        buffers = tuple(name for name, _ in module.named_buffers(recurse=False, remove_duplicate=False))
        described[path] = ModuleInfo(
            kind(module), children, forward_args(module), tuple(names), tuple(own_names), buffers
        )
    return {path: described[path] for path in modules}


def forward_args(module: torch.nn.Module) -> tuple[str, ...]:
    """Return the argument names of ``forward``; empty without a signature."""
    try:
        names = list(inspect.signature(type(module).forward).parameters)
    except (TypeError, ValueError):
        return ()
    return tuple(names[1:])


def tensor_names(model: torch.nn.Module) -> frozenset[str]:
    """Return the full names of all parameters and buffers, including aliases."""
    parameters = (name for name, _ in model.named_parameters(remove_duplicate=False))
    buffers = (name for name, _ in model.named_buffers(remove_duplicate=False))
    return frozenset((*parameters, *buffers))


@contextmanager
def evaluating(model: torch.nn.Module) -> Iterator[None]:
    """Switch to evaluation mode in the ``with`` block and restore the mode of each module."""
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        yield
    finally:
        for module, training in modes:
            module.training = training


@contextmanager
def watching(model: torch.nn.Module | None) -> Iterator[set[str]]:
    """Collect the paths of the modules that run in the ``with`` block; empty without a model.

    Modules in branches of ``torch.cond`` and similar are traced by torch's compiler, which runs no hooks;
    they are not in the set.
    """
    ran: set[str] = set()
    hooks = []

    def hook_for(path: str) -> torch.utils.hooks.RemovableHandle:
        def before(_module: torch.nn.Module, _args: object) -> None:
            if not torch.compiler.is_dynamo_compiling():
                ran.add(path)

        return modules[path].register_forward_pre_hook(before)

    modules = named(model)[0] if model is not None else {}
    try:
        hooks += [hook_for(path) for path in modules if not isinstance(modules[path], torch.jit.ScriptModule)]
        yield ran
    finally:
        for hook in hooks:
            hook.remove()


def executed_of(ran: set[str], tags: Tags) -> set[str] | None:
    """Return ``ran`` if it is complete, else None.

    It is incomplete if the model has control flow, since hooks do not run in branches.
    """
    graphs = {node.graph for node in tags.records}
    return ran if ran and len(graphs) == 1 else None
