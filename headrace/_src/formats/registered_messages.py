"""Tells core which messages shapes, specs and dtypes turn into; protobuf is imported when one is first made."""

from headrace._src.core.lazy import LazyModule
from headrace._src.core.messages import register_message

_messages = LazyModule("headrace._src.formats.graph_messages")

register_message("TensorShapeProto", lambda: _messages.TensorShapeProto)
register_message("TensorSpecProto", lambda: _messages.TensorSpecProto)
register_message("SerializedDType", lambda: _messages.SerializedDType)
