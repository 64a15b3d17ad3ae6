"""Small models whose free sizes cannot be just anything, in the text form of ONNX."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import onnx

HEAD = '<ir_version: 9, opset_import: ["" : 17]>\n'


@dataclass(frozen=True)
class Made:
    """``sizes`` is part of what must be assumed, ``ties`` which sizes must follow from which.

    What the text declares and no node makes is a weight.
    """

    text: str
    sizes: dict[str, int] = field(default_factory=dict)
    ties: dict[str, dict[str, int]] = field(default_factory=dict)

    def bytes(self) -> bytes:
        model = onnx.parser.parse_model(HEAD + self.text)
        graph = model.graph
        made = {name for node in graph.node for name in node.output} | {t.name for t in graph.initializer}
        for info in [info for info in graph.value_info if info.name not in made]:
            shape = [dim.dim_value for dim in info.type.tensor_type.shape.dim]
            weight = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
            graph.initializer.append(onnx.numpy_helper.from_array(weight, info.name))
            graph.value_info.remove(info)
        return model.SerializeToString()


def unet(depth: int) -> str:
    """Halved ``depth`` times and doubled again, each level joined with its mirror."""
    lines, x = [], "image"
    for i in range(depth):
        lines.append(f"d{i} = MaxPool<kernel_shape=[2,2], strides=[2,2]>({x})")
        x = f"d{i}"
    for i in reversed(range(depth)):
        mirror = f"d{i - 1}" if i else "image"
        lines.append(f'u{i} = Resize<mode="nearest">({x}, none, scales)')
        lines.append(f"c{i} = Concat<axis=1>(u{i}, {mirror})")
        lines.append(f"k{i} = ReduceMean<axes=[1]>(c{i})")
        lines.append(f"m{i} = Concat<axis=1>(k{i}, k{i}, k{i})")
        x = f"m{i}"
    body = "\n".join(lines)
    return (
        "unet (float[N,3,H,W] image) => (float[N,3,H,W] y)"
        "<float[4] scales = {1.0,1.0,2.0,2.0}, float[0] none = {}>"
        f"{{ {body}\n y = Identity({x}) }}"
    )


MADE: dict[str, Made] = {
    "vad": Made(
        """vad (float[?,?] input, float[2,?,8] state) => (float[1,?,8] y)
        <float[4,1,256] w, float[1,32,4] wx, float[1,32,8] wh, int64[1] one = {1}, int64[1] two = {2}>
        { x = Unsqueeze(input, one)
          p = Pad<mode="reflect">(x, pads)
          c = Conv<strides=[128]>(p, w)
          z = Squeeze(c, two)
          q = Unsqueeze(z, zero)
          h0, c0 = Split<axis=0>(state)
          s, h, y = LSTM<hidden_size=8>(q, wx, wh, , , h0, c0) }
        """.replace("int64[1] one", "int64[6] pads = {0,0,0,0,0,64}, int64[1] zero = {0}, int64[1] one"),
        {"input_d0": 1, "state_d1": 1},
        {"state_d1": {"input_d0": 1}},
    ),
    "text line": Made(
        """ocr (float[n,3,?,?] x) => (float[n,8,t] y)
        <float[8,3,3,3] w, int64[1] two = {2}>
        { a = Conv<strides=[2,2], pads=[1,1,1,1]>(x, w)
          b = MaxPool<kernel_shape=[3,2], strides=[3,2]>(a)
          d = MaxPool<kernel_shape=[8,1], strides=[8,1]>(b)
          y = Squeeze(d, two) }
        """,
        {"x_d2": 48, "x_d3": 320},
    ),
    "U-Net of stride 32": Made(unet(5), {"H": 224, "W": 224}),
    "U-Net of stride 64": Made(unet(6), {"H": 256, "W": 256}),
    "windows of 7 patches of 32": Made(
        """windows (float[n,3,H,W] image) => (float[m,7,k,7,8] y)
        <float[8,3,32,32] w, int64[5] shape = {0,7,-1,7,8}>
        { a = Conv<strides=[32,32]>(image, w)
          b = Transpose<perm=[0,2,3,1]>(a)
          y = Reshape(b, shape) }
        """,
        {"H": 224, "W": 224},
    ),
    "a window for ten frames": Made(
        """wake (float[n,1,w] signal) => (float[n,10] y)
        <float[4,1,1280] kernel, float[10,10] m>
        { a = Conv<strides=[1280]>(signal, kernel)
          b = ReduceMean<axes=[1], keepdims=0>(a)
          y = MatMul(b, m) }
        """,
        {"w": 13312},
    ),
    "compared with 8000": Made(
        """rate (float[n] signal) => (float[k] y)
        <int64[1] rate = {8000}, int64[2] frames = {50,160}, int64[2] other = {7,2}>
        { s = Shape(signal)
          e = Equal(s, rate)
          f = Squeeze(e)
          g = If(f) <
            then_branch = yes () => (float[50,160] a) { a = Reshape(signal, frames) },
            else_branch = no () => (float[7,2] b) { b = Reshape(signal, other) }
          >
          y = Identity(g) }
        """,
    ),
    "cache without names": Made(
        """decoder (int64[?,?] input_ids, int64[?,?] attention_mask, float[?,2,?,4] past_key)
          => (float[b,2,s,t] y)
        <float[50,8] table, int64[4] heads = {0,0,2,4}, int64[2] where = {1,2}>
        { x = Gather(table, input_ids)
          r = Reshape(x, heads)
          k = Transpose<perm=[0,2,1,3]>(r)
          all = Concat<axis=2>(past_key, k)
          t = Transpose<perm=[0,1,3,2]>(all)
          scores = MatMul(k, t)
          f = Cast<to=1>(attention_mask)
          m = Unsqueeze(f, where)
          y = Add(scores, m) }
        """,
        {"input_ids_d1": 128, "attention_mask_d1": 128, "past_key_d2": 0},
        {
            "attention_mask_d1": {"input_ids_d1": 1, "past_key_d2": 1},
            "past_key_d0": {"input_ids_d0": 1},
            "attention_mask_d0": {"input_ids_d0": 1},
        },
    ),
    "a total by name": Made(
        """fused (int64[batch,sequence_length] ids, int64[batch,total_sequence_length] mask,
          float[batch,2,past_sequence_length,4] past) => (float[batch] y)
        <float[50,8] table, int64[3] all = {1,2,3}>
        { x = Gather(table, ids)
          a = ReduceMean<axes=[1,2], keepdims=0>(x)
          f = Cast<to=1>(mask)
          b = ReduceSum<keepdims=0>(f, one)
          c = ReduceSum<keepdims=0>(past, all)
          d = Add(a, b)
          y = Add(d, c) }
        """.replace("int64[3] all", "int64[1] one = {1}, int64[3] all"),
        {"sequence_length": 128, "total_sequence_length": 128, "past_sequence_length": 0},
        {"total_sequence_length": {"past_sequence_length": 1, "sequence_length": 1}},
    ),
    "the last rows of 32": Made(
        """relative (float[b,s,8] x) => (float[b,s,8] y)
        <float[32,8] table, int64 one = {1}, int64[1] most = {32}, int64[1] none = {0}>
        { shape = Shape(x)
          n = Gather(shape, index)
          start = Sub(most, n)
          from = Max(start, none)
          t = Slice(table, from, most, none)
          y = Add(x, t) }
        """.replace("int64 one", "int64[1] index = {1}, int64 one"),
        {"s": 32},
    ),
    "a clip": Made(
        """clip (float[?,3,?,?,?] video) => (float[n,4] y) <float[4,3,8,7,7] w>
        { a = Conv<strides=[8,4,4]>(video, w)
          y = ReduceMean<axes=[2,3,4], keepdims=0>(a) }
        """,
        {"video_d2": 16, "video_d3": 224, "video_d4": 224},
    ),
    "frames and what they remember": Made(
        """stream (float[?,24,?] chunk, float[?,24,8] cache) => (float[n,24,t] y) <float[24,1,9] w>
        { x = Concat<axis=2>(cache, chunk)
          y = Conv<group=24>(x, w) }
        """,
        {"chunk_d2": 128},
        {"cache_d0": {"chunk_d0": 1}},
    ),
    "tables of angles without names": Made(
        """rotary (float[?,?,16] hidden, float[?,16] cos) => (float[b,s,16] y)
        { y = Mul(hidden, cos) }
        """,
        {"hidden_d1": 128, "cos_d0": 128},
        {"cos_d0": {"hidden_d1": 1}},
    ),
    "77 positions": Made(
        """clip (int64[b,s] input_ids) => (float[b,s,4] y)
        <float[50,4] table, float[77,4] positions, int64 one = {1}, int64 zero = {0}>
        { x = Gather(table, input_ids)
          shape = Shape(input_ids)
          n = Gather(shape, one)
          r = Range(zero, n, one)
          p = Gather(positions, r)
          y = Add(x, p) }
        """,
        {"s": 64},
    ),
    "positions counted from a mask": Made(
        """opt (int64[b,s] attention_mask) => (float[b,s,4] y)
        <float[66,4] positions, int64 one = {1}, int64 two = {2}>
        { c = CumSum(attention_mask, one)
          m = Mul(c, attention_mask)
          i = Sub(m, one)
          p = Add(i, two)
          y = Gather(positions, p) }
        """,
        {"s": 64},
    ),
    "channels of a weight": Made(
        """net (float[n,c,h,w] x) => (float[n,8,h,w] y) <float[8,5,3,3] w>
        { y = Conv<pads=[1,1,1,1]>(x, w) }
        """,
        {"c": 5},
    ),
    "a baked product": Made(
        """baked (float[b,s,4] x) => (float[10,4] y) <int64[2] shape = {10,4}>
        { y = Reshape(x, shape) }
        """,
        {"b": 1, "s": 10},
    ),
    "the best 300": Made(
        """detr (float[b,q,4] boxes) => (float[b,300,4] y) <int64[1] k = {300}>
        { y, i = TopK<axis=1>(boxes, k) }
        """,
        {"b": 1},
    ),
    "mirrored edges": Made(
        """stft (float[b,?] x) => (float[b,n] y) <int64[4] pads = {0,512,0,512}>
        { y = Pad<mode="reflect">(x, pads) }
        """,
    ),
    "mel frames for 1500 positions": Made(
        """whisper (float[b,8,t] features) => (float[b,1500,4] y)
        <float[4,8,3] w, float[1500,4] positions>
        { a = Conv<strides=[2], pads=[1,1]>(features, w)
          c = Transpose<perm=[0,2,1]>(a)
          y = Add(c, positions) }
        """,
        {"t": 3000},
    ),
    "patches with stored positions": Made(
        """vit (float[b,3,H,W] image) => (float[b,577,8] y)
        <float[8,3,16,16] w, float[1,1,8] first, float[1,577,8] positions, int64[3] flat = {0,8,-1}>
        { a = Conv<strides=[16,16]>(image, w)
          r = Reshape(a, flat)
          p = Transpose<perm=[0,2,1]>(r)
          t = Concat<axis=1>(first, p)
          y = Add(t, positions) }
        """,
        {"b": 1, "H": 384, "W": 384},
    ),
}

NEVER = Made(
    """never (float[n,3] x) => (float[n,4] y) <float[2,4] w, int64[2] shape = {-1,2}, int64[2] back = {5,7}>
    { a = Reshape(x, shape)
      b = MatMul(a, w)
      c = Reshape(b, back)
      y = Identity(c) }
    """
)
"""No size fits: four times 3/2·n elements are never 35."""
