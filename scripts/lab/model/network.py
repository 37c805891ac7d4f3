"""The ONNX graph of the bundled model: token ids in, corrected sentence vectors of length 1 out."""

from dataclasses import dataclass, field

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper
from source import BLOCK, FourBit, Source

_OPSET = 17
_IR_VERSION = 10
"""The first that knows four-bit integers."""

_CONTRIB = "com.microsoft"
_INT8_ACTIVATIONS = 4
"""MatMulNBits `accuracy_level`: multiply in int8, one scale for each block of activations."""


_BIAS_BEFORE = {"aln": "ao", "oln": "fo"}
"""The multiplication whose result a normalisation takes in."""


@dataclass(frozen=True, slots=True)
class Correction:
    """What takes the language out of a vector x: x - mean, then nothing along `direction`. Both (hidden,)."""

    mean: NDArray[np.float32]
    direction: NDArray[np.float32]


@dataclass(slots=True)
class _Graph:
    """Nodes and constants in the order in which they were added."""

    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: list[onnx.TensorProto] = field(default_factory=list)

    def add(
        self, operator: str, *inputs: str, output: str, domain: str = "", **attributes: int | float
    ) -> str:
        node = helper.make_node(operator, inputs, [output], name=output, domain=domain)
        node.attribute.extend(helper.make_attribute(key, attributes[key]) for key in sorted(attributes))
        self.nodes.append(node)
        return output

    def constant(
        self, name: str, array: NDArray[np.generic], kind: int, dims: list[int] | None = None
    ) -> str:
        shape = list(array.shape) if dims is None else dims
        self.constants.append(helper.make_tensor(name, kind, shape, array.tobytes(), raw=True))
        return name

    def floats(self, name: str, array: NDArray[np.float32]) -> str:
        return self.constant(name, array.astype("<f4"), TensorProto.FLOAT)

    def integers(self, name: str, *values: int) -> str:
        return self.constant(name, np.array(values, "<i8"), TensorProto.INT64)

    def scales(self, name: str, weights: FourBit) -> str:
        """Kept as float16, as in the source, and widened when the session is made."""
        half = self.constant(f"{name}.scales.half", weights.scales.astype("<f2"), TensorProto.FLOAT16)
        return self.add("Cast", half, output=f"{name}.scales", to=TensorProto.FLOAT)


def model_bytes(source: Source, kept: list[int], correction: Correction | None) -> bytes:
    """Serialise the graph with the `kept` rows of the token table; uncorrected if `correction` is None."""
    graph = _Graph()
    hidden = _embed_tokens(graph, source, source.four_bit["emb.word"].take(kept))
    graph.add("Cast", "attention_mask", output="mask.int32", to=TensorProto.INT32)
    for layer in range(source.shape.layers):
        hidden = _encode(graph, source, layer, hidden)
    vector = _pool(graph, hidden)
    if correction is not None:
        vector = _correct(graph, vector, correction)
    graph.add("Identity", vector, output="sentence_embedding")
    return _serialised(graph, source.shape.hidden)


def _embed_tokens(graph: _Graph, source: Source, table: FourBit) -> str:
    """Token + position + type 0, normalised: (batch, length, hidden)."""
    rows, blocks, _ = table.nibbles.shape
    signed = table.nibbles ^ np.uint8(0x88)
    words = graph.constant("emb.word", signed, TensorProto.INT4, [rows, blocks * BLOCK])
    token = graph.add(
        "GatherBlockQuantized", words, "input_ids", graph.scales("emb.word", table),
        output="emb.token", domain=_CONTRIB, gather_axis=0, quantize_axis=1, block_size=BLOCK,
    )  # fmt: skip
    shape = source.shape
    positions = source.floats["emb.pos"].reshape(shape.positions, shape.hidden)
    table_of_places = positions + source.floats["emb.type"][: shape.hidden]
    length = graph.add("Shape", "input_ids", output="length", start=1, end=2)
    zero, axis = graph.integers("zero", 0), graph.integers("first_axis", 0)
    places = graph.add(
        "Slice", graph.floats("emb.pos", table_of_places), zero, length, axis, output="emb.places"
    )
    total = graph.add("Add", token, places, output="emb.sum")
    return graph.add(
        "LayerNormalization", total, _float(graph, source, "emb.ln.w"), _float(graph, source, "emb.ln.b"),
        output="emb.out", axis=-1, epsilon=shape.epsilon,
    )  # fmt: skip


