"""Strings to hash buckets, fingerprints of rows, and base64."""

import base64
import binascii
import functools
import re

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.op.infer import same_as_input
from headrace._src.op.traits import ELEMENTWISE
from headrace._src.ops.strings.hashing import fingerprint64, hash_strings, murmur64, siphash
from headrace._src.ops.strings.kernel_arrays import map_strings, scalar_string


def buckets_of(op, function, strings, num_buckets):
    """The bucket, in [0, num_buckets), of every string of an array, as int64."""
    if num_buckets < 1:
        raise errors.invalid_argument(f"{op}: num_buckets must be at least 1, got {num_buckets}.")
    hashes = hash_strings(function, strings.ravel().tolist())
    return (hashes % np.uint64(num_buckets)).astype(np.int64).reshape(strings.shape)


STRING_TO_HASH_BUCKET = Op(
    "StringToHashBucket",
    "string_tensor: string, *, num_buckets: int -> output: int64",
    traits=ELEMENTWISE,
    infer=same_as_input,
    kernel=lambda strings, num_buckets: buckets_of("StringToHashBucket", murmur64, strings, num_buckets),
    lower=None,  # strings exist on the host only
    grad=None,
)


@api("strings.to_hash_bucket", of=STRING_TO_HASH_BUCKET)
def to_hash_bucket(input, num_buckets, name=None) -> Tensor:
    """A number in [0, num_buckets) for each string, by MurmurHash. Prefer `to_hash_bucket_fast`."""
    return STRING_TO_HASH_BUCKET(input, num_buckets=int(num_buckets), name=name)


STRING_TO_HASH_BUCKET_FAST = Op(
    "StringToHashBucketFast",
    "input: string, *, num_buckets: int -> output: int64",
    traits=ELEMENTWISE,
    infer=same_as_input,
    kernel=lambda input, num_buckets: buckets_of("StringToHashBucketFast", fingerprint64, input, num_buckets),
    lower=None,  # strings exist on the host only
    grad=None,
)


@api("strings.to_hash_bucket_fast", of=STRING_TO_HASH_BUCKET_FAST)
def to_hash_bucket_fast(input, num_buckets, name=None) -> Tensor:
    """A number in [0, num_buckets) for each string, by FarmHash: the same on every machine and in every run.

    >>> tf.strings.to_hash_bucket_fast(["Hello", "TensorFlow"], 3).numpy().tolist()
    [0, 2]
    """
    return STRING_TO_HASH_BUCKET_FAST(input, num_buckets=int(num_buckets), name=name)


def _strong(input, num_buckets, key):
    if len(key) != 2:
        raise errors.invalid_argument(f"StringToHashBucketStrong: key must have 2 elements, got {len(key)}.")
    keyed = functools.partial(siphash, key=tuple(key))
    return buckets_of("StringToHashBucketStrong", keyed, input, num_buckets)


STRING_TO_HASH_BUCKET_STRONG = Op(
    "StringToHashBucketStrong",
    "input: string, *, num_buckets: int, key: list(int) -> output: int64",
    traits=ELEMENTWISE,
    infer=same_as_input,
    kernel=_strong,
    lower=None,  # strings exist on the host only
    grad=None,
)


@api("strings.to_hash_bucket_strong", of=STRING_TO_HASH_BUCKET_STRONG)
def to_hash_bucket_strong(input, num_buckets, key, name=None) -> Tensor:
    """A number in [0, num_buckets) for each string, by a keyed hash: nobody can prepare collisions.

    Args:
        input: strings.
        num_buckets: the number of buckets.
        key: two integers, kept secret, the key of SipHash.
        name: a name for the operation.
    """
    return STRING_TO_HASH_BUCKET_STRONG(
        input, num_buckets=int(num_buckets), key=key, name=name
    )


