"""Readers of texts and of single strings as targets: regular expressions, encodings, compressed strings, programs."""

import functools
import gzip
import os
import tempfile
import zlib

from byte_mutations import any_bytes
from fuzz_checkpoints import files_in
from fuzz_messages import of_message
from fuzz_targets import Find, exchanged_files, on_file, one_file, target
from google.protobuf import descriptor_pb2

import headrace as tf
from headrace._src.graph.compiling import program_store
from headrace._src.graph.compiling.programs import Built

FILE = "data"

# Regular expressions: a pattern, a line break, a replacement.

_PATTERNS = [
    rb"a(b|c)*d" b"\n" rb"<\1>", rb"(?i)[[:alpha:]\d_-]+\.(?:com|org)$" b"\nx", rb"^(\w+)\s+(\w+)" b"\n" rb"\2 \1",
    rb"(a*)*b{2,5}?" b"\n", rb"\pL+[^\x00-\x7f]?|\x{1F600}" b"\n" rb"\0\0", rb"(?P<n>x+x+)+y" b"\n-",
    rb"((((a?)?)?)?){9}" b"\n",
]  # fmt: skip
_TEXTS = [b"", b"aaaaaaaabbbb", b"abcbcd some.Name@mail.COM \xc3\xa9t\xc3\xa9", b"x" * 60 + b"y", b"\xff\xfe ab"]


@target("regular_expressions", lambda: one_file(FILE, *_PATTERNS), [(1, on_file(any_bytes))], in_memory=True, cost=0.8,
        seconds=2, megabytes=128)  # fmt: skip
def read_pattern(trial):
    pattern, _, rewrite = trial.files[FILE].partition(b"\n")
    trial.attempt(lambda: tf.strings.regex_full_match(_TEXTS, pattern))
    trial.attempt(lambda: tf.strings.regex_replace(_TEXTS, pattern, rewrite, trial.rng.random() < 0.5))


# Strings that stand for others.


def _streams():
    contents = [b"", b"hello " * 200, bytes(range(256)) * 4]
    return one_file(FILE, *map(zlib.compress, contents), *[gzip.compress(data, mtime=0) for data in contents])


@target("compressed_strings", _streams, [(1, on_file(any_bytes))], in_memory=True, cost=0.2)
def read_compressed(trial):
    for kind in ("ZLIB", "GZIP"):
        trial.attempt(lambda kind=kind: tf.io.decode_compressed(trial.files[FILE], kind))


_TEXT = "\xe9t\xe9 \u65e5\u672c \U0001f600"
_ENCODED = [b"SGVsbG8gd29ybGQ", b"____-_-_", _TEXT.encode(), _TEXT.encode("utf-16-be"), b"1.5e3"]


@target("encoded_strings", lambda: one_file(FILE, *_ENCODED), [(1, on_file(any_bytes))], in_memory=True, cost=0.5)
def read_encoded(trial):
    data = trial.files[FILE]
    trial.attempt(lambda: tf.io.decode_base64(data))
    encoding = trial.rng.choice(["UTF-8", "UTF-16-BE", "UTF-32-BE"])
    errors = trial.rng.choice(["strict", "replace", "ignore"])
    trial.attempt(lambda: tf.strings.unicode_decode(data, encoding, errors))
    trial.attempt(lambda: tf.strings.unicode_transcode(data, encoding, "UTF-8", errors))
    trial.attempt(lambda: tf.strings.to_number(data))
    kind = trial.rng.choice([tf.uint8, tf.int32, tf.float16, tf.complex128, tf.bool])
    trial.attempt(lambda: tf.io.decode_raw(data, kind))
    trial.attempt(lambda: tf.io.decode_raw(data, kind, fixed_length=16))


# Messages of types that come with them.


def _descriptor():
    file = descriptor_pb2.FileDescriptorProto(name="fuzz.proto", package="fuzz", syntax="proto2")
    message = file.message_type.add(name="Message")
    kinds = [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 14, 15, 16, 17, 18]
    for number, kind in enumerate(kinds, 1):
        field = message.field.add(name=f"f{number}", number=number, type=kind, label=3)
        if kind == 14:
            field.type_name = ".fuzz.Letter"
    message.field.add(name="inner", number=30, type=11, label=1, type_name=".fuzz.Message")
    letters = file.enum_type.add(name="Letter")
    letters.value.add(name="A", number=0)
    return descriptor_pb2.FileDescriptorSet(file=[file]).SerializeToString()


_MESSAGES = [
    b"",
    b"\x09\0\0\0\0\0\0\xf0\x3f\x15\0\0\x80\x3f\x18\x05\x20\x06\x28\x07\x31" + bytes(8)
    + b"\x3d" + bytes(4) + b"\x40\x01",
    b"\x4a\x02ab\x52\x01c\x58\x01\x60\x00\x1a\x02\x01\x02\xf2\x01\x03\x4a\x01z",
]  # fmt: skip
_OUTPUTS = [
    tf.float64, tf.float32, tf.int64, tf.uint64, tf.int32, tf.uint64, tf.uint32, tf.bool, tf.string, tf.string,
    tf.uint32, tf.int32, tf.int32, tf.int64, tf.int32, tf.int64,
]  # fmt: skip


@target(
    "protos",
    lambda: [{"message": message, "types": _descriptor()} for message in _MESSAGES],
    [
        (6, on_file(any_bytes, "message")),
        (1, lambda rng, files, corpus: of_message(descriptor_pb2.FileDescriptorSet)[1][1](rng, files, corpus)),
    ],
    in_memory=True,
    cost=0.25,
)
def read_proto(trial):
    """The type comes as bytes too, and may be damaged."""
    number = trial.rng.randrange(len(_OUTPUTS))
    names, types = ["inner", f"f{number + 1}"], [tf.string, _OUTPUTS[number]]
    source = b"bytes://" + trial.files["types"]
    trial.attempt(lambda: tf.io.decode_proto([trial.files["message"]], "fuzz.Message", names, types, source))


# Programs that are kept on disk.


@functools.cache
def _programs():
    with tempfile.TemporaryDirectory() as folder:
        before = os.environ.get(program_store.VARIABLE)
        os.environ[program_store.VARIABLE] = folder
        program_store.write("x.program", Built(b"code" * 30, [0], [], [], [("computed", 0)], [], False))
        os.environ.pop(program_store.VARIABLE)
        if before is not None:
            os.environ[program_store.VARIABLE] = before
        return [files_in(folder)]


@target("kept_programs", _programs, [(4, on_file(any_bytes)), (0.5, exchanged_files)], cost=0.4)
def read_program(trial):
    """Whatever is wrong with one, it is as if it was not there."""
    os.chmod(trial.folder, 0o700)
    for name in trial.files:
        os.chmod(trial.path(name), 0o600)
    os.environ[program_store.VARIABLE] = trial.folder
    try:
        built = trial.attempt(lambda: program_store.read("x.program"), named=False)
    finally:
        del os.environ[program_store.VARIABLE]
    if trial.outcomes != ["read"]:
        raise Find(f"an error: {trial.outcomes}")
    if (built is None) != (trial.files != _programs()[0]):
        raise Find("a program that was changed is taken, or one that was not is refused")
