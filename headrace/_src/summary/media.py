"""`tf.summary.image` and `tf.summary.audio`."""

import functools

from headrace._src.core import dtypes
from headrace._src.core.tensor import Tensor
from headrace._src.formats import event_wire, wire
from headrace._src.graph.control.map_fn import map_fn
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.filling import fill
from headrace._src.ops.arrays.joining import concat, stack
from headrace._src.ops.arrays.measuring import shape
from headrace._src.ops.arrays.shaping import reshape
from headrace._src.ops.debugging.assertions import assert_non_negative
from headrace._src.ops.debugging.static_assertions import assert_rank
from headrace._src.ops.images.adjustments import convert_image_dtype
from headrace._src.ops.images.encoding import encode_png
from headrace._src.ops.signal.audio import encode_wav
from headrace._src.ops.strings.numbers import as_string
from headrace._src.summary.writer_ops import known_metadata
from headrace._src.summary.writing import summary_of, write

_WAV = wire.integer(2, 11)  # what the audio plugin is told: encoding = WAV


@api("summary.image", dispatch=False)
def image(name, data, step=None, max_outputs=3, description=None) -> Tensor:
    """Writes images to the default writer, as PNG.

    Args:
        name: what it is called, after the open name scopes.
        data: a tensor of shape [images, height, width, channels]: of uint8, or floating from 0 to 1 (what is beyond is
            clipped). One channel is gray, 2 are gray and opacity, 3 are colours, 4 are colours and opacity.
        step: an int, an int64 scalar or a variable of one; that of `tf.summary.experimental.set_step` by default.
        max_outputs: only the first so many images are written.
        description: a text in Markdown.

    Returns:
        A boolean tensor: whether it was written.

    Raises:
        ValueError: data has another rank, or there is no step.
        InvalidArgumentError: another number of channels, or max_outputs is negative.

    >>> with tf.summary.create_file_writer("/tmp/headrace_doc/logs").as_default():
    ...     print(bool(tf.summary.image("noise", tf.random.uniform([2, 8, 8, 3]), step=1)))
    True
    """
    metadata = known_metadata(event_wire.metadata("images", description=description))

    def encoded():
        images = to_tensor(data)
        assert_rank(images, 4)
        assert_non_negative(max_outputs)
        sizes = shape(images)
        images = convert_image_dtype(images[:max_outputs], dtypes.uint8, saturate=True)
        dimensions = stack([as_string(sizes[2], name="width"), as_string(sizes[1], name="height")], name="dimensions")
        return concat([dimensions, encode_png(images)], axis=0)

    with summary_of("image", name) as tag:
        return write(tag, encoded, step, metadata)


@api("summary.audio", dispatch=False)
def audio(name, data, sample_rate, step=None, max_outputs=3, encoding=None, description=None) -> Tensor:
    """Writes sounds to the default writer, as WAV.

    Args:
        name: what it is called, after the open name scopes.
        data: float32 of shape [sounds, frames, channels], from -1 to 1.
        sample_rate: frames per second, an int32 scalar.
        step: an int, an int64 scalar or a variable of one; that of `tf.summary.experimental.set_step` by default.
        max_outputs: only the first so many sounds are written.
        encoding: "wav" or None.
        description: a text in Markdown.

    Returns:
        A boolean tensor: whether it was written.

    Raises:
        ValueError: another encoding or rank, or there is no step.

    >>> with tf.summary.create_file_writer("/tmp/headrace_doc/logs").as_default():
    ...     print(bool(tf.summary.audio("silence", tf.zeros([1, 800, 1]), sample_rate=8000, step=1)))
    True
    """
    if encoding not in (None, "wav"):
        raise ValueError(f"Unknown encoding: {encoding!r}")
    metadata = known_metadata(event_wire.metadata("audio", _WAV, description))

    def encoded():
        sounds = to_tensor(data)
        assert_rank(sounds, 3)
        assert_non_negative(max_outputs)
        sounds = sounds[:max_outputs]
        encode = functools.partial(encode_wav, sample_rate=sample_rate)
        # A vector also where there is no sound at all.
        sounds = reshape(map_fn(encode, sounds, fn_output_signature=dtypes.string, name="encode_each_audio"), [-1])
        return stack([sounds, fill(shape(sounds), "")], axis=1)

    with summary_of("audio", name) as tag:
        return write(tag, encoded, step, metadata)