def _fingerprint(data, method):
    name = scalar_string("Fingerprint", "method", method)
    if name != b"farmhash64":
        raise errors.invalid_argument(f"Fingerprint: method must be 'farmhash64', got {name!r}.")
    if data.ndim == 0:
        raise errors.invalid_argument("Fingerprint: data must have at least one dimension, got a scalar.")
    count = data.shape[0]
    width = int(np.prod(data.shape[1:], dtype=np.int64))
    if data.dtype == object:
        hashes = hash_strings(fingerprint64, data.ravel().tolist())
        if width == 1:
            return hashes.astype("<u8").view(np.uint8).reshape(count, 8)
        # A row of several strings: the fingerprint of their fingerprints.
        data = hashes.reshape(count, width)
    little = np.ascontiguousarray(data).reshape(count, width)
    rows = little.view(np.uint8).reshape(count, width * data.dtype.itemsize)
    return fingerprint64(rows).astype("<u8").view(np.uint8).reshape(count, 8)


FINGERPRINT = Op(
    "Fingerprint",
    "data: T, method: string -> fingerprint: uint8",
    T=dtypes.ANY - {dtypes.resource, dtypes.variant},
    infer=lambda data, method: TensorShape([data.shape[0] if data.shape.rank else None, 8]),
    kernel=_fingerprint,
    lower=None,  # 64-bit hashing of the bytes of rows is host work, and takes a string as input
    grad=None,
)


@api("fingerprint")
def fingerprint(data, method="farmhash64", name=None) -> Tensor:
    """A fingerprint of 8 bytes for each element of the first dimension.

    >>> tf.fingerprint([[1, 2], [3, 4]]).shape
    TensorShape([2, 8])
    """
    return FINGERPRINT(data, to_tensor(method, dtypes.string), name=name)


_WEB_SAFE = bytes.maketrans(b"+/", b"-_")


def _encode(item, pad):
    text = binascii.b2a_base64(item, newline=False).translate(_WEB_SAFE)
    return text if pad else text.rstrip(b"=")


ENCODE_BASE64 = Op(
    "EncodeBase64",
    "input: string, *, pad: bool = False -> output: string",
    traits=ELEMENTWISE,
    infer=same_as_input,
    kernel=lambda input, pad: map_strings(lambda item: _encode(item, pad), input),
    lower=None,  # strings exist on the host only
    grad=None,
)


@api("io.encode_base64", of=ENCODE_BASE64)
def encode_base64(input, pad=False, name=None) -> Tensor:
    """Strings in web-safe base64 (`-` and `_` for `+` and `/`), filled up with `=` when `pad`.

    >>> tf.io.encode_base64("hi", pad=True).numpy()
    b'aGk='
    """
    return ENCODE_BASE64(input, pad=pad, name=name)


_BASE64 = re.compile(rb"(?:[A-Za-z0-9_-]{4})*(?:[A-Za-z0-9_-]{2}(?:==)?|[A-Za-z0-9_-]{3}=?)?")


def _decode(item):
    if not _BASE64.fullmatch(item):
        raise errors.invalid_argument(f"DecodeBase64: input must be web-safe base64, got {item!r}.")
    try:
        return base64.urlsafe_b64decode(item + b"=" * (-len(item) % 4))
    except binascii.Error as error:
        raise errors.invalid_argument(f"DecodeBase64: {error}: {item!r}.") from None


DECODE_BASE64 = Op(
    "DecodeBase64",
    "input: string -> output: string",
    traits=ELEMENTWISE,
    infer=same_as_input,
    kernel=lambda input: map_strings(_decode, input),
    lower=None,  # strings exist on the host only
    grad=None,
)


@api("io.decode_base64", of=DECODE_BASE64)
def decode_base64(input, name=None) -> Tensor:
    """The strings that web-safe base64 stands for; `=` at the end may be missing.

    Raises:
        InvalidArgumentError: for anything that is not web-safe base64.
    """
    return DECODE_BASE64(input, name=name)
