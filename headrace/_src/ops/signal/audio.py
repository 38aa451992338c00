"""Sound from the bytes of a WAV, and back."""

from typing import TYPE_CHECKING

import numpy as np

from headrace._src.core import errors
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.formats import wav_audio
from headrace._src.op.api import api
from headrace._src.op.definition import Op
from headrace._src.op.infer import SCALAR, with_rank
from headrace._src.ops.strings.kernel_arrays import scalar_string

if TYPE_CHECKING:
    from headrace._src.attached import DecodeWav


def _decode_wav(contents, desired_channels, desired_samples):
    op = "DecodeWav"
    data = scalar_string(op, "contents", contents)
    for name, wanted in (("desired_channels", desired_channels), ("desired_samples", desired_samples)):
        if wanted < -1:
            raise errors.invalid_argument(f"{op}: {name} must be at least -1, got {wanted}.")
    try:
        samples, rate = wav_audio.decode_wav(data)
    except wav_audio.BadSound as error:
        raise errors.invalid_argument(f"{op}: {error}.") from None
    frames = len(samples) if desired_samples == -1 else desired_samples
    channels = samples.shape[1] if desired_channels == -1 else desired_channels
    if frames * channels * 4 > 2**31:
        raise errors.invalid_argument(f"{op}: {frames} samples of {channels} channels are too large, at most 2 GB.")
    audio = np.zeros((frames, channels), np.float32)
    # A channel that the file lacks is a copy of its last one; samples that it lacks are silence.
    sources = np.minimum(np.arange(channels), samples.shape[1] - 1)
    there = samples[:frames]
    audio[: len(there)] = there[:, sources] * np.float32(1 / 32768)
    return audio, np.array(rate, np.int32)


def _audio_shape(contents, desired_channels, desired_samples):
    with_rank(contents, 0, "DecodeWav", "contents")
    size = [None if n == -1 else n for n in (desired_samples, desired_channels)]
    return TensorShape(size), SCALAR


DECODE_WAV = Op(
    "DecodeWav",
    "contents: string, *, desired_channels: int = -1, desired_samples: int = -1 -> audio: float32, sample_rate: int32",
    infer=_audio_shape,
    kernel=_decode_wav,
    lower=None,  # strings exist on the host only
    grad=None,
)


@api("audio.decode_wav")
def decode_wav(contents, desired_channels=-1, desired_samples=-1, name=None) -> "DecodeWav":
    """The sound of a WAV of 16-bit PCM.

    Args:
        contents: the bytes of the file, a string.
        desired_channels: -1 for what the file has. What is missing repeats the last channel, what is more is left out.
        desired_samples: -1 for what the file has. What is missing is silence, what is more is left out.
        name: a name for the operation.

    Returns:
        `audio`, float32 in [-1, 1) of shape (samples, channels), and `sample_rate`, in a second.

    Raises:
        InvalidArgumentError: the contents is no WAV of 16-bit PCM, or something in it is missing or wrong.

    >>> wav = tf.audio.encode_wav([[0.0], [0.5], [-1.0]], 8000)
    >>> audio, rate = tf.audio.decode_wav(wav)
    >>> audio.numpy().ravel().tolist(), int(rate)
    ([0.0, 0.5, -1.0], 8000)
    """
    return DECODE_WAV(contents, desired_channels=desired_channels, desired_samples=desired_samples, name=name)


def _encode_wav(audio, sample_rate):
    op = "EncodeWav"
    if audio.ndim != 2:
        raise errors.invalid_argument(f"{op}: audio must have 2 dimensions, got shape {audio.shape}.")
    if sample_rate.ndim:
        raise errors.invalid_argument(f"{op}: sample_rate must be a scalar, got shape {sample_rate.shape}.")
    if sample_rate <= 0:
        raise errors.invalid_argument(f"{op}: sample_rate must be positive, got {sample_rate}.")
    if not 0 < audio.shape[1] < 2**16:
        raise errors.invalid_argument(f"{op}: audio must have 1 to 65535 channels, got shape {audio.shape}.")
    if audio.size * 2 >= 2**32 - 64:
        raise errors.invalid_argument(f"{op}: a WAV has less than 4 GB, got audio of shape {audio.shape}.")
    return np.array(wav_audio.encode_wav(audio, int(sample_rate)), dtype=object)


ENCODE_WAV = Op(
    "EncodeWav",
    "audio: float32, sample_rate: int32 -> contents: string",
    infer=lambda audio, sample_rate: with_rank(audio, 2, "EncodeWav", "audio") and SCALAR,
    kernel=_encode_wav,
    lower=None,  # strings exist on the host only
    grad=None,
)


@api("audio.encode_wav")
def encode_wav(audio, sample_rate, name=None) -> Tensor:
    """A WAV of 16-bit PCM.

    Args:
        audio: float32 of shape (samples, channels); numbers outside [-1, 1) are clipped.
        sample_rate: the number of samples in a second, an integer.
        name: a name for the operation.

    >>> len(tf.audio.encode_wav(tf.zeros([10, 2]), 44100).numpy())
    84
    """
    return ENCODE_WAV(audio, sample_rate, name=name)
