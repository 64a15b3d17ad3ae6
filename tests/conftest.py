"""How the tests share a machine.

Each test process computes with one thread: there is one for each core (``make test-py``), and what the tests
compute is small. It must be said before numpy and torch are loaded.

With ``--dist loadfile`` a file's tests run in one process, so that what a module makes is made once. The
files that read the same exports of PyTorch are one unit, and what takes long begins first, so that no
process is left alone with it at the end. Without pytest-xdist nothing of this matters.
"""

from __future__ import annotations

import functools
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")
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
LONG = (
    *ZOO,
    "tests/to_torch/test_to_torch_corpus.py",
    "tests/torch/test_export_hf_plain.py",
    "tests/to_torch/test_to_torch_models.py",
    "tests/render/test_plots.py",
    "tests/to_torch/test_to_torch_nodes.py",
    "tests/fuzz/test_fuzz_commands.py",
    "tests/cli/test_cli_streams.py",
    "tests/bad/test_bad_report.py",
    "tests/truth/test_node_reports.py",
    "tests/hf/test_hf_export.py",
    "tests/hf/test_pipeline_minilm.py",
    "tests/server/test_server_jobs.py",
)
"""The longest first."""
WHOLLY_SLOW = re.compile(r"^pytestmark = (\[[^\]]*)?pytest\.mark\.slow\b", re.MULTILINE)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Without the slow tests, a file of slow tests only is not imported: many import torch."""
    if config.option.markexpr != "not slow" or collection_path.suffix != ".py":
        return None
    return WHOLLY_SLOW.search(collection_path.read_text(encoding="utf-8")) is not None or None


@pytest.fixture(scope="session", autouse=True)
def operators_read_once() -> Iterator[None]:
    """PyTorch parses the source of its ONNX operators for each export: of a small one that is most."""
    if "torch" not in sys.modules:
        yield
        return
    from torch.onnx._internal._lazy_import import onnxscript_apis

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(onnxscript_apis, "get_torchlib_ops", functools.cache(onnxscript_apis.get_torchlib_ops))
        yield


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """In a process of several: the long files first; the others stay in their order."""
    if hasattr(config, "workerinput"):
        place = {file: at for at, file in enumerate(LONG)}
        items.sort(key=lambda item: place.get(_file(item.nodeid), len(LONG)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """``loadfile`` with the files of the zoo as one."""
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class ByFile(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = _file(nodeid)
            return ZOO[0] if file in ZOO else file

    config.option.loadscopereorder = False
    return ByFile(config, log)


def _file(nodeid: str) -> str:
    return nodeid.split("::", 1)[0]
