"""CPU seconds to rank all layers of ResNet-50 by sensitivity, against requantizing it for each.

    python benchmarks/sensitivity.py [LAYERS] [IMAGES]

Baseline: ONNX Runtime's ``quantize_static`` with one layer to quantize, its own calibration, and runs of the
result, measured on LAYERS (2) of the 54 layers and scaled. Both here, on IMAGES (2) that are made up. Prints
the ratio with the building of the sessions and without. Threads of ONNX Runtime's own tool wait for work by
running, ours do not: ``taskset -c 0`` leaves that out.
"""

from __future__ import annotations

import logging
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests/graph/rebatch"))

from rebatch_proof import complete  # noqa: E402

from py_autodoc.sensitivity.layers import Scheme, layers_of  # noqa: E402
from py_autodoc.sensitivity.measure import LayerBench  # noqa: E402


class Rows(CalibrationDataReader):  # type: ignore[misc]
    """Samples for ONNX Runtime's calibration."""

    def __init__(self, samples: list[dict[str, np.ndarray]]) -> None:
        self.left = iter(samples)

    def get_next(self) -> dict[str, np.ndarray] | None:
        """The next sample."""
        return next(self.left, None)


def main() -> None:
    """Prints seconds and ratios."""
    few, images = (int(one) for one in (*sys.argv[1:], "2", "2")[:2])
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "resnet50.onnx")
        source = ROOT / "tests/data/stripped/resnet50.stripped.onnx"
        model = complete(onnx.load(source, load_external_data=False))
        del model.graph.value_info[:]
        for node in model.graph.node:
            node.name = node.output[0]
        onnx.save(model, path)
        random = np.random.default_rng(0)
        name = model.graph.input[0].name
        samples = [{name: random.standard_normal((1, 3, 224, 224), dtype=np.float32)} for _ in range(images)]
        layers = layers_of(model, path.name)
        began = time.process_time()
        bench = LayerBench(path, model, layers, samples, Scheme(), model.graph.output[0].name, True)
        bench.fits_memory()
        built = time.process_time() - began
        began = time.process_time()
        bench.alone(None, lambda done, total: None)
        ranked = time.process_time() - began
        began = time.process_time()
        for layer in layers[:: max(1, len(layers) // few)][:few]:
            other = Path(folder, "one.onnx")
            quantize_static(
                path, other, Rows(samples), quant_format=QuantFormat.QDQ, per_channel=True,
                activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8,
                nodes_to_quantize=[layer.output],
                extra_options={"OpTypesToExcludeOutputQuantization": ["Conv", "Gemm", "MatMul"]},
            )  # fmt: skip
            session = onnxruntime.InferenceSession(other)
            for one in samples:
                session.run(None, one)
        each = (time.process_time() - began) / few
        every = each * len(layers)
        print(f"{len(layers)} layers, {images} images, CPU: building {built:.1f} s, measuring {ranked:.1f} s")
        print(f"requantizing: {each:.2f} s a layer, {every:.0f} s for all")
        print(f"ratio without building {every / ranked:.1f}, with {every / (ranked + built):.1f}")


if __name__ == "__main__":
    main()
