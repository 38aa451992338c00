"""`tf.compat.v1.train.summary_iterator`: the events of a file, one after the other."""

from collections.abc import Iterator
from typing import Any

from headrace._src.core import errors
from headrace._src.core.lazy import LazyModule, protobuf_message
from headrace._src.formats import files
from headrace._src.op.api import api
from headrace._src.state.record_writer import tf_record_iterator

_events = LazyModule("headrace._src.formats.event_messages")


@api("compat.v1.train.summary_iterator", dispatch=False)
def summary_iterator(path) -> Iterator[Any]:
    """The `Event` messages of an event file.

    Args:
        path: of the file.

    Raises:
        NotFoundError: there is no such file.
        DataLossError: it is damaged. A last event that was not written to its end is left out.
    """
    path = files.path_string(path)
    return _walk(path)


def _walk(path):
    for number, record in enumerate(tf_record_iterator(path)):
        try:
            yield _events.Event.FromString(record)
        except protobuf_message.DecodeError as error:
            raise errors.data_loss(f"{path}: event {number} is no Event message: {error}") from None
