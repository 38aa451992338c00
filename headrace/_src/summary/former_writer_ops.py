"""Ops that write summaries of the kinds of 1.x through a writer; graphs of `tf.contrib.summary` have them."""

import time

from headrace._src.core import dtypes, errors
from headrace._src.formats import event_wire
from headrace._src.ops.strings.kernel_arrays import scalar_string, string_array
from headrace._src.summary import encoded_summaries
from headrace._src.summary.writer_ops import effect, file_of, number


def _writing(name, text, encode, **types):
    def kernel(writer, step, tag, *inputs, **attrs):
        file, at = file_of(name, writer), number(name, "step", step)
        data = encode(scalar_string(name, "tag", tag), *inputs, **attrs)
        file.add(event_wire.event(time.time(), at, event_wire.SUMMARY, data))

    return effect(name, f", step: int64, tag: string, {text}", kernel, **types)


def _scalar(tag, value):
    if value.size != 1:
        raise errors.invalid_argument(f"value must be a scalar, got shape {value.shape}.")
    return encoded_summaries.scalars(string_array([tag], ()), value.reshape(()))


WRITE_SCALAR_SUMMARY = _writing("WriteScalarSummary", "value: T", _scalar, T=dtypes.REAL)
WRITE_HISTOGRAM_SUMMARY = _writing("WriteHistogramSummary", "values: T", encoded_summaries.histogram, T=dtypes.REAL)
WRITE_IMAGE_SUMMARY = _writing(
    "WriteImageSummary",
    "tensor: T, bad_color: uint8, *, max_images: int = 3",
    lambda tag, tensor, bad_color, max_images: encoded_summaries.images(tag, tensor, max_images, bad_color),
    T=frozenset({dtypes.uint8, dtypes.float32, dtypes.float16}),
)
WRITE_AUDIO_SUMMARY = _writing(
    "WriteAudioSummary",
    "tensor: float32, sample_rate: float32, *, max_outputs: int = 3",
    lambda tag, tensor, rate, max_outputs: encoded_summaries.sounds(tag, tensor, float(rate), max_outputs),
)
