"""Files of records that TensorFlow writes, and what it reads from ours; run by an interpreter that has it.

    record_files.py write FOLDER     writes a file for each kind
    record_files.py read FOLDER      prints the records of these files, as JSON
"""

import json
import os
import pathlib
import sys

RECORDS = [
    b"", b"a", b"\x00", b"hello", "ünïcödé".encode(), b"\r\n", bytes(range(256)), b"x" * 1000, b"",
    b"".join(i.to_bytes(2, "little") for i in range(3000)), b"last",
]  # fmt: skip

# Kind to the compression that readers are told, and the options of the writer.
KINDS: dict[str, tuple[str, dict]] = {
    "plain": ("", {}),
    "gzip": ("GZIP", {"compression_type": "GZIP"}),
    "zlib": ("ZLIB", {"compression_type": "ZLIB"}),
    "gzip_best": ("GZIP", {"compression_type": "GZIP", "compression_level": 9, "compression_strategy": 2}),
    "gzip_stored": ("GZIP", {"compression_type": "GZIP", "compression_level": 0}),
    "zlib_small": ("ZLIB", {"compression_type": "ZLIB", "window_bits": 10, "mem_level": 1}),
    "zlib_buffers": ("ZLIB", {"compression_type": "ZLIB", "input_buffer_size": 512, "output_buffer_size": 512}),
    "flushed": ("GZIP", {"compression_type": "GZIP", "flush_mode": 2}),
    "empty": ("", {}),
    "empty_gzip": ("GZIP", {"compression_type": "GZIP"}),
}


def records_of(kind: str) -> list[bytes]:
    """What a file of that kind holds."""
    return [] if kind.startswith("empty") else RECORDS


def write(tf, folder: pathlib.Path) -> None:
    """Writes a file of each kind with any `tf`."""
    for kind, (_, options) in KINDS.items():
        with tf.io.TFRecordWriter(str(folder / f"{kind}.tfrecord"), tf.io.TFRecordOptions(**options)) as writer:
            for record in records_of(kind):
                writer.write(record)
                if kind == "flushed":
                    writer.flush()


def main(command, place):
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow as tf

    folder = pathlib.Path(place)
    if command == "write":
        write(tf, folder)
        return
    found = {}
    for kind, (compression, _) in KINDS.items():
        records = tf.data.TFRecordDataset(str(folder / f"{kind}.tfrecord"), compression)
        found[kind] = [record.numpy().hex() for record in records]
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
