"""Measure the memory of a model in a separate process."""

from __future__ import annotations

import json
import os
import sys

import msgspec
import numpy as np

from py_autodoc import temporary
from py_autodoc.children import command, popen
from py_autodoc.graph.protobuf.probe import PathLike
from py_autodoc.ort import FORMAT, original_names
from py_autodoc.samples import Sample

_SECONDS = 600.0
_CODE = """
import json, resource, sys
from py_autodoc.process_limits import die_with_parent
die_with_parent({parent})
import numpy as np
import onnxruntime

def peak():
    # On Linux, getrusage can return the peak of the parent.
    try:
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit

arrays = np.load(sys.stdin.buffer)
names = arrays["names"].tolist()
feeds = {{name: arrays[f"value {{number}}"] for number, name in enumerate(names)}}
options = onnxruntime.SessionOptions()
options.log_severity_level = 4
options.intra_op_num_threads = {threads}
options.add_session_config_entry({format!r}, "ONNX")
before = peak()
session = onnxruntime.InferenceSession({path!r}, options, providers=["CPUExecutionProvider"])
loaded = peak()
session.run(None, feeds)
session.run(None, feeds)
print(json.dumps([before, loaded, peak()]))
"""


class ProcessMemory(msgspec.Struct, frozen=True, kw_only=True):
    """Peak resident memory of a new process in bytes, beyond Python, NumPy and ONNX Runtime."""

    loaded_bytes: int
    """After creating the session."""
    peak_bytes: int
    """After two runs."""


def process_memory(path: PathLike, sample: Sample, threads: int = 0) -> ProcessMemory | None:
    """Run the model twice in a child process and return its peak memory; None if unknown.

    Args:
        path: the model.
        sample: values of the inputs.
        threads: number of threads per operator; 0 uses ONNX Runtime's default.
    """
    if sys.platform == "win32":
        return None
    # The samples are the user's: no name of them stays when this process is killed.
    with temporary.nameless() as feeds:
        # Text has the type object, which would be pickled.
        arrays = {
            f"value {number}": value.astype(str) if value.dtype == object else value
            for number, value in enumerate(sample.values())
        }
        # The child opens the file, whose names may be longer than those of the analysis, and of a file.
        stored = original_names(path)
        arrays["names"] = np.array([stored.get(name, name) for name in sample], str)
        np.savez(feeds, allow_pickle=False, **arrays)
        feeds.seek(0)
        code = _CODE.format(
            path=os.path.abspath(os.fspath(path)), threads=threads, format=FORMAT, parent=os.getpid()
        )
        with popen(command(f"exec({code!r})"), stdin=feeds, stdout=-1, stderr=-3) as child:
            try:
                output, _ = child.communicate(timeout=_SECONDS)
            except Exception:
                child.kill()
                raise
        if child.returncode:
            return None
    before, loaded, peak = json.loads(output)
    return ProcessMemory(loaded_bytes=loaded - before, peak_bytes=peak - before)
