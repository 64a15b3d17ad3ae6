"""Small networks that are written operator by operator."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from py_autodoc.report.pipeline.analysis import run_analysis

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


class Net:
    """A network that is written operator by operator."""

    def __init__(self):
        self.nodes, self.weights, self.fed, self.given = [], [], [], []
        self.rng = np.random.default_rng(0)

    def feed(self, name, shape, kind=FLOAT):
        self.fed.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def give(self, tensor, name, shape):
        self.nodes.append(helper.make_node("Identity", [tensor], [name]))
        self.given.append(helper.make_tensor_value_info(name, FLOAT, shape))

    def op(self, op, *inputs, outputs=1, **attributes):
        made = [f"t{len(self.nodes)}_{n}" for n in range(outputs)]
        self.nodes.append(helper.make_node(op, list(inputs), made, **attributes))
        return made[0] if outputs == 1 else made

    def weight(self, *shape):
        return self.const(self.rng.standard_normal(shape).astype(np.float32))

    def const(self, value):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def conv(self, x, come, leave, kernel=3, stride=1):
        pad = kernel // 2
        weight = self.weight(leave, come, kernel, kernel)
        return self.op("Conv", x, weight, strides=[stride] * 2, pads=[pad] * 4)

    def stem(self, x, channels=3, times=2):
        """``times`` strided convolutions with Relu, 8 maps out."""
        for step in range(times):
            x = self.op("Relu", self.conv(x, channels if step == 0 else 8, 8, stride=2))
        return x

    def larger(self, x, factor):
        scales = self.const(np.array([1, 1, factor, factor], np.float32))
        return self.op("Resize", x, "", scales, mode="linear", coordinate_transformation_mode="half_pixel")

    def dense(self, x, come, leave, ending=""):
        y = self.op("Add", self.op("MatMul", x, self.weight(come, leave)), self.weight(leave))
        return self.op(ending, y) if ending else y

    def looked_up(self, name, shape, rows, width):
        """Vectors of integers that go in, from a table of their own."""
        return self.op("Gather", self.weight(rows, width), self.feed(name, shape, INT64), axis=0)

    def identified(self):
        graph = helper.make_graph(self.nodes, "g", self.fed, self.given, self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        return run_analysis(model.SerializeToString()).identified

    def task(self):
        task = self.identified().task
        return task.id, task.known
