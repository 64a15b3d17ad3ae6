"""Text generation with a finished job's model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest_help import assert_problem

from py_autodoc.llm.serving import ServingGrid, packaged
from py_autodoc.report.pipeline.analysis import Options, run_analysis

pytestmark = pytest.mark.slow

DATA = Path(__file__).parents[1] / "data"
GPT2, RESNET = DATA / "stripped" / "gpt2.stripped.onnx", DATA / "models" / "resnet_tiny.onnx"


@pytest.fixture
def engine() -> str:
    return "real"


async def job_of(client: Any, model: Path) -> str:
    (client.root / "m.onnx").write_bytes(model.read_bytes())
    return (await client.run("m.onnx", assume=True))["id"]


async def ask(client: Any, job: str, **params: str) -> Any:
    return await client.ask("GET", "jobs", job, "serving", params=params)


async def test_the_plan_of_a_device(client: Any) -> None:
    job = await job_of(client, GPT2)
    analysis = run_analysis(str(client.root / "m.onnx"), Options(assume=True))
    for device, precision, runtime in (("l4", "fp16", ""), ("l4", "", "ort-cuda"), ("h100-sxm", "", "")):
        answer = await ask(client, job, device=device, precision=precision, runtime=runtime)
        assert answer.status == 200, answer.raw
        expected = ServingGrid(analysis).on(packaged(device, precision, runtime))
        assert answer.json == json.loads(expected.to_json())


async def test_what_cannot_be_planned(client: Any, tmp_path: Path) -> None:
    job = await job_of(client, GPT2)
    board = tmp_path / "board.json"
    board.write_text("{}", encoding="utf-8")
    for device in ("", "no-such", str(board), "../../board.json"):
        assert_problem(await ask(client, job, device=device), 422, "unknown-device")
    assert_problem(await ask(client, job, device="l4", precision="fp3"), 422, "unknown-precision")
    assert_problem(await ask(client, job, device="l4", runtime="x"), 422, "unknown-runtime")
    assert (await client.ask("GET", "jobs", job, "graph")).status == 200


async def test_another_kind_of_model(client: Any) -> None:
    job = await job_of(client, RESNET)
    assert_problem(await ask(client, job, device="l4"), 422, "no-decoder")
