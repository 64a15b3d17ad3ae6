"""Models of any size for benchmarks: the structure is real, the weights are holes in a sparse file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import onnx
from onnx import TensorProto, helper

F = TensorProto.FLOAT


class Decoder:
    """A Llama-like decoder as an exporter writes it: norms and rotary embedding in small operators."""

    def __init__(
        self, layers: int, hidden: int, heads: int, tokens: int = 128, vocabulary: int = 1000
    ) -> None:
        self.layers, self.hidden, self.heads, self.tokens = layers, hidden, heads, tokens
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[tuple[str, tuple[int, ...]]] = []
        self.small: list[onnx.TensorProto] = []
        self.vocabulary = vocabulary

    def proto(self) -> onnx.ModelProto:
        """The model without its large weights, which are in ``weights``."""
        size = self.hidden // self.heads
        self._ints("heads", [1, self.tokens, self.heads, size])
        self._ints("flat", [1, self.tokens, self.hidden])
        for name, value in (("zero", 0), ("half", size // 2), ("end", size), ("last", 3)):
            self._ints(name, [value])
        self._floats("two", 2.0)
        self._floats("epsilon", 1e-5)
        self._floats("scale", size**-0.5)
        self._weight("cos", 1, 1, self.tokens, size)
        self._weight("sin", 1, 1, self.tokens, size)
        self._weight("embedding", self.vocabulary, self.hidden)
        x = self._op("Gather", ["embedding", "tokens"], "/embed/Gather")
        for layer in range(self.layers):
            x = self._layer(f"/layers.{layer}", x)
        self._op("Identity", [x], "/out", "y")
        graph = helper.make_graph(
            self.nodes,
            "decoder",
            [helper.make_tensor_value_info("tokens", TensorProto.INT64, [1, self.tokens])],
            [helper.make_tensor_value_info("y", F, [1, self.tokens, self.hidden])],
            initializer=self.small,
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)

    def _layer(self, at: str, x: str) -> str:
        h = self._norm(f"{at}/input_norm", x)
        q, k, v = (self._head(f"{at}/attention/{name}", h) for name in "qkv")
        q, k = self._rotary(f"{at}/attention/q_rotary", q), self._rotary(f"{at}/attention/k_rotary", k)
        k = self._op("Transpose", [k], f"{at}/attention/Transpose_k", perm=[0, 1, 3, 2])
        score = self._op("MatMul", [q, k], f"{at}/attention/scores")
        score = self._op("Mul", [score, "scale"], f"{at}/attention/Scale")
        score = self._op("Softmax", [score], f"{at}/attention/Softmax", axis=-1)
        mixed = self._op("MatMul", [score, v], f"{at}/attention/mix")
        mixed = self._op("Transpose", [mixed], f"{at}/attention/Transpose_o", perm=[0, 2, 1, 3])
        mixed = self._op("Reshape", [mixed, "flat"], f"{at}/attention/Reshape_o")
        x = self._op("Add", [x, self._linear(f"{at}/attention/o", mixed, self.hidden)], f"{at}/Add")
        h = self._norm(f"{at}/post_norm", x)
        # Two matrices of 4·hidden: with the four of attention, 12·hidden² weights a layer.
        up = self._linear(f"{at}/mlp/up", h, 4 * self.hidden)
        up = self._op("Mul", [up, self._op("Sigmoid", [up], f"{at}/mlp/Sigmoid")], f"{at}/mlp/Mul")
        down = self._linear(f"{at}/mlp/down", up, self.hidden, 4 * self.hidden)
        return self._op("Add", [x, down], f"{at}/Add_1")

    def _norm(self, at: str, x: str) -> str:
        square = self._op("Pow", [x, "two"], f"{at}/Pow")
        mean = self._op("ReduceMean", [square], f"{at}/ReduceMean", axes=[-1])
        root = self._op("Sqrt", [self._op("Add", [mean, "epsilon"], f"{at}/Add")], f"{at}/Sqrt")
        self._weight(f"{at}.weight", self.hidden)
        return self._op("Mul", [self._op("Div", [x, root], f"{at}/Div"), f"{at}.weight"], f"{at}/Mul")

    def _head(self, at: str, x: str) -> str:
        x = self._op("Reshape", [self._linear(at, x, self.hidden), "heads"], f"{at}/Reshape")
        return self._op("Transpose", [x], f"{at}/Transpose", perm=[0, 2, 1, 3])

    def _rotary(self, at: str, x: str) -> str:
        first = self._op("Slice", [x, "zero", "half", "last"], f"{at}/Slice")
        second = self._op("Slice", [x, "half", "end", "last"], f"{at}/Slice_1")
        turned = self._op("Concat", [self._op("Neg", [second], f"{at}/Neg"), first], f"{at}/Concat", axis=-1)
        straight = self._op("Mul", [x, "cos"], f"{at}/Mul")
        return self._op("Add", [straight, self._op("Mul", [turned, "sin"], f"{at}/Mul_1")], f"{at}/Add")

    def _linear(self, at: str, x: str, columns: int, rows: int = 0) -> str:
        self._weight(f"{at}.weight", rows or self.hidden, columns)
        return self._op("MatMul", [x, f"{at}.weight"], f"{at}/MatMul")

    def _op(self, op: str, inputs: list[str], name: str, output: str = "", **attributes: object) -> str:
        output = output or f"{name}_output"
        self.nodes.append(helper.make_node(op, inputs, [output], name=name, **attributes))
        return output

    def _weight(self, name: str, *shape: int) -> None:
        self.weights.append((name, shape))

    def _ints(self, name: str, values: list[int]) -> None:
        self.small.append(helper.make_tensor(name, TensorProto.INT64, [len(values)], values))

    def _floats(self, name: str, value: float) -> None:
        self.small.append(helper.make_tensor(name, F, [], [value]))


class Encoder(Decoder):
    """A BERT-like encoder as the TorchScript exporter writes it for free sizes.

    79 nodes a layer: every reshape works out its sizes, norms and GELU are small operators, and one mask
    goes into every layer.
    """

    def proto(self) -> onnx.ModelProto:
        """The model without its large weights, which are in ``weights``."""
        size = self.hidden // self.heads
        for name, value in (("first", 0), ("second", 1), ("heads", self.heads), ("size", size)):
            self._ints(name, [value])
        for axis, name in enumerate(("first_axis", "second_axis")):
            self.small.append(helper.make_tensor(name, TensorProto.INT64, [], [axis]))
        self._ints("flat", [self.hidden])
        for name, number in (("one", 1.0), ("two", 2.0), ("half", 0.5), ("epsilon", 1e-12)):
            self._floats(name, number)
        self._floats("root_two", 2.0**0.5)
        self._floats("root_size", size**0.5)
        self._floats("least", -3.4e38)
        self._weight("embedding", self.vocabulary, self.hidden)
        x = self._op("Gather", ["embedding", "tokens"], "/embeddings/Gather")
        wide = self._op("Unsqueeze", ["mask", "second"], "/Unsqueeze")
        wide = self._op("Unsqueeze", [wide, "second"], "/Unsqueeze_1")
        mask = self._op("Mul", [self._op("Sub", ["one", wide], "/Sub"), "least"], "/Mul")
        for layer in range(self.layers):
            x = self._encode(f"/encoder/layer.{layer}", x, mask)
        self._op("Identity", [x], "/out", "y")
        sizes = ["batch", "tokens"]
        graph = helper.make_graph(
            self.nodes,
            "encoder",
            [
                helper.make_tensor_value_info("tokens", TensorProto.INT64, sizes),
                helper.make_tensor_value_info("mask", F, sizes),
            ],
            [helper.make_tensor_value_info("y", F, [*sizes, self.hidden])],
            initializer=self.small,
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)

    def _encode(self, at: str, x: str, mask: str) -> str:
        inner = f"{at}/attention/self"
        q, k, v = (self._heads(f"{inner}/{name}", x) for name in ("query", "key", "value"))
        k = self._op("Transpose", [k], f"{inner}/Transpose_k", perm=[0, 1, 3, 2])
        score = self._op("MatMul", [q, k], f"{inner}/MatMul")
        score = self._op("Div", [score, "root_size"], f"{inner}/Div")
        score = self._op("Add", [score, mask], f"{inner}/Add")
        score = self._op("Softmax", [score], f"{inner}/Softmax", axis=-1)
        mixed = self._op("MatMul", [score, v], f"{inner}/MatMul_1")
        mixed = self._op("Transpose", [mixed], f"{inner}/Transpose_o", perm=[0, 2, 1, 3])
        mixed = self._reshape(inner, mixed, mixed, "flat")
        out = f"{at}/attention/output"
        x = self._op("Add", [self._dense(f"{out}/dense", mixed, self.hidden), x], f"{out}/Add")
        x = self._layer_norm(f"{out}/LayerNorm", x)
        wide = 4 * self.hidden
        up = self._gelu(f"{at}/intermediate", self._dense(f"{at}/intermediate/dense", x, wide))
        down = self._dense(f"{at}/output/dense", up, self.hidden, wide)
        return self._layer_norm(f"{at}/output/LayerNorm", self._op("Add", [down, x], f"{at}/output/Add"))

    def _heads(self, at: str, x: str) -> str:
        x = self._reshape(at, self._dense(at, x, self.hidden), x, "heads", "size")
        return self._op("Transpose", [x], f"{at}/Transpose", perm=[0, 2, 1, 3])

    def _reshape(self, at: str, x: str, like: str, *sizes: str) -> str:
        """To (batch, tokens, *sizes), the first two as ``like`` has them."""
        shape = [self._size_of(like, at, "", "first"), self._size_of(like, at, "_1", "second"), *sizes]
        return self._op("Reshape", [x, self._op("Concat", shape, f"{at}/Concat", axis=0)], f"{at}/Reshape")

    def _size_of(self, x: str, at: str, suffix: str, axis: str) -> str:
        shape = self._op("Shape", [x], f"{at}/Shape{suffix}")
        size = self._op("Gather", [shape, f"{axis}_axis"], f"{at}/Gather{suffix}")
        return self._op("Unsqueeze", [size, "first"], f"{at}/Unsqueeze{suffix}")

    def _dense(self, at: str, x: str, columns: int, rows: int = 0) -> str:
        self._weight(f"{at}.bias", columns)
        return self._op("Add", [f"{at}.bias", self._linear(at, x, columns, rows)], f"{at}/Add")

    def _layer_norm(self, at: str, x: str) -> str:
        mean = self._op("ReduceMean", [x], f"{at}/ReduceMean", axes=[-1])
        off = self._op("Sub", [x, mean], f"{at}/Sub")
        square = self._op("Pow", [off, "two"], f"{at}/Pow")
        spread = self._op("ReduceMean", [square], f"{at}/ReduceMean_1", axes=[-1])
        root = self._op("Sqrt", [self._op("Add", [spread, "epsilon"], f"{at}/Add")], f"{at}/Sqrt")
        self._weight(f"{at}.weight", self.hidden)
        self._weight(f"{at}.bias", self.hidden)
        scaled = self._op("Mul", [self._op("Div", [off, root], f"{at}/Div"), f"{at}.weight"], f"{at}/Mul")
        return self._op("Add", [scaled, f"{at}.bias"], f"{at}/Add_1")

    def _gelu(self, at: str, x: str) -> str:
        erf = self._op("Erf", [self._op("Div", [x, "root_two"], f"{at}/Div")], f"{at}/Erf")
        gate = self._op("Mul", [x, self._op("Add", [erf, "one"], f"{at}/Add")], f"{at}/Mul")
        return self._op("Mul", [gate, "half"], f"{at}/Mul_1")


def byte_size(shape: tuple[int, ...]) -> int:
    """Bytes of a float32 tensor."""
    size = 4
    for d in shape:
        size *= d
    return size


def save_single(proto: onnx.ModelProto, weights: list[tuple[str, tuple[int, ...]]], path: Path) -> None:
    """One file with every weight inside as raw_data; the payloads are holes in a sparse file."""
    graph = proto.graph.SerializeToString()
    heads = [_tensor_head(name, shape) for name, shape in weights]
    fields = [len(head) + byte_size(shape) for head, (_, shape) in zip(heads, weights, strict=True)]
    length = len(graph) + sum(1 + len(_varint(n)) + n for n in fields)
    rest = onnx.ModelProto()
    rest.CopyFrom(proto)
    rest.ClearField("graph")
    with open(path, "wb") as file:
        file.write(rest.SerializeToString() + b"\x3a" + _varint(length) + graph)  # ModelProto.graph = 7
        for head, n, (_, shape) in zip(heads, fields, weights, strict=True):
            file.write(b"\x2a" + _varint(n) + head)  # GraphProto.initializer = 5
            file.seek(byte_size(shape), 1)
        file.truncate()


def save_external(proto: onnx.ModelProto, weights: list[tuple[str, tuple[int, ...]]], path: Path) -> None:
    """The structure in ``path``, the weights in a sparse file beside it."""
    data, offset = path.with_suffix(".data"), 0
    for name, shape in weights:
        tensor = proto.graph.initializer.add(name=name, data_type=F, dims=shape)
        tensor.data_location = TensorProto.EXTERNAL
        facts = {"location": data.name, "offset": str(offset), "length": str(byte_size(shape))}
        for key, value in facts.items():
            tensor.external_data.add(key=key, value=value)
        offset += byte_size(shape)
    with open(data, "wb") as file:
        file.truncate(offset)
    path.write_bytes(proto.SerializeToString())


def chain(nodes: int) -> onnx.ModelProto:
    """``nodes`` small operators in modules of ten, every fifth joined with one before it."""
    made, last, earlier = [], "x", "x"
    for i in range(nodes):
        name, out = f"/stage.{i // 1000}/block.{i // 10 % 100}/op.{i % 10}", f"t{i}"
        if i % 5 == 4:
            made.append(helper.make_node("Add", [last, earlier], [out], name=name))
            earlier = out
        else:
            made.append(helper.make_node("Relu", [last], [out], name=name))
        last = out
    graph = helper.make_graph(
        made,
        "chain",
        [helper.make_tensor_value_info("x", F, [1, 64, 56, 56])],
        [helper.make_tensor_value_info(last, F, [1, 64, 56, 56])],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def _tensor_head(name: str, shape: tuple[int, ...]) -> bytes:
    head = TensorProto(name=name, data_type=F, dims=shape).SerializeToString()
    return head + b"\x4a" + _varint(byte_size(shape))  # TensorProto.raw_data = 9


def _varint(number: int) -> bytes:
    return bytes(_septets(number))


def _septets(number: int) -> Iterator[int]:
    while number > 0x7F:
        yield number & 0x7F | 0x80
        number >>= 7
    yield number
