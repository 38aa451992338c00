"""The ops of 1.x summaries: they give encoded `Summary` messages, which a program writes to a file itself."""

from headrace._src.core import dtypes, errors
from headrace._src.op.definition import Op
from headrace._src.op.infer import SCALAR
from headrace._src.ops.strings.kernel_arrays import scalar_string, string_array
from headrace._src.summary import encoded_summaries

_PIXELS = frozenset({dtypes.uint8, dtypes.float32, dtypes.float16, dtypes.float64})


def _summary_op(name, text, kernel, **types):
    def encoded(*inputs, **attrs):
        return string_array([kernel(*inputs, **attrs)], ())

    return Op(
        name,
        f"{text} -> summary: string",
        infer=lambda *inputs, **attrs: SCALAR,
        kernel=encoded,
        lower=None,  # strings exist on the host only
        grad=None,
        **types,
    )


def _brackets(shape):
    return f"[{','.join(map(str, shape))}]"


def _scalar(tags, values):
    if tags.shape != values.shape:
        tag = f" (tag '{tags.ravel()[0].decode()}')" if tags.size == 1 else ""
        raise errors.invalid_argument(
            f"tags and values are not the same shape: {_brackets(tags.shape)} != {_brackets(values.shape)}{tag}"
        )
    return encoded_summaries.scalars(tags, values)


SCALAR_SUMMARY = _summary_op("ScalarSummary", "tags: string, values: T", _scalar, T=dtypes.REAL)
HISTOGRAM_SUMMARY = _summary_op(
    "HistogramSummary",
    "tag: string, values: T",
    lambda tag, values: encoded_summaries.histogram(_tag(tag), values),
    T=dtypes.REAL,
)


def _tag(array):
    if array.ndim:
        raise errors.invalid_argument("Tags must be a scalar")
    return array[()]


def _positive(name, number):
    if number < 1:
        raise errors.invalid_argument(f"{name} must be at least 1, got {number}.")
    return number


def _image(tag, tensor, max_images, bad_color):
    return encoded_summaries.images(_tag(tag), tensor, _positive("max_images", max_images), bad_color._a)


IMAGE_SUMMARY = _summary_op(
    "ImageSummary",
    "tag: string, tensor: T, *, max_images: int = 3, bad_color: tensor = uint8[255, 0, 0, 255]",
    _image,
    T=_PIXELS,
)


def _audio(tag, tensor, sample_rate, max_outputs):
    if sample_rate.ndim:
        raise errors.invalid_argument(f"sample_rate must be a scalar, got shape {_brackets(sample_rate.shape)}")
    return encoded_summaries.sounds(
        _tag(tag), tensor, float(sample_rate), _positive("max_outputs", max_outputs)
    )


AUDIO_SUMMARY = _summary_op(
    "AudioSummaryV2", "tag: string, tensor: float32, sample_rate: float32, *, max_outputs: int = 3", _audio
)
TENSOR_SUMMARY = _summary_op(
    "TensorSummaryV2",
    "tag: string, tensor: T, serialized_summary_metadata: string",
    lambda tag, tensor, serialized_summary_metadata: encoded_summaries.tensor(
        _tag(tag), tensor, scalar_string("TensorSummaryV2", "serialized_summary_metadata", serialized_summary_metadata)
    ),
)
MERGE_SUMMARY = _summary_op("MergeSummary", "inputs: N*string", encoded_summaries.merged)
