"""Writing, printing and tables have one place each; a new command must not go around them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path("py_autodoc")
RULES = {
    r"\bos\.(replace|rename)\(|\.rename\(|shutil\.(move|copy)": {
        "outputs/output_files.py",  # the rule
        "server/incoming_file.py",  # onto the empty file that `reserve` just made
        "temporary.py",  # no result: a cache in a folder of its own
    },
    r"\btempfile\.(mk|Temporary|Named|Spooled)": {
        "temporary.py",  # the rule: named ones are locked and swept, the others have no name
    },
    r"\.write_(text|bytes)\(|\bopen\([^)\n]*[\"'][wax+]b?[\"']|\.open\([\"'][wax]b?[\"']": {
        "outputs/output_files.py",
        "temporary.py",
        "outputs/marks.py",
        # Into a folder of their own that takes its place by the rule, or that is removed.
        "extract/write_sub_model.py",
        "extract/rewritten.py",
        "opdocs/api.py",
        "to_torch/convert.py",
        "to_torch/weights.py",
        "torch/exporting.py",
        "tags/model_files.py",
        "hf/unpack_processor.py",
        "hf/serving/processors.py",
        "widget/extract_messages.py",
        "tasks/uploads.py",
        # A new, empty file that holds a name.
        "extract/output_name.py",
        "server/incoming_file.py",
        # No results: a switch of the kernel, nowhere, an entry of an archive that is open.
        "process_limits.py",
        "cli/streams.py",
    },
    r"\bcsv\.(writer|DictWriter)\(": {"render/csv.py"},
    r"\bclick\.echo\(|(?<![.\w])print\(|sys\.stdout\.write": {
        "cli/app.py",  # help
        "cli/options.py",  # the list of devices, which is ours
        "to_torch/file.py",  # in the code that it writes
    },
    r"\bsys\.stderr\.write|StreamHandler\(|basicConfig\(": set(),
}


@pytest.mark.parametrize("pattern", RULES)
def test_there_is_one_place(pattern):
    found = set()
    for path in sorted(ROOT.rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith("to_torch/runtime/") and re.search(pattern, _code(path.read_text("utf-8"))):
            found.add(name)
    assert found - RULES[pattern] == set()
    # What does not need leave any more shall not keep it.
    assert RULES[pattern] - found == set()


def _code(text: str) -> str:
    """Without comments and docstrings."""
    text = re.sub(r'"""(?s:.*?)"""', "", text)
    return re.sub(r"(?m)#.*$", "", text)
