"""The model as a file to keep: one page, numbers for other viewers."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

RESNET = Path(__file__).parents[1] / "data" / "models" / "resnet_tiny.onnx"


@pytest.fixture
def engine() -> str:
    return "real"


async def job_of(client: Any) -> dict[str, Any]:
    shutil.copy(RESNET, client.root / "m.onnx")
    return await client.run("m.onnx")


async def test_page_and_numbers(client: Any) -> None:
    job = await job_of(client)
    page = (await client.ask("GET", "jobs", job["id"], "files", "html")).json
    assert page["text"].lower().startswith("<!doctype html>")
    assert "m.onnx" in page["text"]
    assert (page["media_type"], page["extension"], page["unnamed"]) == ("text/html", ".html", 0)
    netron = (await client.ask("GET", "jobs", job["id"], "files", "netron")).json
    assert json.loads(netron["text"])["signature"] == "netron:attachment"
    assert netron["extension"] == ".netron.json"
    data = (
        await client.ask("GET", "jobs", job["id"], "files", "model-explorer", params={"metric": "params"})
    ).json
    assert json.loads(data["text"])["name"] == "parameters"


@pytest.mark.parametrize(
    ("format", "params", "code"),
    [("exe", {}, "no-such-format"), ("model-explorer", {"metric": "beauty"}, "no-such-number")],
)
async def test_what_cannot_be_made(client: Any, format: str, params: dict[str, str], code: str) -> None:
    job = await job_of(client)
    answer = await client.ask("GET", "jobs", job["id"], "files", format, params=params)
    assert answer.status == 422
    assert answer.json["code"] == code
