"""Pipelines whose iterators are saved by one framework and go on in the other, at several positions each.

They run unchanged on TensorFlow and on headrace. Files are below the working directory, so that their paths are the
same everywhere.
"""

import gzip
import pathlib
import struct

import numpy as np

POSITIONS = (0, 1, 3, 4, 7, 13)
FOLLOWING = 14  # elements that are compared after each position
SEED = 5
# Positions that TensorFlow saved from which headrace cannot go on, and why: the file does not say enough.
REFUSED = {"shuffle_shuffle-4": "the seeds of the shuffles before it are gone"}
NUMBERS = np.arange(24.0).reshape(12, 2)
LABELS = np.arange(12)
WORDS = np.array([b"", b"one", b"two words", b"\xff\x00", b"five", b"six", b"seven", b"eight"], object)


FOLDER = pathlib.Path("position_files")


def make_files(tf, folder=FOLDER):
    """Write the files that pipelines read."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in range(3):
        with tf.io.TFRecordWriter(str(folder / f"records{file}")) as writer:
            for number in range(5 - file):
                writer.write(f"record {file} {number}".encode() * number)
        lines = [f"line {file} {number}" for number in range(4 + file)]
        (folder / f"lines{file}").write_bytes("\n".join(lines).encode())
        (folder / f"windows{file}").write_bytes("\r\n".join([*lines, ""]).encode())
        (folder / f"lines{file}.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
        (folder / f"pieces{file}").write_bytes(b"head" + bytes(range(24)) + b"ft")
        examples = [tf.train.Example() for _ in range(6)]
        with tf.io.TFRecordWriter(str(folder / f"examples{file}")) as writer:
            for number, example in enumerate(examples):
                example.features.feature["x"].float_list.value.extend([number, file + 0.5])
                example.features.feature["y"].int64_list.value.append(10 * file + number)
                writer.write(example.SerializeToString())
        with tf.io.TFRecordWriter(str(folder / f"records{file}.gz"), "GZIP") as writer:
            for number in range(4):
                writer.write(struct.pack("<q", number))


def with_options(tf, dataset, **values):
    """Options by paths with two underscores between parts."""
    options = tf.data.Options()
    for path, value in values.items():
        *outer, name = path.split("__")
        place = options
        for part in outer:
            place = getattr(place, part)
        setattr(place, name, value)
    return dataset.with_options(options)


def one_after_another(tf, dataset):
    """Without anything that is read ahead: what iterators remember is then the same each time."""
    dataset = with_options(tf, dataset, experimental_optimization__inject_prefetch=False)
    return with_options(tf, dataset, autotune__enabled=False)


def pipelines(tf, folder=FOLDER):
    """All of them, by name."""
    data = tf.data.Dataset
    R, S = data.range, data.from_tensor_slices
    paths = {kind: sorted(map(str, folder.glob(f"{kind}[0-9]"))) for kind in FILES}
    paths |= {f"{kind}.gz": sorted(map(str, folder.glob(f"{kind}[0-9].gz"))) for kind in FILES}
    pairs = (NUMBERS, LABELS)
    return {
        **_simple(tf, data, R, S, pairs),
        **_shuffled(tf, data, R, S, pairs),
        **_of_files(tf, data, R, S, paths),
        **_of_datasets(tf, data, R, S),
        **_combined(tf, data, R, S, pairs, paths),
    }


FILES = ("records", "lines", "windows", "pieces", "examples")


def _double(x):
    return x * 2


def _simple(tf, data, R, S, pairs):
    rows = R(20).map(lambda i: tf.fill([i % 5], i))
    return {
        "range": R(20),
        "range_step": R(50, -10, -7),
        "slices": S(pairs),
        "slices_words": S(WORDS),
        "slices_dict": S({"a": NUMBERS, "b": LABELS}),
        "single": data.from_tensors([1, 2]),
        "map": R(20).map(_double),
        "map_par": R(20).map(_double, num_parallel_calls=2),
        "map_auto": R(20).map(_double, num_parallel_calls=-1),
        "map_twice": R(20).map(_double).map(lambda i: i + 1),
        "map_same": R(20).map(lambda i: i).batch(3),
        "map_shapes": rows,
        "map_condition": R(20).map(lambda i: tf.cond(i > 5, lambda: i, lambda: -i)),
        "map_assert": R(20).map(lambda i: _checked(tf, i)),
        "map_text": S(WORDS).map(tf.strings.length),
        "batch": R(20).batch(3),
        "batch_drop": R(20).batch(3, drop_remainder=True),
        "batch_par": R(20).batch(3, num_parallel_calls=2),
        "map_batch": R(20).map(_double).batch(3),
        "map_par_batch": R(20).map(_double, num_parallel_calls=2).batch(3),
        "map_loop_batch": R(20).map(lambda i: _counted(tf, i), num_parallel_calls=2).batch(3),
        "map_loop_par": R(20).map(lambda i: _counted(tf, i), num_parallel_calls=2),
        "batch_map": R(20).batch(3).map(_double),
        "map_batch_par": R(20).map(_double).batch(3, num_parallel_calls=2),
        "padded": rows.padded_batch(3),
        "padded_drop": rows.padded_batch(3, drop_remainder=True),
        "repeat": R(6).repeat(3),
        "repeat_endless": R(6).repeat(),
        "repeat_batch": R(7).repeat().batch(3),
        "repeat_none": R(6).repeat(0),
        "repeats": R(3).repeat(2).map(lambda i: i * i).repeat(3),
        "take": R(20).take(9),
        "take_none": R(20).take(0),
        "take_more": R(5).take(9),
        "take_repeat": R(20).take(5).repeat(),
        "skip": R(20).skip(9),
        "skip_more": R(5).skip(9),
        "skip_all": R(5).skip(-1),
        "shard": R(20).shard(3, 1),
        "idle": R(20).skip(0).take(-1).repeat(1).shard(1, 0).batch(2),
        "filter": R(30).filter(lambda i: i % 3 == 0),
        "filter_map": R(30).map(_double).filter(lambda i: i % 3 == 0).batch(2),
        "zip": data.zip((R(20), R(5, 14))),
        "zip_maps": data.zip((R(20).map(_double), S(pairs).map(lambda x, y: x))),
        "concatenate": R(5).concatenate(R(10, 20)),
        "concatenate_more": R(3).shuffle(2, seed=3).concatenate(R(3).map(_double)).concatenate(R(9).shuffle(3, seed=2)),
        "enumerate": S(WORDS).enumerate(5),
        "cache": R(9).cache(),
        "cache_map": R(9).map(_double).cache().repeat(3),
        "cache_calls": R(9).map(lambda i: _counted(tf, i)).cache().map(lambda i: i + 1).batch(2),
        "cache_filter": R(9).filter(lambda i: i % 2 == 0).cache().repeat(3),
        "prefetch": R(20).prefetch(2),
        "prefetch_auto": R(20).map(_double).prefetch(-1),
        "prefetch_none": R(20).prefetch(0),
        "prefetch_inside": R(20).map(_double).prefetch(2).batch(3).prefetch(1),
        "scan": R(20).scan((np.int64(0), 1.0), lambda s, i: ((s[0] + i, s[1] * 2), s[0])),
        "take_while": R(20).take_while(lambda i: i < 9),
    }


def _counted(tf, number):
    """The number, by a loop: such functions are called for each element."""
    return tf.while_loop(lambda i: i < number, lambda i: [i + 1], [np.int64(0)])[0]


def _checked(tf, number):
    tf.debugging.assert_less(number, np.int64(99))
    return number


def _shuffled(tf, data, R, S, pairs):
    return {
        "shuffle": R(20).shuffle(6, seed=3),
        "shuffle_all": R(12).shuffle(12, seed=3),
        "shuffle_more": R(9).shuffle(100, seed=3),
        "shuffle_pairs": S(pairs).shuffle(5, seed=3),
        "shuffle_calls": R(20).map(lambda i: _counted(tf, i)).shuffle(6, seed=3),
        "shuffle_filter": R(40).filter(lambda i: i % 2 == 0).shuffle(6, seed=3),
        "shuffle_batch": R(20).shuffle(6, seed=3).batch(2),
        "shuffle_repeat": R(6).shuffle(4, seed=3).repeat(3),
        "shuffle_repeat_more": R(6).shuffle(10, seed=3).repeat(3),
        "shuffle_repeat_endless": R(6).shuffle(4, seed=3).repeat(),
        "shuffle_repeat_same": R(6).shuffle(4, seed=3, reshuffle_each_iteration=False).repeat(3),
        "shuffle_filter_repeat": R(12).filter(lambda i: i % 2 == 0).shuffle(4, seed=3).repeat(3),
        "shuffle_filter_repeat_more": R(12).filter(lambda i: i % 2 == 0).shuffle(40, seed=3).repeat(),
        "shuffle_map_repeat": R(6).shuffle(4, seed=3).map(_double).repeat(3),
        "shuffle_batch_repeat": R(10).shuffle(10, seed=5).batch(4).repeat(4),
        "shuffle_prefetch_repeat": R(6).shuffle(4, seed=3).prefetch(1).repeat(3),
        "shuffle_words": S(WORDS).shuffle(5, seed=3).repeat(2),
        "repeat_shuffle": R(6).repeat(3).shuffle(4, seed=3),
        "shuffle_shuffle": R(12).shuffle(5, seed=1).shuffle(3, seed=2).batch(2).repeat(2),
        "shuffle_once": R(12).shuffle(5, seed=1).repeat(1),
        "cache_shuffle_repeat": R(9).cache().shuffle(9, seed=1).repeat(),
        "cache_filter_shuffle": R(9).filter(lambda i: i % 2 == 0).cache().shuffle(3, seed=1).repeat(),
    }


def _of_files(tf, data, R, S, paths):
    records, lines = tf.data.TFRecordDataset, tf.data.TextLineDataset
    pieces = tf.data.FixedLengthRecordDataset(paths["pieces"], 4, header_bytes=4, footer_bytes=2)
    return {
        "records": records(paths["records"]),
        "records_gz": records(paths["records.gz"], compression_type="GZIP"),
        "records_of_dataset": records(S(paths["records"])),
        "lines": lines(paths["lines"]),
        "lines_windows": lines(paths["windows"]),
        "lines_gz": lines(paths["lines.gz"], compression_type="GZIP"),
        "pieces": pieces,
        "records_batch": records(paths["records"]).batch(3),
        "lines_shuffle": lines(paths["lines"]).shuffle(4, seed=2).repeat(2).batch(2),
        "lines_map": lines(paths["lines"]).map(tf.strings.length),
        "lines_skip": lines(paths["lines"]).skip(2).map(lambda x: tf.strings.split(x, " ")[2]).batch(2),
        "lines_filter": lines(paths["lines"]).filter(lambda x: tf.strings.length(x) > 0).map(tf.strings.upper),
        "flat_map_files": S(paths["lines"]).flat_map(lambda path: lines(path).skip(1)),
        "interleave_files": S(paths["records"]).interleave(records, cycle_length=2),
        "interleave_files_par": S(paths["records"]).interleave(records, cycle_length=2, num_parallel_calls=2),
        "interleave_files_block": S(paths["lines"]).interleave(lines, cycle_length=3, block_length=2),
    }


def _of_datasets(tf, data, R, S):
    return {
        "flat_map": R(5).flat_map(lambda i: R(i, i + 4)),
        "flat_map_empty": R(9).flat_map(lambda i: R(i % 3)),
        "flat_map_batch": R(4).flat_map(lambda i: R(i, i + 5).map(lambda j: j * i).batch(2)),
        "flat_map_map": R(4).flat_map(lambda i: R(i, i + 3).map(lambda j: j * i).take(-1).repeat(2)),
        "flat_map_nested": R(4).flat_map(lambda i: R(4).flat_map(lambda j: R(i + j))),
        "flat_map_shuffled": R(6).shuffle(4, seed=2).flat_map(lambda i: R(i)).batch(2),
        "interleave": R(5).interleave(lambda i: R(10 * i, 10 * i + i), cycle_length=2),
        "interleave_block": R(6).interleave(lambda i: R(10 * i, 10 * i + 5), cycle_length=3, block_length=2),
        "interleave_par": R(6).interleave(lambda i: R(10 * i, 10 * i + 3), cycle_length=2, num_parallel_calls=2),
        "interleave_par_block": R(6).interleave(
            lambda i: R(10 * i, 10 * i + i), cycle_length=3, block_length=2, num_parallel_calls=3
        ),
        "interleave_repeat": R(3).interleave(lambda i: R(10 * i, 10 * i + 2), cycle_length=2).repeat(3),
        "unbatch": R(20).batch(6).unbatch(),
        "unbatch_pairs": data.zip((R(20), R(20).map(_double))).batch(6).unbatch().batch(4),
        "window": R(20).window(4).flat_map(lambda part: part.batch(4)),
        "window_shift": R(15).window(4, shift=2).flat_map(lambda part: part.batch(4)),
        "window_drop": R(15).window(4, 2, drop_remainder=True).flat_map(lambda part: part.batch(4)),
        "window_far": R(30).window(2, shift=5).flat_map(lambda part: part),
        "window_stride": R(15).window(3, 1, 2).flat_map(lambda part: part.batch(3)),
        "window_filter": R(30).filter(lambda i: i % 2 == 0).window(4, 2).flat_map(lambda part: part.batch(4)),
        "window_pairs": data.zip((R(12), R(12).map(_double)))
        .window(3, 2)
        .flat_map(lambda a, b: data.zip((a.batch(3), b.batch(3)))),
    }


def _combined(tf, data, R, S, pairs, paths):
    features = {"x": tf.io.FixedLenFeature([2], tf.float32), "y": tf.io.FixedLenFeature([], tf.int64)}

    def one(record):
        return tf.io.parse_single_example(record, features)

    def several(records):
        return tf.io.parse_example(records, features)

    examples = tf.data.TFRecordDataset(paths["examples"])
    double = lambda x, y: (x * 2, y)
    return {
        "train": S(pairs).shuffle(12, seed=1).repeat().batch(4).map(double).prefetch(-1),
        "train_epochs": S(pairs).shuffle(12, seed=1).batch(5).repeat().prefetch(-1),
        "train_mapped": S(pairs).map(double, num_parallel_calls=-1).shuffle(12, seed=1).repeat().batch(4).prefetch(-1),
        "train_cached": S(pairs).map(double, num_parallel_calls=-1).cache().shuffle(12, seed=1).batch(4).prefetch(-1),
        "train_records": examples.shuffle(8, seed=1).map(one, num_parallel_calls=-1).batch(4).prefetch(-1),
        "train_parsed": examples.map(one).shuffle(8, seed=1).repeat().batch(4).prefetch(1),
        "train_batches": examples.batch(4).map(several).prefetch(-1),
        "train_interleaved": S(paths["examples"])
        .interleave(tf.data.TFRecordDataset, cycle_length=2, num_parallel_calls=-1, deterministic=True)
        .map(one, num_parallel_calls=-1)
        .batch(3)
        .prefetch(-1),
        "images": S([str(path) for path in sorted(FOLDER.glob("lines*"))]).map(tf.io.read_file).batch(2).prefetch(1),
        "unique": R(60).map(lambda i: i // 3).unique(),
        "rebatch": R(20).batch(6).rebatch(4),
        "rebatch_sizes": R(20).batch(6).rebatch([2, 1, 3]),
        "asserted": R(20).apply(tf.data.experimental.assert_cardinality(20)).batch(3),
        "counter": data.counter(3, 2).batch(2),
        "options_between": with_options(tf, R(9).shuffle(3, seed=1), deterministic=True).repeat(2),
        "options_apart": with_options(tf, R(20).map(_double), deterministic=True).batch(2),
        "not_tuned": with_options(tf, R(20).map(_double).shuffle(3, seed=1).repeat(2), autotune__enabled=False),
        "not_tuned_batch": with_options(tf, R(20).map(_double).batch(2), autotune__enabled=False),
        "not_optimized": with_options(
            tf, R(9).map(_double).batch(2).shuffle(3, seed=1).repeat(2).take(-1),
            experimental_optimization__apply_default_optimizations=False,
        ),
        "no_prefetch": one_after_another(tf, R(9).shuffle(3, seed=1)),
    }  # fmt: skip


def plain(tf, element):
    """An element as JSON has it."""
    return [_json(x.numpy()) for x in tf.nest.flatten(element, expand_composites=True)]


def _json(value):
    value = np.asarray(value)
    if value.dtype == object or value.dtype.kind == "S":
        return [bytes(x).hex() for x in value.ravel().tolist()]
    return value.tolist()


def following(tf, iterator):
    """The next elements; None after the last."""
    elements = []
    for _ in range(FOLLOWING):
        element = next(iterator, None)
        elements.append(None if element is None else plain(tf, element))
        if element is None:
            break
    return elements
