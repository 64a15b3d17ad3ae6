"""Outputs stay in the folder that a process is confined to, whatever links lead out of it."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from types import SimpleNamespace

import pytest

from py_autodoc.errors import OutputError
from py_autodoc.graph.loading import external_data
from py_autodoc.outputs import OutputRequest, check_output, check_outputs, confine, filling, output_files
from py_autodoc.outputs.inputs import ReadFiles


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(output_files, "_confined_to", "")
    folder = tmp_path / "root"
    folder.mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "theirs.txt").write_text("theirs")
    (folder / "dangling.txt").symlink_to(tmp_path / "outside" / "new.txt")
    (folder / "theirs.txt").symlink_to(tmp_path / "outside" / "theirs.txt")
    (folder / "away").symlink_to(tmp_path / "outside")
    (folder / "within.txt").symlink_to("real.txt")
    return folder


OUT = ["dangling.txt", "theirs.txt", "away/new.txt", "../outside/new.txt", "../rootless.txt"]


@pytest.mark.parametrize("name", OUT)
@pytest.mark.parametrize("way", ["argument", "process"])
def test_nothing_leaves_the_folder(name: str, way: str, root: Path) -> None:
    request = [OutputRequest(root / name, "")]
    assert check_outputs(request, force=True)
    if way == "process":
        confine(str(root))
    with pytest.raises(OutputError) as fault:
        check_outputs(request, force=True, root=str(root) if way == "argument" else "")
    assert fault.value.code == "output-outside"
    assert str(root) not in str(fault.value)


def test_what_stays_inside_is_written(root: Path) -> None:
    confine(str(root))
    for name in ("new.txt", "within.txt"):
        check_output(root / name, "").write(b"ours")
    assert (root / "real.txt").read_bytes() == b"ours"
    assert (root / "within.txt").is_symlink()


def test_folders_of_results_stay_inside(root: Path) -> None:
    confine(str(root))
    with pytest.raises(OutputError, match="link out of"), filling(root / "away" / "docs"):
        pass
    with filling(root / "docs") as staged:
        (staged / "a.txt").write_text("a")
    assert (root / "docs" / "a.txt").exists()


def test_a_folder_that_became_a_link_is_not_followed(root: Path, tmp_path: Path) -> None:
    """Between the check and the moment of writing."""
    (root / "sub").mkdir()
    target = check_output(root / "sub" / "new.txt", "")
    (tmp_path / "finished").write_text("ours")
    (root / "sub").rmdir()
    (root / "sub").symlink_to(tmp_path / "outside")
    with pytest.raises(OutputError) as fault:
        target.replace_with(tmp_path / "finished")
    assert fault.value.code == "output-changed"
    assert not (tmp_path / "outside" / "new.txt").exists()


def test_a_file_that_became_a_link_is_replaced_itself(root: Path, tmp_path: Path) -> None:
    target = check_output(root / "late.txt", "")
    (tmp_path / "finished").write_text("ours")
    (root / "late.txt").symlink_to(tmp_path / "outside" / "late.txt")  # dangling
    target.replace_with(tmp_path / "finished")
    assert not (tmp_path / "outside" / "late.txt").exists()
    assert (root / "late.txt").read_text() == "ours"


def test_every_file_of_an_input_folder_counts(tmp_path: Path) -> None:
    folder = tmp_path / "images"
    folder.mkdir()
    for index in range(10_050):
        (folder / f"{index:05}.png").touch()
    files = ReadFiles([folder])
    for path in folder.iterdir():
        assert files.same(path.stat())


@pytest.mark.parametrize(
    ("path", "hidden"),
    [
        ("w.bin", False), ("sub/w.bin", False), ("./w.bin", False), ("../w.bin", False), ("a..b", False),
        (".env", True), ("sub/.ssh/id", True), (".git/config", True), ("sub/../.env", True), ("...", True),
        (".a/../w.bin", False),
    ],
)  # fmt: skip
def test_hidden_names(path: str, hidden: bool, tmp_path: Path) -> None:
    assert external_data.is_hidden(path, str(tmp_path)) is hidden


@pytest.mark.parametrize(
    "status",
    [
        {"st_file_attributes": stat.FILE_ATTRIBUTE_HIDDEN | stat.FILE_ATTRIBUTE_ARCHIVE},
        {"st_flags": stat.UF_HIDDEN},
    ],
)
@pytest.mark.parametrize("which", ["sub", "w.bin"])
def test_files_that_an_attribute_hides(
    status: dict[str, int], which: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of Windows and macOS, also of a folder on the way."""

    def attributes(path: str, follow_symlinks: bool = True) -> SimpleNamespace:
        return SimpleNamespace(**(status if os.path.basename(path) == which else {}))

    monkeypatch.setattr(external_data.os, "stat", attributes)
    assert external_data.is_hidden("sub/w.bin", str(tmp_path))
    assert not external_data.is_hidden("other.bin", str(tmp_path))
