"""Variants in checkpoints: encoded `VariantTensorDataProto` messages, told apart from strings by their class."""

from collections.abc import Iterable

from headrace._src.formats.tensor_wire import fields
from headrace._src.formats.wire import message, text


class EncodedVariant(bytes):
    """An encoded `VariantTensorDataProto`, as tensors of variants hold it on its way to a file."""


def encode_variant(type_name: str, metadata: bytes, tensors: Iterable[bytes] = ()) -> EncodedVariant:
    """A message about a value of a type, which is described by bytes of its own and encoded `TensorProto`s."""
    described = text(1, type_name) + message(2, metadata)
    return EncodedVariant(described + b"".join([message(3, tensor) for tensor in tensors]))


def decode_variant(data: bytes) -> tuple[str, bytes]:
    """The type and the bytes that a message is about.

    Raises:
        ValueError: this is no such message.
    """
    name = metadata = b""
    for number, kind, value in fields(data):
        if number == 1 and kind == 2:
            name = value
        elif number == 2 and kind == 2:
            metadata = value
    return name.decode("utf-8", "replace"), metadata


def variant_tensors(data: bytes) -> list[bytes]:
    """The tensors that a message has besides, as encoded `TensorProto`s."""
    return [value for number, kind, value in fields(data) if number == 3 and kind == 2]
