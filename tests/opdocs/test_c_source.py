"""The C of every operator, compiled, gives what the reference gives."""

import ctypes
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from py_autodoc.opdocs.c_node import CNode
from py_autodoc.opdocs.c_operators import c_source, data
from py_autodoc.opdocs.roles import WEIGHTS, roles
from py_autodoc.quantize.reference import OPERATORS, evaluate

sys.path.insert(0, str(Path(__file__).parents[1] / "quantize"))
from reference_cases import CASES

pytestmark = pytest.mark.slow
needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
PAIRS = [(op, types) for op, (_, pairs) in CASES.items() for types in pairs]
IDS = ["-".join([op, *(np.dtype(one).name for one in types)]) for op, types in PAIRS]
WARNINGS = [
    "-std=c11",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-Wno-unused-function",
    "-Wno-type-limits",
    "-pedantic",
]


def compiled(folder, sources):
    """A library of C files; no product is fused with a sum unless the code says so."""
    library = folder / "all.so"
    for name, text in sources.items():
        (folder / f"{name}.c").write_text(text, encoding="utf-8")
    files = [str(folder / f"{name}.c") for name in sources]
    command = [
        "gcc",
        *WARNINGS,
        "-O1",
        "-ffp-contract=off",
        "-shared",
        "-fPIC",
        "-o",
        str(library),
        *files,
        "-lm",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return ctypes.CDLL(str(library))


def called(library, name, node):
    """The outputs of a function."""
    given = [np.ascontiguousarray(value) for _, value in data(node)]
    made = [np.zeros_like(np.ascontiguousarray(one)) for one in node.outputs]
    pointers = [one.ctypes.data_as(ctypes.c_void_p) for one in (*given, *made)]
    getattr(library, name)(*pointers)
    return made


@needs_gcc
@pytest.mark.parametrize(("op_type", "types"), PAIRS, ids=IDS)
def test_equals_the_reference(op_type, types, tmp_path):
    nodes = {}
    for seed in range(12):
        case = CASES[op_type][0](np.random.default_rng(seed), *types)
        outputs = evaluate(op_type, case.inputs, case.attributes)
        nodes[f"case_{seed}"] = CNode(op_type, case.inputs, outputs, case.attributes)
    sources = {name: c_source(name, node) for name, node in nodes.items()}
    written = {name: text for name, text in sources.items() if text is not None}
    assert len(written) >= 9
    library = compiled(tmp_path, written)
    for name in written:
        for expected, made in zip(nodes[name].outputs, called(library, name, nodes[name]), strict=True):
            np.testing.assert_array_equal(made, expected, err_msg=name)


def test_every_operator_has_c_and_roles():
    assert set(CASES) == set(OPERATORS)
    for op_type, (make, types) in CASES.items():
        case = make(np.random.default_rng(1), *types[0])
        names = [role.name for role in roles(op_type, len(case.inputs))]
        assert len(set(names)) == len(names)
        assert names[-1] == "y"
        assert WEIGHTS.get(op_type, "y") in names
