"""Readers of files of records as targets: event files, records, and saved datasets."""

import functools
import gzip
import pathlib
import tempfile
import zlib

from byte_mutations import any_bytes
from container_mutations import changed_records, framed, records_of
from fuzz_checkpoints import files_in
from fuzz_targets import Find, exchanged_files, on_file, one_file, target
from message_mutations import mutated_message

import headrace as tf
from headrace._src.formats.event_messages import Event
from headrace._src.formats.line_files import FixedLengthReader, TextLineReader
from headrace._src.formats.records import RecordReader

DATASETS = pathlib.Path(__file__).parents[1] / "fixtures" / "saved_datasets"
NAME = "events.out.tfevents.1.host"


# Event files.


@functools.cache
def event_files():
    """What `tf.summary` writes: each kind of summary, and a graph."""
    with tempfile.TemporaryDirectory() as folder:
        writer = tf.summary.create_file_writer(folder)
        with writer.as_default():
            for step in range(4):
                tf.summary.scalar("loss", 1.0 / (step + 1), step=step)
            tf.summary.histogram("weights", tf.range(10.0), step=1)
            tf.summary.image("picture", tf.zeros([1, 2, 2, 3]), step=1)
            tf.summary.text("words", ["a", "b"], step=2, description="what")
            tf.summary.audio("sound", tf.zeros([1, 8, 1]), 8000, step=3)
            tf.summary.write("any", tf.constant([[1, 2], [3, 4]]), step=2**40)
            tf.summary.graph(tf.function(lambda x: x + 1).get_concrete_function(tf.constant(1.0)).graph)
        writer.close()
        (path,) = pathlib.Path(folder).iterdir()
        full = path.read_bytes()
    first, *others = records_of(full)
    few = b"".join(map(framed, [first, *others[:2]]))
    old = Event(wall_time=1.0, step=3)
    old.summary.value.add(tag="loss", simple_value=0.5)
    return one_file(NAME, full, few, framed(first) + framed(old.SerializeToString()))


def _event(rng, record):
    changed = mutated_message(rng, record, Event) if rng.random() < 0.8 else None
    return any_bytes(rng, record) if changed is None else changed


def _events(path):
    """All events of a file, as a program reads them."""
    iterator = getattr(tf.compat.v1.train, "summary_iterator", None)
    if iterator is not None:
        return list(iterator(path))
    events = []
    for record in tf.compat.v1.io.tf_record_iterator(path):
        try:
            events.append(Event.FromString(record))
        except Exception as error:
            if type(error).__name__ != "DecodeError":
                raise
            raise tf.errors.DataLossError(None, None, f"{path}: {error}") from None
    return events


@target(
    "events",
    event_files,
    [(3, on_file(any_bytes)), (6, on_file(lambda rng, data, others: changed_records(rng, data, _event, others)))],
    named=True,
    group="event",
    cost=1,
)
def read_events(trial):
    events = trial.attempt(lambda: _events(trial.path(NAME))) or []
    for event in events:
        for value in event.summary.value:
            if value.HasField("tensor"):
                trial.attempt(lambda tensor=value.tensor: tf.make_ndarray(tensor), (ValueError, TypeError), named=False)


# Records.


def _packed(compression, data):
    return {"": lambda x: x, "GZIP": lambda x: gzip.compress(x, mtime=0), "ZLIB": zlib.compress}[compression](data)


COMPRESSIONS = ["", "GZIP", "ZLIB"]


def _record_files():
    records = [b"", b"a", b"hello" * 30, bytes(3000), b"x" * 5, b"x" * 5]
    plain = b"".join(map(framed, records))
    many = b"".join(framed(b"%05d" % number) for number in range(200))
    return [{kind or "plain": _packed(kind, data)} for kind in COMPRESSIONS for data in (plain, many)]


@target(
    "records",
    _record_files,
    [
        (3, on_file(any_bytes)),
        (3, on_file(lambda rng, data, others: changed_records(rng, data, any_bytes, others), "plain")),
    ],
    named=True,
    group="event",
    cost=2,
)
def read_records(trial):
    (name,) = trial.files
    kind, path, size = "" if name == "plain" else name, trial.path(name), trial.rng.choice([None, 7, 100])
    alone = trial.attempt(lambda: list(RecordReader(path, kind, size)))
    together = trial.attempt(lambda: list(RecordReader(path, kind)))
    if (alone is None) != (together is None) or (alone is not None and alone != together):
        raise Find("the records depend on the size of blocks")
    trial.attempt(lambda: [x.numpy() for x in tf.data.TFRecordDataset(path, kind)])
    trial.attempt(lambda: list(TextLineReader(path, kind, size)))
    trial.attempt(lambda: list(FixedLengthReader(path, trial.rng.randrange(1, 9), 2, 1, kind)))


# Saved datasets.


_KINDS = {"gzip": "GZIP", "snappy": "SNAPPY", "shards": "SNAPPY"}


def _datasets():
    found = []
    for folder in sorted(DATASETS.iterdir()):
        kind = _KINDS.get(folder.name, "plain")
        found.append({f"{kind}/{name}": data for name, data in files_in(folder).items()})
    return found


@target(
    "saved_dataset",
    _datasets,
    [
        (3, on_file(any_bytes)),
        (3, on_file(lambda rng, data, others: changed_records(rng, data, any_bytes, others), ".snapshot")),
        (0.5, exchanged_files),
    ],
    cost=2,
)
def read_dataset(trial):
    kind = sorted(trial.files)[0].partition("/")[0]
    folder = trial.path(kind)

    def read():
        for _ in zip(range(100), tf.data.Dataset.load(folder, compression=None if kind == "plain" else kind)):
            pass

    trial.attempt(read)
