"""How often the task is named rightly, over all models of ``tests/data``; never from a file's name."""

import zipfile
from collections import Counter
from pathlib import Path

import pytest
from identity_truth import FILES, NONE, ZOO

from py_autodoc.report.pipeline.analysis import Options, run_analysis

DATA = Path(__file__).parent.parent / "data"


def score(found):
    """How readings compare with the truth: ``right``, ``right and sure``, ``wrong`` …; and the faults."""
    counts, faults = Counter(), []
    for name, (wanted, task) in found.items():
        if task.known == "unknown":
            counts["rightly unknown" if wanted == NONE else "unknown"] += 1
            continue
        verdict = "right" if task.id == wanted else "wrong"
        counts[verdict] += 1
        if task.known != "likely":
            counts[f"{verdict} and sure"] += 1
        if verdict == "wrong":
            faults.append(f"{name}: {task.known} {task.id}, not {wanted}")
    return counts, faults


def judged(found, share):
    counts, faults = score(found)
    print(dict(counts), faults)
    named = counts["right"] / (len(found) - sum(wanted == NONE for wanted, _ in found.values()))
    assert not counts["wrong and sure"], faults
    assert named >= share, (named, counts, faults)


def test_files_are_all_judged():
    folders = ("models", "stripped")
    assert {f"{f}/{path.stem}" for f in folders for path in (DATA / f).glob("*.onnx")} == set(FILES)


@pytest.mark.slow
@pytest.mark.parametrize("assume", [False, True], ids=["free", "bound"])
def test_files(assume):
    # As bytes: not even the analysis knows what the file is called.
    found = {
        name: (
            wanted,
            run_analysis((DATA / f"{name}.onnx").read_bytes(), Options(assume=assume)).identified.task,
        )
        for name, wanted in FILES.items()
    }
    judged(found, 0.95)


@pytest.mark.slow
def test_zoo():
    with zipfile.ZipFile(DATA / "zoo.zip") as zoo:
        assert {name.split(".")[0] for name in zoo.namelist()} == set(ZOO)
        found = {
            name: (ZOO[name.split(".")[0]], run_analysis(zoo.read(name)).identified.task)
            for name in zoo.namelist()
        }
    judged(found, 0.95)
