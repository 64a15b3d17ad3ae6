"""`--hardware auto`: the GPU that is found, else the calibrated profile, else the CPU's, else one line."""

from __future__ import annotations

import pytest

from py_autodoc.errors import OptionError
from py_autodoc.hardware import requested
from py_autodoc.hardware.profile import find_profile
from py_autodoc.report.pipeline.device_choice import choose_device


def found(name, profile):
    return {"name": name, "profile": profile}


@pytest.fixture
def machine(monkeypatch):
    def make(gpus=(), calibrated=None, cpu=""):
        monkeypatch.setattr(requested, "gpus", lambda: list(gpus))
        monkeypatch.setattr(requested, "user_profile", lambda name: calibrated)
        monkeypatch.setattr(requested, "cpu", lambda: found("Some CPU", cpu))

    return make


def test_the_first_known_gpu(machine):
    machine(
        [found("Odd", ""), found("NVIDIA L4", "l4"), found("T4", "t4")], find_profile("a10"), "core-i7-12700h"
    )
    assert requested.requested_profile("auto").id == "l4"
    assert choose_device(" AUTO ").device.id == "l4"


def test_then_what_was_calibrated_then_the_cpu(machine):
    machine([found("Odd", "")], find_profile("a10"), "core-i7-12700h")
    assert requested.requested_profile("auto").id == "a10"
    machine([], None, "core-i7-12700h")
    assert requested.requested_profile("auto").id == "core-i7-12700h"


def test_a_machine_without_any_says_what_to_do(machine):
    machine([found("Odd Card", "")])
    with pytest.raises(OptionError, match=r"auto: .*Odd Card.*Some CPU") as caught:
        requested.requested_profile("auto")
    assert "hardware calibrate" in caught.value.hint


def test_other_names_are_as_before(machine):
    machine([found("NVIDIA L4", "l4")])
    assert requested.requested_profile("t4").id == "t4"
    with pytest.raises(OptionError, match="Unknown hardware profile"):
        requested.requested_profile("autos")


@pytest.mark.parametrize(
    ("short", "device"),
    [("rpi5", "raspberry-pi-5"), ("pi5", "raspberry-pi-5"), ("orinnano", "jetson-orin-nano-8gb")],
)
def test_abbreviations_are_suggested(short, device):
    from py_autodoc.hardware.profile import find_profile

    with pytest.raises(OptionError) as fault:
        find_profile(short)
    assert device in fault.value.hint
    assert "mi50" not in fault.value.hint
