"""Which cursor walks through which chain of stages, and that nothing else is imported for it."""

import subprocess
import sys

import numpy as np
import pytest

import headrace as tf
from headrace._src.data.running import cursor_choice
from headrace._src.data.running.stages import Run


def _records(tmp_path):
    path = str(tmp_path / "records")
    with tf.io.TFRecordWriter(path) as writer:
        for i in range(6):
            feature = {"x": tf.train.Feature(int64_list=tf.train.Int64List(value=list(range(i))))}
            writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())
    return tf.data.TFRecordDataset(path)


def _unordered(x):
    """A function with no form for blocks."""
    return tf.py_function(lambda value: value, [x], tf.int64)


def _with_processes(dataset):
    options = tf.data.Options()
    options.headrace_worker_processes = 1
    return dataset.with_options(options)


FEATURES = {"x": tf.io.VarLenFeature(tf.int64)}
RANGE = tf.data.Dataset.range
# A chain, the table that its last stage is looked up in, the row, and the cursor.
CHAINS = {
    "blocks of a file": (lambda records: records.map(tf.strings.length), "MAP", 0, "BlockMap"),
    "rows of a file": (lambda records: records.map(lambda x: tf.strings.split(x)), "MAP", 1, "RaggedMap"),
    "batches of records": (
        lambda records: records.batch(2).map(lambda x: tf.io.parse_example(x, FEATURES)), "MAP", 2, "BatchedParse",
    ),
    "records": (lambda records: records.map(lambda x: tf.io.parse_single_example(x, FEATURES)), "MAP", 3, "MapCursor"),
    "records in threads": (
        lambda records: records.map(lambda x: tf.io.parse_single_example(x, FEATURES), 2), "MAP", 3, "ParallelMap",
    ),
    "Python in processes": (lambda records: _with_processes(RANGE(5).map(_unordered)), "MAP", 4, "MapCursor"),
    "Python": (lambda records: RANGE(5).map(_unordered), "MAP", 5, "MapCursor"),
    "Python in threads": (lambda records: RANGE(5).map(_unordered, 2), "MAP", 5, "ParallelMap"),
    "a generator elsewhere": (
        lambda records: _with_processes(
            tf.data.Dataset.from_generator(np.ndindex, args=(3,), output_signature=tf.TensorSpec([1], tf.int64))
        ),
        "GENERATOR", 0, "ProcessCursor",
    ),
    "a generator": (
        lambda records: tf.data.Dataset.from_generator(lambda: range(3), output_signature=tf.TensorSpec([], tf.int64)),
        "GENERATOR", 1, "GeneratorCursor",
    ),
    "numbers shuffled": (lambda records: RANGE(5).shuffle(3), "SHUFFLE", 0, "IndexShuffle"),
    "elements shuffled": (lambda records: records.shuffle(3), "SHUFFLE", 1, "ElementShuffle"),
    "without end by number": (lambda records: RANGE(5).repeat(), "REPEAT", 0, "AccessCursor"),
    "rounds": (lambda records: records.repeat(2), "REPEAT", 1, "RepeatCursor"),
    "no prefetch": (lambda records: records.prefetch(0), "PREFETCH", 0, "_RecordsCursor"),
    "prefetch": (lambda records: records.prefetch(2), "PREFETCH", 1, "ThreadAhead"),
}  # fmt: skip


@pytest.mark.parametrize("name", CHAINS)
def test_the_row_that_decides(name, tmp_path):
    make, table, row, cursor = CHAINS[name]
    stage = make(_records(tmp_path)).stage
    options = stage.options
    if options is not None:
        stage = stage.source  # what the options are for
    # Rows whose cursor is None after all are passed over.
    run = Run(options)
    choices = getattr(cursor_choice, table)
    cursors = [choice.cursor(stage, run) if choice.when(stage, run) else None for choice in choices]
    serving = next(i for i, walk in enumerate(cursors) if walk is not None)
    assert (serving, type(cursors[serving]).__name__) == (row, cursor)
    run.stopped.set()
    for walk in filter(None, cursors):
        walk.close()
    run = Run(options)
    walk = stage.cursor(run)
    assert type(walk).__name__ == cursor
    run.stopped.set()
    walk.close()


def test_elements_by_number_need_no_walk():
    stage = RANGE(5).map(lambda x: x + 1).batch(2).stage
    assert type(stage.cursor(Run())).__name__ == "AccessCursor"


def test_every_row_serves_some_chain():
    tables = [name for name in vars(cursor_choice) if name.isupper() and name != "TYPE_CHECKING"]
    rows = {(table, i) for table in tables for i in range(len(getattr(cursor_choice, table)))}
    assert rows == {(table, row) for _, table, row, _ in CHAINS.values()}


def test_only_files_in_use_are_imported():
    program = (
        "import sys, headrace as tf\nlist(tf.data.Dataset.range(9).map(lambda x: x + 1).batch(2))\n"
        "print([m for m in sys.modules if m.startswith('headrace') and m.endswith(('block_mapping', 'parallel_calls', "
        "'python_processes', 'ragged_mapping', 'ragged_functions', 'shuffling', 'generators', 'threads'))])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr
