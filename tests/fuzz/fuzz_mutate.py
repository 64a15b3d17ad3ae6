"""Breaking things: protobuf through its descriptors, JSON as a tree, text and bytes as they are."""

from __future__ import annotations

import json
import random
from typing import Any

import onnx
from google.protobuf.descriptor import FieldDescriptor as Field
from google.protobuf.message import Message

INTEGERS = (
    -(2**63), -(2**31), -129, -9, -1, 0, 1, 2, 3, 7, 16, 127, 255, 1023, 2**16, 2**31 - 1, 2**31, 2**40,
    2**62, 2**63 - 1,
)  # fmt: skip
FLOATS = (0.0, -0.0, 1.0, -1.5, 1e-38, 3.4e38, 1e308, float("inf"), float("-inf"), float("nan"))
TEXTS = (
    "", " ", "x", "y", "0", "-1", "N", "batch", "n + 1", "n*" * 40 + "1", "(" * 60 + "n" + ")" * 60, "?",
    "a/b",
    "../../x", "/etc/passwd", "a\nb", "a\0b", "\x1b[31m", "é" * 9, "\u202e", "\ud7ff", "=1+1", "x" * 300,
    "NaN", "\N{ROCKET}",
    "ai.onnx", "com.microsoft", "ai.onnx.ml", "Conv", "MatMul", "Loop", "If", "Scan", "Attention",
    "Constant",
    "Gather", "Reshape", "QuantizeLinear", "LSTM", "nonsense", "then_branch", "body", "value", "axes",
    "CONSTANT",
    "location", "offset", "length", "pkg.torch.onnx.class_hierarchy", "{}", "[]", '{"a": [1, null]}',
)  # fmt: skip
_SIGNED = {Field.TYPE_INT32: 31, Field.TYPE_INT64: 63, Field.TYPE_ENUM: 31, Field.TYPE_SINT64: 63}
_UNSIGNED = {Field.TYPE_UINT64: 64, Field.TYPE_UINT32: 32}
_FLOATS = (Field.TYPE_FLOAT, Field.TYPE_DOUBLE)
LARGEST = 1 << 18
"""Inputs do not grow beyond it: what a large file may take is another question."""


def _messages(message: Message, found: list[Message], most: int = 4000) -> list[Message]:
    """All messages of a tree, parents first."""
    found.append(message)
    for _, value in message.ListFields():
        if len(found) >= most:
            break
        if isinstance(value, Message):
            _messages(value, found, most)
        elif not isinstance(value, (str, bytes, int, float)) and len(value) and isinstance(value[0], Message):
            for one in value:
                if len(found) < most:
                    _messages(one, found, most)
    return found


def _text(dice: random.Random, known: list[str]) -> str:
    return dice.choice(known) if known and dice.random() < 0.6 else dice.choice(TEXTS)


def _scalar(dice: random.Random, field: Field, known: list[str]) -> Any:
    if field.type == Field.TYPE_STRING:
        return _text(dice, known)
    if field.type == Field.TYPE_BYTES:
        if dice.random() < 0.5:
            return _text(dice, known).encode("utf-8", "replace")
        return dice.randbytes(dice.choice((0, 1, 3, 4, 8, 16, 33)))
    if field.type in _FLOATS:
        return dice.choice(FLOATS[:6] if field.type == Field.TYPE_FLOAT else FLOATS)
    if field.enum_type is not None:
        return dice.choice([one.number for one in field.enum_type.values])
    value = dice.choice(INTEGERS) if dice.random() < 0.7 else dice.randrange(0, 30)
    if field.type in _SIGNED:
        limit = 1 << _SIGNED[field.type]
        return max(-limit, min(limit - 1, value))
    if field.type in _UNSIGNED:
        return abs(value) % (1 << _UNSIGNED[field.type])
    return bool(value & 1)


def _repeated(field: Field) -> bool:
    flag = getattr(field, "is_repeated", None)
    return flag if isinstance(flag, bool) else field.label == Field.LABEL_REPEATED


def _change(dice: random.Random, message: Message, known: list[str], others: list[Message]) -> None:
    """One field of one message."""
    fields = message.DESCRIPTOR.fields
    present = [field for field, _ in message.ListFields()]
    field = dice.choice(present) if present and dice.random() < 0.8 else dice.choice(fields)
    inner = field.message_type is not None
    if _repeated(field):
        values = getattr(message, field.name)
        kind = dice.randrange(5)
        if len(values) and kind == 0:
            del values[dice.randrange(len(values))]
        elif len(values) > 1 and kind == 1:
            order = list(values)
            first, second = dice.randrange(len(order)), dice.randrange(len(order))
            order[first], order[second] = order[second], order[first]
            copies = [one.__deepcopy__({}) if inner else one for one in order]
            del values[:]
            values.extend(copies)
        elif inner:
            alike = [one for one in others if one.DESCRIPTOR is field.message_type]
            if alike and kind < 4:
                copy = dice.choice(alike).__deepcopy__({})
                if copy.ByteSize() < LARGEST:
                    values.add().CopyFrom(copy)
            else:
                values.add()
        elif len(values) and kind == 2:
            values[dice.randrange(len(values))] = _scalar(dice, field, known)
        elif kind == 3:
            values.extend([_scalar(dice, field, known)] * dice.choice((1, 2, 9, 40)))
        else:
            values.append(_scalar(dice, field, known))
    elif inner:
        alike = [one for one in others if one.DESCRIPTOR is field.message_type]
        if dice.random() < 0.4 or not alike:
            message.ClearField(field.name)
        else:
            copy = dice.choice(alike).__deepcopy__({})
            if copy.ByteSize() < LARGEST:
                getattr(message, field.name).CopyFrom(copy)
    elif dice.random() < 0.2:
        message.ClearField(field.name)
    else:
        setattr(message, field.name, _scalar(dice, field, known))


