"""Rows of `ops/parsing/file_ops.py`. Files are those of `ram://`, which both sides have."""

import gzip
import zlib

from rows import row, value

# TensorFlow appends to a file of ram:// that is there, so each row removes its own first.
FRESH = "tf.io.gfile.exists('ram://{0}') and tf.io.gfile.remove('ram://{0}')"


def files(code, **options):
    """A row without gradients."""
    return row(code, grad=False, **options)


def written(name, contents, then):
    """A row that writes a file, then evaluates an expression; {0} in it is the path."""
    path = f"ram://{name}"
    fresh = FRESH.format(name)
    return files(f"[{fresh}, tf.io.write_file('{path}', {contents!r}), {then.format(repr(path))}][2]")


ZLIB, GZIP = zlib.compress(b"some text, some text"), gzip.compress(b"some text", mtime=0)

ROWS = [
    written("rows/1", b"abc", "tf.io.read_file({0})"),
    written("rows/2", b"", "tf.io.read_file({0})"),
    written("rows/3", b"\x00\xff\n", "tf.raw_ops.ReadFile(filename={0})"),
    written("rows/deep/er", "é", "tf.io.read_file(tf.constant({0}))"),
    written("rows/5", b"x", "tf.io.matching_files({0})"),
    written("rows6/a1", b"x", "tf.io.matching_files('ram://rows6/*')"),
    written("rows7/a1", b"x", "tf.io.matching_files(['ram://rows7/a[0-9]', 'ram://rows7/?1', 'ram://rows7/b*'])"),
    written("rows8/b/c", b"x", "tf.raw_ops.MatchingFiles(pattern='ram://rows8/*/c')"),
    files("tf.io.read_file('ram://rows_none')"),
    files("tf.io.read_file('/no/such/file')"),
    files("tf.io.read_file('/')"),
    files("tf.io.read_file('')"),
    files("tf.io.read_file(['a', 'b'])"),
    files("tf.io.read_file(3)"),
    files("tf.io.read_file('nobody://has/this')"),
    files("tf.io.write_file(['a'], 'b')"),
    files("tf.io.write_file('ram://rows/9', ['b'])"),
    files("tf.io.write_file('/', 'b')"),
    files("tf.io.write_file('ram://rows/10', 3)"),
    files("tf.raw_ops.WriteFile(filename=['a'], contents='b')"),
    files("tf.io.matching_files('/no/such/*')"),
    files("tf.io.matching_files([])"),
    files("tf.io.matching_files('')"),
    files("tf.io.matching_files([['a']])"),
    files("tf.io.matching_files(1)"),
    files("tf.io.decode_compressed(a, 'ZLIB')", a=value([ZLIB, zlib.compress(b""), b""])),
    files("tf.io.decode_compressed(a, 'GZIP')", a=value([[GZIP, GZIP + GZIP]])),
    files("tf.io.decode_compressed(a)", a=value([[b"plain", b""]])),
    files("tf.io.decode_compressed(a, compression_type='')", a=value(b"x")),
    files("tf.raw_ops.DecodeCompressed(bytes=a, compression_type='ZLIB')", a=value(ZLIB + b"trailing")),
    files("tf.io.decode_compressed(a, 'ZLIB')", a=value([ZLIB[:-2], ZLIB[:8], ZLIB[:1]])),
    files("tf.io.decode_compressed(a, 'GZIP')", a=value([GZIP[:-3], GZIP[:12]])),
    files("tf.io.decode_compressed(a, 'GZIP')", a=value(ZLIB)),
    files("tf.io.decode_compressed(a, 'ZLIB')", a=value(b"no zlib stream")),
    files("tf.io.decode_compressed(a, 'GZIP')", a=value(GZIP + b"trailing")),
    files("tf.io.decode_compressed(a, 'FOO')", a=value(b"x")),
    files("tf.io.decode_compressed(3, 'ZLIB')"),
]  # fmt: skip
