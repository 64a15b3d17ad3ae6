"""What a sub-model must compute: the full model's own tensors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort


def session(model: bytes | str) -> ort.InferenceSession:
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])


class Oracle:
    """Every tensor of the main graph of a model, for given inputs."""

    def __init__(self, path: Path, feeds: dict[str, np.ndarray]) -> None:
        model = onnx.load(path)
        known = {output.name for output in model.graph.output}
        for node in model.graph.node:
            for name in node.output:
                if name and name not in known:
                    model.graph.output.append(onnx.ValueInfoProto(name=name))
                    known.add(name)
        run = session(model.SerializeToString())
        names = [output.name for output in run.get_outputs()]
        self.values = dict(zip(names, run.run(names, feeds), strict=True)) | feeds

    def check(self, path: Path) -> int:
        """Run a sub-model on the full model's tensors: equal, bit for bit. How many outputs it has."""
        onnx.checker.check_model(str(path), full_check=True)
        run = session(str(path))
        feeds = {one.name: self.values[one.name] for one in run.get_inputs()}
        names = [one.name for one in run.get_outputs()]
        assert names
        for name, value in zip(names, run.run(names, feeds), strict=True):
            np.testing.assert_array_equal(value, self.values[name], err_msg=name)
        return len(names)
