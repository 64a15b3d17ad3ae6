"""A float model with BatchNorm against a file in which it is part of the weights."""

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from py_autodoc.quantize import Recipe, quantize
from py_autodoc.verify import verify

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")
pytestmark = pytest.mark.slow


def network():
    """Convolutions, a transposed one and a linear layer, each with a normalization."""

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            nn = torch.nn
            self.conv, self.norm = nn.Conv2d(3, 6, 3, padding=1, bias=False), nn.BatchNorm2d(6)
            self.body = nn.Sequential(
                nn.Conv2d(6, 6, 3, padding=1), nn.BatchNorm2d(6), nn.ReLU(), nn.Conv2d(6, 6, 1)
            )
            self.up, self.after = nn.ConvTranspose2d(6, 4, 2, 2), nn.BatchNorm2d(4)
            self.head, self.last = nn.Linear(4, 5), nn.BatchNorm1d(5)

        def forward(self, x):
            x = torch.relu(self.norm(self.conv(x)))
            x = torch.relu(self.after(self.up(x + self.body(x))))
            return self.last(self.head(x.mean((2, 3))))

    torch.manual_seed(0)
    net = Net()
    with torch.no_grad():
        for one in net.modules():
            if getattr(one, "running_var", None) is not None:
                one.running_mean.normal_()
                one.running_var.uniform_(0.2, 3)
                one.weight.normal_()
                one.bias.normal_()
    return net.eval()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The module, a file with folded normalizations, and one as the module is."""
    from py_autodoc.torch import export

    folder, net = tmp_path_factory.mktemp("norm"), network()
    example = (torch.zeros(1, 3, 8, 8),)
    export(net, example, folder / "folded.onnx", exporter="torchscript")
    torch.onnx.export(
        net, example, folder / "as_is.onnx", dynamo=False, do_constant_folding=False,
        training=torch.onnx.TrainingMode.PRESERVE,
    )  # fmt: skip
    kinds = [
        [node.op_type for node in onnx.load(folder / name).graph.node]
        for name in ("folded.onnx", "as_is.onnx")
    ]
    assert kinds[0].count("BatchNormalization") < kinds[1].count("BatchNormalization") == 4
    return net, folder / "folded.onnx", folder / "as_is.onnx"


def test_layers_of_a_module_are_those_after_their_normalization(files):
    net, folded, as_is = files
    for path in (folded, as_is):
        found = verify(path, net)
        assert (found.verdict, found.first) == ("agrees", None)
        assert all(not layer.diverges for layer in found.layers)
    assert {"conv", "body.0", "body.3", "up"} <= {layer.name for layer in verify(folded, net).layers}


@pytest.mark.parametrize("against_file", [False, True])
@pytest.mark.parametrize("faulty", ["conv", "body.0", "body.3"])
def test_a_fault_behind_a_normalization_is_found(files, faulty, against_file, tmp_path):
    """The first layer that diverges is the faulty one, not the first with a folded normalization."""
    net, folded, as_is = files
    model = onnx.load(folded)
    nodes = [node for node in model.graph.node if node.op_type == "Conv"]
    node = nodes[["conv", "body.0", "body.3"].index(faulty)]
    stored = {tensor.name: tensor for tensor in model.graph.initializer}
    weight = stored[node.input[1]]
    values = numpy_helper.to_array(weight) * np.float32(-4)
    weight.CopyFrom(numpy_helper.from_array(values, weight.name))
    onnx.save(model, tmp_path / "faulty.onnx")
    found = verify(tmp_path / "faulty.onnx", as_is if against_file else net)
    assert found.verdict == "diverges"
    assert found.layers[found.first].name == faulty


def test_a_quantized_file_has_its_layers_compared_after_the_normalization(files, tmp_path):
    _, _, as_is = files
    values = np.random.default_rng(0).standard_normal((16, 1, 3, 8, 8)).astype(np.float32)
    name = onnx.load(as_is).graph.input[0].name
    data = {name: values}
    quantize(as_is, tmp_path / "q.onnx", data, Recipe(), compare=False)
    found = verify(tmp_path / "q.onnx", as_is, data)
    assert found.verdict == "agrees"
    assert max(layer.error.relative_error for layer in found.layers) < 0.1
