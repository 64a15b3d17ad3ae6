"""The devices of this machine: CPUs as reported by the system, GPUs by NVIDIA's library."""

from __future__ import annotations

import os
import platform
import re
from ctypes import CDLL, byref, c_char_p, c_uint, c_ulonglong, c_void_p, create_string_buffer
from pathlib import Path
from typing import Any

from py_autodoc.hardware.profile import Profile, profiles

DetectedDevice = dict[str, Any]
"""``kind`` (cpu, gpu), ``name``, ``profile`` (id or empty), ``memory_bytes``, ``flags``, ``notes``."""
_FLAGS = (
    "sse4_2",
    "avx",
    "avx2",
    "fma",
    "avx512f",
    "avx512_vnni",
    "avx_vnni",
    "amx_int8",
    "amx_bf16",
    "asimddp",
)
"""Instruction sets that determine the speed of products, and whether int8 products saturate."""
_VNNI = frozenset({"avx512_vnni", "avx_vnni", "amx_int8"})
"""On x86. Kernels of ARM never saturate, with or without dot products."""
_NVML = ("libnvidia-ml.so.1", "nvml.dll")


def detected() -> list[DetectedDevice]:
    """Return the CPU, then the GPUs, without measuring or starting a process."""
    return [cpu(), *gpus()]


def cpu(info: str | None = None) -> DetectedDevice:
    """Return the CPU from ``/proc/cpuinfo``, or from Python if there is none."""
    text = _cpuinfo() if info is None else info
    names = re.findall(r"^(?:model name|Hardware|Model)\s*:\s*(.+)$", text, re.MULTILINE)
    name = (names[0] if names else platform.processor() or platform.machine()).strip()[:200]
    flags = set(" ".join(re.findall(r"^(?:flags|Features)\s*:\s*(.+)$", text, re.MULTILINE)[:1]).split())
    supported = [flag for flag in _FLAGS if flag in flags]
    count = len(re.findall(r"^processor\s*:", text, re.MULTILINE)) or os.cpu_count() or 1
    notes = [f"{count} logical processors"]
    if supported:
        notes.append(f"instruction sets: {' '.join(supported)}")
    if "sse4_2" in flags and not flags & _VNNI:
        notes.append("no VNNI: int8 products of unsigned activations and signed weights can saturate")
    return {
        "kind": "cpu",
        "name": name,
        "profile": _match(name, cpu_only=True),
        "memory_bytes": _memory(),
        "flags": supported,
        "notes": notes,
    }


def _cpuinfo() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            return file.read(1 << 20)
    except OSError:
        return ""


def _memory() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return None


def gpus() -> list[DetectedDevice]:
    """Return NVIDIA GPUs as reported by the driver's library; empty without a driver."""
    library = _nvml()
    if library is None:
        return []
    count = c_uint()
    if library.nvmlDeviceGetCount_v2(byref(count)) != 0:
        return []
    devices = []
    for index in range(min(count.value, 64)):
        handle, name = c_void_p(), create_string_buffer(96)
        if library.nvmlDeviceGetHandleByIndex_v2(index, byref(handle)) != 0:
            continue
        if library.nvmlDeviceGetName(handle, name, 96) != 0:
            continue
        memory = (c_ulonglong * 3)()  # total, free, used
        total = memory[0] if library.nvmlDeviceGetMemoryInfo(handle, byref(memory)) == 0 else None
        text = name.value.decode("utf-8", "replace")
        devices.append(
            {
                "kind": "gpu",
                "name": text,
                "profile": _match(text, memory=total),
                "memory_bytes": total,
                "flags": [],
                "notes": [] if total is None else [f"{total / 2**30:.1f} GiB"],
            }
        )
    library.nvmlShutdown()
    return devices


def _nvml() -> Any:
    for name in _NVML:
        try:
            library = CDLL(name)
        except OSError:
            continue
        library.nvmlDeviceGetName.argtypes = [c_void_p, c_char_p, c_uint]
        return library if library.nvmlInit_v2() == 0 else None
    return None


def _match(name: str, cpu_only: bool = False, memory: int | None = None) -> str:
    """Return the id of the profile whose words all occur in the name: the longest one, or empty."""
    words = set(_words(name))
    fitting: list[tuple[int, float, Profile]] = []
    for profile in profiles():
        if cpu_only != (profile.type == "cpu"):
            continue
        for label in (profile.name, *profile.aliases):
            label_words = [
                word for word in _words(label) if not re.fullmatch(r"\d+(gb|gib)|nvidia|amd|intel", word)
            ]
            if label_words and set(label_words) <= words:
                memory_gap = abs((profile.vram_bytes or 0) - memory) if memory is not None else 0
                fitting.append((-len(label_words), memory_gap, profile))
    return min(fitting, key=lambda item: (item[0], item[1], item[2].id))[2].id if fitting else ""


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", Path(text).name.lower() if os.sep in text else text.lower())
