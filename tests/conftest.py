"""How the tests share a machine.

Each test process computes with one thread: there is one for each core (``make test-py``), and what the tests
compute is small. It must be said before numpy and torch are loaded.

With ``--dist loadfile`` a file's tests run in one process, so that what a module makes is made once. The
files that read the same exports of PyTorch are one unit, as are those that read ONNX's node tests, and what
takes long begins first, so that no process is left alone with it at the end. Without pytest-xdist nothing of
this matters.

What is loaded to find the tests stays until the end, so the garbage collector need not look at it.
"""

from __future__ import annotations

import atexit
import functools
import gc
import os
import re
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# Processes share the cores: how long an example takes says nothing. On CI Hypothesis has such a profile.
settings.register_profile(
    "shared-cores", settings.default, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
if settings.get_current_profile_name() == "default":
    settings.load_profile("shared-cores")

for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")
# What a command prints in a CI runner is tested by setting these variables; elsewhere it is as for a user.
for name in (
    "CI",
    "GITHUB_ACTIONS",
    "GITEA_ACTIONS",
    "TF_BUILD",
    "TEAMCITY_VERSION",
    "GITLAB_CI",
    "JENKINS_URL",
):
    os.environ.pop(name, None)
# No test uses the network; huggingface_hub reads this when it is imported, by whichever file comes first.
os.environ["HF_HUB_OFFLINE"] = "1"
# The interpreter frees everything at its end; bindings report what is left then. Before it, pytest collects
# garbage, which has nothing to find in what is frozen.
atexit.register(gc.unfreeze)
# jsonschema would compile a grammar of international addresses, for a format that no schema here has: a
# second and a half in each process.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

ZOO = (
    "tests/torch/test_export_models.py",
    "tests/extract/test_extract_zoo.py",
    "tests/torch/test_restore_tools.py",
    "tests/torch/test_export_api.py",
    "tests/torch/test_export_branches.py",
)
"""They share what ``export_zoo.exported`` keeps in memory."""
NODE_TESTS = (
    "tests/to_torch/test_to_torch_nodes.py",
    "tests/truth/test_node_reports.py",
    "tests/truth/test_node_models.py",
    "tests/truth/test_mutated_node_models.py",
    "tests/truth/test_symbolic_node_models.py",
    "tests/costs/test_node_models.py",
    "tests/blocks/test_attention_expansions.py",
)
"""They share what ``onnx_node_tests.node_cases`` keeps in memory."""
LONG = (
    *ZOO,
    *NODE_TESTS,
    "tests/to_torch/test_to_torch_corpus.py",
    "tests/graph/rebatch/test_rebatch_files.py",
    "tests/render/test_engine.py",
    "tests/fuzz/test_fuzz_commands.py",
    "tests/torch/test_generation.py",
    "tests/bad/test_bad_report.py",
    "tests/hf/test_pipeline_minilm.py",
    "tests/keras/test_keras_hostile.py",
    "tests/hf/test_hf_export.py",
    "tests/to_torch/test_to_torch_models.py",
    "tests/quantize/test_quantize.py",
    "tests/render/test_plots.py",
    "tests/docs/test_site.py",
    "tests/graph/rebatch/test_rebatch_exports.py",
    "tests/cli/test_cli_streams.py",
    "tests/widget/test_widget.py",
    "tests/torch/test_export_hf_plain.py",
    "tests/server/test_server_jobs.py",
    "tests/server/test_server_tasks.py",
)
"""The longest first."""
WHOLLY_SLOW = re.compile(r"^pytestmark = (\[[^\]]*)?pytest\.mark\.slow\b", re.MULTILINE)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Without the slow tests, a file of slow tests only is not imported: many import torch."""
    if config.option.markexpr != "not slow" or collection_path.suffix != ".py":
        return None
    return WHOLLY_SLOW.search(collection_path.read_text(encoding="utf-8")) is not None or None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep PyTorch, the other libraries and 10,000 tests out of every later garbage collection.

    Otherwise they take up to a quarter of the time of finding the tests, and a twelfth of running them.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(20_000, 5, 10)
        gc.enable()


@pytest.fixture(scope="session", autouse=True)
def operators_read_once() -> Iterator[None]:
    """What PyTorch makes anew for each export is made once: of a small export that is most.

    It parses the source of its ONNX operators, reads the signature of each, and looks up all its composite
    operators by name for each of its forty namespaces.
    """
    if "torch" not in sys.modules:
        yield
        return
    import torch
    from torch._export import utils
    from torch.onnx._internal._lazy_import import onnxscript_apis
    from torch.onnx._internal.exporter import _schemas

    look_up = utils._materialize_cpp_cia_ops
    known: list[str] = []

    def look_up_new() -> None:
        there = torch._C._dispatch_get_registrations_for_dispatch_key("CompositeImplicitAutograd")
        if there != known:
            look_up()
            known[:] = there

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(onnxscript_apis, "get_torchlib_ops", functools.cache(onnxscript_apis.get_torchlib_ops))
        patch.setattr(
            _schemas, "op_signature_from_function", functools.cache(_schemas.op_signature_from_function)
        )
        patch.setattr(utils, "_materialize_cpp_cia_ops", look_up_new)
        yield


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """In a process of several: the long files first; the others stay in their order."""
    if hasattr(config, "workerinput"):
        place = {file: at for at, file in enumerate(LONG)}
        items.sort(key=lambda item: place.get(_file(item.nodeid), len(LONG)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """``loadfile`` with files that share as one."""
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class ByFile(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = _file(nodeid)
            return next((group[0] for group in (ZOO, NODE_TESTS) if file in group), file)

    config.option.loadscopereorder = False
    return ByFile(config, log)


def _file(nodeid: str) -> str:
    return nodeid.split("::", 1)[0]