def _encode(graph: _Graph, source: Source, layer: int, hidden: str) -> str:
    """One transformer layer: attention and feed-forward, each added to its input and normalised."""
    name = f"l{layer}"
    query, key, value = (_multiply(graph, source, f"{name}.{part}", hidden) for part in "qkv")
    biases = np.concatenate([source.floats[f"{name}.{part}.b"] for part in "qkv"])
    attended = graph.add(
        "MultiHeadAttention", query, key, value, graph.floats(f"{name}.qkv.b", biases), "mask.int32",
        output=f"{name}.attention", domain=_CONTRIB, num_heads=source.shape.heads,
    )  # fmt: skip
    projected = _multiply(graph, source, f"{name}.ao", attended)
    hidden = _add_and_normalise(graph, source, f"{name}.aln", projected, hidden)
    wide = _multiply(graph, source, f"{name}.fi", hidden)
    active = graph.add(
        "BiasGelu", wide, _float(graph, source, f"{name}.fi.b"), output=f"{name}.gelu", domain=_CONTRIB
    )
    narrow = _multiply(graph, source, f"{name}.fo", active)
    return _add_and_normalise(graph, source, f"{name}.oln", narrow, hidden)


def _float(graph: _Graph, source: Source, name: str) -> str:
    return graph.floats(name, source.floats[name])


def _multiply(graph: _Graph, source: Source, name: str, hidden: str) -> str:
    """hidden x weights, transposed; without bias, which the next operator adds."""
    weights = source.four_bit[f"{name}.w"]
    rows, blocks, _ = weights.nibbles.shape
    packed = graph.constant(f"{name}.w", weights.nibbles, TensorProto.UINT8)
    return graph.add(
        "MatMulNBits", hidden, packed, graph.scales(f"{name}.w", weights),
        output=f"{name}.out", domain=_CONTRIB, K=blocks * BLOCK, N=rows, bits=4, block_size=BLOCK,
        accuracy_level=_INT8_ACTIVATIONS,
    )  # fmt: skip


def _add_and_normalise(graph: _Graph, source: Source, name: str, change: str, skip: str) -> str:
    """Normalise skip + change + the bias that `change` still lacks; `name` ends in `aln` or `oln`."""
    layer, norm = name.split(".")
    bias = _float(graph, source, f"{layer}.{_BIAS_BEFORE[norm]}.b")
    weight, offset = _float(graph, source, f"{name}.w"), _float(graph, source, f"{name}.b")
    return graph.add(
        "SkipLayerNormalization", change, skip, weight, offset, bias,
        output=f"{name}.out", domain=_CONTRIB, epsilon=source.shape.epsilon,
    )  # fmt: skip


def _pool(graph: _Graph, hidden: str) -> str:
    """The mean of the tokens under the mask, of length 1: (batch, hidden)."""
    last, middle = graph.integers("last_axis", -1), graph.integers("token_axis", 1)
    mask = graph.add("Cast", "attention_mask", output="mask.float", to=TensorProto.FLOAT)
    column = graph.add("Unsqueeze", mask, last, output="mask.column")
    masked = graph.add("Mul", hidden, column, output="pool.masked")
    total = graph.add("ReduceSum", masked, middle, output="pool.sum", keepdims=0)
    count = graph.add("ReduceSum", column, middle, output="pool.count", keepdims=0)
    mean = graph.add("Div", total, count, output="pool.mean")
    return graph.add("LpNormalization", mean, output="pool.unit", axis=-1, p=2)


def _correct(graph: _Graph, vector: str, correction: Correction) -> str:
    direction = correction.direction.reshape(-1, 1)
    centred = graph.add(
        "Sub", vector, graph.floats("language.mean", correction.mean), output="language.centred"
    )
    column = graph.floats("language.direction", direction)
    amount = graph.add("MatMul", centred, column, output="language.amount")
    row = graph.floats("language.direction.row", np.ascontiguousarray(direction.T))
    along = graph.add("MatMul", amount, row, output="language.along")
    rest = graph.add("Sub", centred, along, output="language.rest")
    return graph.add("LpNormalization", rest, output="language.unit", axis=-1, p=2)


def _serialised(graph: _Graph, hidden: int) -> bytes:
    tokens = ["batch", "length"]
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, tokens)
        for name in ("input_ids", "attention_mask")
    ]
    outputs = [helper.make_tensor_value_info("sentence_embedding", TensorProto.FLOAT, ["batch", hidden])]
    model = helper.make_model(
        helper.make_graph(graph.nodes, "multilingual-e5-small-en-zh", inputs, outputs, graph.constants),
        opset_imports=[helper.make_opsetid("", _OPSET), helper.make_opsetid(_CONTRIB, 1)],
        ir_version=_IR_VERSION,
        producer_name="memory-server scripts/build_model.py",  # part of the bytes: it stays, wherever this lies
    )
    serialised: bytes = model.SerializeToString(deterministic=True)
    return serialised
