"""What ``export`` is given: files of Keras, what torch would load, and what is neither."""

from __future__ import annotations

import io
import json
import random
import zipfile

import fuzz_mutate
import fuzz_seeds

REFUSED = ("m.onnx", "m.pt", "m.bin", "m.safetensors", "m.gguf", "m.npz", "m", "m.zip", "m.ONNX", "m.h5.bak")
WORDS = (
    "none.keras", "none.h5", "none.pt2", "none", "no/such", "os:getcwd", "json:loads", "no_such:thing",
    "m:", ":m", "m:make", "a b", "é:é", "..", ".", "-", "", "a" * 300, "org/name", "m:make.more",
)  # fmt: skip
HEAVY = 0.04
"""Share of what is loaded with torch, each of which takes up to seconds."""


def source(dice: random.Random, files: dict[str, bytes]) -> tuple[str, str]:
    """(what stands on the command line, its kind); ``files`` gets it."""
    kind = dice.random()
    if kind < HEAVY / 2:
        return _folder(dice, files), "folder"
    if kind < HEAVY:
        data = fuzz_seeds.program()
        files["m.pt2"] = _archive(dice, data) if dice.random() < 0.6 else fuzz_mutate.raw(dice, data, data)
        return "m.pt2", "program"
    if kind < 0.06:
        return _refused(dice, files), "refused"
    if kind < 0.08:
        files["m.py"] = b"def make():\n    return 1\n"
        return dice.choice(WORDS), "word"
    return _keras(dice, files), "keras"


def _refused(dice: random.Random, files: dict[str, bytes]) -> str:
    name = dice.choice(REFUSED)
    data = fuzz_seeds.rich()
    files[name] = fuzz_mutate.raw(dice, data, data)
    return name


def _folder(dice: random.Random, files: dict[str, bytes]) -> str:
    made = fuzz_mutate.tree(dice, fuzz_seeds.configuration())
    files["folder/config.json"] = json.dumps(made).encode()
    if dice.random() < 0.3:
        files["folder/config.json"] = fuzz_mutate.raw(dice, files["folder/config.json"], b"{}[]")
    return "folder"


def _archive(dice: random.Random, data: bytes) -> bytes:
    """A zip with one of its members broken."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = [(name, archive.read(name)) for name in archive.namelist()]
    at = dice.randrange(len(members))
    name, content = members[at]
    if name.endswith(".json") and dice.random() < 0.9:
        members[at] = (name, json.dumps(fuzz_mutate.tree(dice, json.loads(content))).encode())
    else:
        members[at] = (name, fuzz_mutate.raw(dice, content, content))
    return fuzz_seeds.zipped(members, zipfile.ZIP_STORED)


def _keras(dice: random.Random, files: dict[str, bytes]) -> str:
    if dice.random() < 0.4:
        old = dice.choice(fuzz_seeds.keras_older())
        files["m.h5"] = fuzz_mutate.raw(dice, old, old)
        return "m.h5"
    members = list(dice.choice(fuzz_seeds.keras_archives()))
    at = dice.randrange(len(members))
    name, data = members[at]
    if name.endswith(".json") and dice.random() < 0.9:
        members[at] = (name, json.dumps(fuzz_mutate.tree(dice, json.loads(data))).encode())
    else:
        members[at] = (name, fuzz_mutate.raw(dice, data, data))
    # The first is what Keras writes; packing is a third of the time an input takes.
    packing = dice.choice(
        (zipfile.ZIP_STORED,) * 7 + (zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2)
    )
    made = fuzz_seeds.zipped(members, packing)
    files["m.keras"] = fuzz_mutate.raw(dice, made, made) if dice.random() < 0.3 else made
    return "m.keras"
