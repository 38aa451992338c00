"""Finding message types by name: among headrace's messages, in protobuf's own pool, or in a FileDescriptorSet.

This file is imported when a message type is first asked for: it imports protobuf.
"""

import functools

from headrace._src.core.lazy import LazyModule, descriptor_pb2, descriptor_pool, message_factory, protobuf_message
from headrace._src.formats import (  # so that their messages are in the pool
    event_messages,
    example_messages,
    model_messages,
    profile_messages,
)
from headrace._src.formats.message_classes import pool as own_pool

_text_format = LazyModule("google.protobuf.text_format")

_LOADED = (event_messages, example_messages, model_messages, profile_messages)


@functools.lru_cache(maxsize=64)
def pool_of(content: bytes):
    """The pool of the messages that an encoded `FileDescriptorSet` describes.

    Raises:
        ValueError: it is none, or lacks files that it refers to.
    """
    try:
        files = descriptor_pb2.FileDescriptorSet.FromString(content)
    except protobuf_message.DecodeError as error:
        raise ValueError(f"it is no FileDescriptorSet: {error}") from None
    pool = descriptor_pool.DescriptorPool()
    waiting = list(files.file)
    known: set[str] = set()
    while waiting:
        ready = [file for file in waiting if known.issuperset(file.dependency)]
        if not ready:
            lacking = sorted({name for file in waiting for name in file.dependency} - known)
            raise ValueError(f"it refers to files that are not in it: {', '.join(lacking)}")
        for file in ready:
            try:
                pool.Add(file)
            except (TypeError, protobuf_message.EncodeError) as error:
                raise ValueError(f"the file {file.name!r} in it cannot be used: {error}") from None
            known.add(file.name)
        waiting = [file for file in waiting if file.name not in known]
    return pool


def message_class(name: str, content: bytes | None):
    """The class of the messages called `name`.

    Args:
        name: the full name, such as "tensorflow.Example".
        content: an encoded FileDescriptorSet; None to look among the messages of this process.

    Raises:
        LookupError: there is no such message.
        ValueError: `content` is no FileDescriptorSet.
    """
    if content is not None:
        pool = pool_of(content)
    else:
        try:
            return message_factory.GetMessageClass(own_pool().FindMessageTypeByName(name))
        except KeyError:
            pool = descriptor_pool.Default()
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(name))


def encoded_text(cls, text: bytes) -> bytes:
    """A message in protobuf's text format, encoded.

    Raises:
        ValueError: the text is no such message.
    """
    try:
        return _text_format.Parse(text, cls(), allow_unknown_field=False).SerializePartialToString()
    except (_text_format.ParseError, RecursionError) as error:
        raise ValueError(str(error)) from None
