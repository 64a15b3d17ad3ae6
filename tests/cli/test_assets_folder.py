"""The folder of ``--assets-dir``: complete, or as it was before."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from py_autodoc.cli.assets import assets
from py_autodoc.errors import OutputError
from py_autodoc.outputs import output_files

FILES = {"graph": ("graph.svg", b"<svg/>"), "depth": ("depth.svg", b"<svg/>"), "png": ("depth.png", b"x")}


def full_from(monkeypatch, number: int) -> None:
    """Let the disk be full when the file of this number is moved to its place."""
    moved: list[Path] = []
    replace = output_files.OutputFile.replace_with

    def refuse(self, new_file):
        moved.append(new_file)
        if len(moved) > number:
            raise OSError(errno.ENOSPC, "No space left on device")
        replace(self, new_file)

    monkeypatch.setattr(output_files.OutputFile, "replace_with", refuse)


@pytest.mark.parametrize("number", range(len(FILES)))
def test_a_full_disk_leaves_no_folder(monkeypatch, tmp_path, number):
    made = assets(str(tmp_path / "images"), [name for name, _ in FILES.values()], (), force=False)
    full_from(monkeypatch, number)
    with pytest.raises(OutputError, match="No space left"):
        made.write(FILES)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_was_there_stays_with_its_files(monkeypatch, tmp_path):
    folder = tmp_path / "images"
    folder.mkdir()
    (folder / "mine.txt").write_text("mine")
    made = assets(str(folder), [name for name, _ in FILES.values()], (), force=False)
    full_from(monkeypatch, 1)
    with pytest.raises(OutputError):
        made.write(FILES)
    assert (folder / "mine.txt").read_text() == "mine"
    assert not [one for one in folder.iterdir() if one.name.startswith(".")]