def _unplug(dice: random.Random, node: onnx.NodeProto) -> None:
    """A node loses what it reads or makes, or has one end left out."""
    ends = dice.choice((node.input, node.output))
    kind = dice.randrange(3)
    if kind == 0:
        del ends[:]
    elif ends:
        at = dice.randrange(len(ends)) if kind == 1 else -1
        ends[at] = ""


def model(dice: random.Random, data: bytes, another: bytes) -> bytes:
    """A model with some of its fields changed; the other model's parts may turn up in it."""
    proto = onnx.ModelProto.FromString(data)
    for _ in range(dice.choice((1, 1, 1, 2, 3, 6))):
        parts = _messages(proto, [])
        known = [one.name for one in parts if isinstance(getattr(one, "name", None), str)][:200]
        known += [
            text for one in parts if isinstance(one, onnx.NodeProto) for text in (*one.input, *one.output)
        ]
        donors = parts
        if dice.random() < 0.2:
            donors = _messages(onnx.ModelProto.FromString(another), [])
        nodes = [one for one in parts if isinstance(one, onnx.NodeProto)]
        if nodes and dice.random() < 0.25:
            _unplug(dice, dice.choice(nodes))
        else:
            _change(dice, dice.choice(parts), known, donors)
        if proto.ByteSize() > LARGEST:
            break
    made = proto.SerializeToString()
    return mangled_text(dice, made, proto) if dice.random() < 0.1 else made


def mangled_text(dice: random.Random, made: bytes, proto: onnx.ModelProto) -> bytes:
    """A text of the model with a byte that is not UTF-8, which no library would write."""
    texts = {
        text.encode()
        for one in _messages(proto, [])
        for field, value in one.ListFields()
        if field.type == Field.TYPE_STRING
        for text in ([value] if isinstance(value, str) else value)
        if text
    }
    if not texts:
        return made
    text = dice.choice(sorted(texts))
    at = dice.randrange(len(text))
    broken = text[:at] + bytes([dice.choice((0x80, 0xC0, 0xFF))]) + text[at + 1 :]
    return made.replace(text, broken, dice.choice((1, -1)))


def raw(dice: random.Random, data: bytes, another: bytes) -> bytes:
    """Bytes with some changed, left out, repeated or taken from elsewhere."""
    made = bytearray(data)
    for _ in range(dice.choice((1, 1, 2, 4, 16))):
        if not made:
            return bytes(made)
        at = dice.randrange(len(made))
        length = dice.choice((1, 2, 4, 8, 64, 500))
        kind = dice.randrange(7)
        if kind == 0:
            made[at] ^= 1 << dice.randrange(8)
        elif kind == 1:
            made[at] = dice.choice((0, 1, 0x7F, 0x80, 0xFE, 0xFF))
        elif kind == 2:
            del made[at : at + length]
        elif kind == 3:
            made[at:at] = dice.randbytes(min(length, 16))
        elif kind == 4:
            made[at:at] = made[at : at + length]
        elif kind == 5 and another:
            start = dice.randrange(len(another))
            made[at : at + length] = another[start : start + length]
        elif kind == 6 and dice.random() < 0.2:
            del made[at:]
    return bytes(made)


def tree(dice: random.Random, value: Any) -> Any:
    """JSON with a few of its values changed, left out, or moved."""
    value = json.loads(json.dumps(value))
    for _ in range(dice.choice((1, 1, 2, 4))):
        places = list(_places(value))
        if not places:
            return _leaf(dice)
        holder, key = dice.choice(places)
        kind = dice.randrange(6)
        if kind == 0:
            del holder[key]
        elif kind == 1:
            donor, at = dice.choice(places)
            copy = json.loads(json.dumps(donor[at] if donor is not holder else _leaf(dice)))
            if len(json.dumps(copy)) < LARGEST // 8:
                holder[key] = copy
        elif kind == 2 and isinstance(holder, dict):
            holder[dice.choice(TEXTS)] = holder.pop(key)
        elif kind == 3:
            holder[key] = [holder[key]] * dice.choice((0, 1, 2, 20))
            if len(json.dumps(value)) > LARGEST:
                holder[key] = None
        else:
            holder[key] = _leaf(dice)
    return value


def _leaf(dice: random.Random) -> Any:
    return dice.choice(
        (
            None,
            True,
            False,
            {},
            [],
            dice.choice(INTEGERS),
            10**30,
            dice.choice(FLOATS[:7]),
            dice.choice(TEXTS),
        )
    )


def _places(value: Any) -> Any:
    """(container, key) of all values."""
    todo = [value]
    while todo:
        one = todo.pop()
        keys = list(one) if isinstance(one, dict) else range(len(one)) if isinstance(one, list) else ()
        for key in keys:
            yield one, key
            if isinstance(one[key], (dict, list)):
                todo.append(one[key])
