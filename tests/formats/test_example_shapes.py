"""What TensorFlow refuses of odd messages is refused here, by all ways to parse them; recorded in tests/golden."""

import example_shapes
import numpy as np
import pytest

import headrace as tf
from headrace._src.formats.example_fields import MalformedExample
from headrace._src.formats.example_sequences import SequenceExampleParser
from headrace._src.formats.example_wire import ExampleParser, WrongKind
from headrace._src.formats.records import framed

KINDS = {b"ids": 3, b"weights": 2, b"words": 1}
ANSWERS = example_shapes.answers()
# What is broken, and TensorFlow reads on: messages cut off, wrong bytes behind values, and values of two kinds.
BROKEN = (
    "cut off", "beyond the end", "ends early", "end early", "end of group", "wire type", "zero", "another kind",
    "bytes", "long tag", "twice", "empty", "more than 64 bits", "features, ",
)  # fmt: skip


def is_read(parse, data):
    try:
        parse(data)
    except (MalformedExample, WrongKind):
        return False
    return True


def differences(cases, answers, parse):
    """The names of what is read here and not by TensorFlow, and of what is refused only here."""
    here = {name: is_read(parse, data) for name, data in cases.items()}
    more = [name for name, answer in answers.items() if here[name] and answer != "r"]
    fewer = [name for name, answer in answers.items() if not here[name] and answer == "r"]
    return more, fewer


EXAMPLES = {
    "one": lambda data: ExampleParser(KINDS).parse_one(data),
    "few": lambda data: ExampleParser(KINDS).parse_batch([b"", data, data]),
    "many": lambda data: ExampleParser(KINDS).parse_batch([data] * 40),
}
SEQUENCES = {
    "few": lambda data: SequenceExampleParser(KINDS, KINDS).parse_batch([data]),
    "many": lambda data: SequenceExampleParser(KINDS, KINDS).parse_batch([data] * 40),
}


@pytest.mark.parametrize("way", EXAMPLES)
def test_examples(way):
    cases = example_shapes.examples()
    more, fewer = differences(cases, ANSWERS[0], EXAMPLES[way])
    assert more == []
    assert [name for name in fewer if not any(part in name for part in BROKEN)] == []
    assert len(fewer) < 70
    assert sum(answer == "r" for answer in ANSWERS[0].values()) > 150


@pytest.mark.parametrize("way", SEQUENCES)
def test_sequence_examples(way):
    cases = example_shapes.sequence_examples()
    more, fewer = differences(cases, ANSWERS[1], SEQUENCES[way])
    assert more == []
    assert [name for name in fewer if not any(part in name for part in BROKEN)] == []
    assert len(fewer) < 120


def test_pipelines_refuse_the_same(tmp_path):
    """Blocks of records that a dataset parses together: the records before a broken one come, then its error."""
    features = {key: tf.io.VarLenFeature(getattr(tf, kind)) for key, kind in example_shapes.KINDS.items()}
    cases = example_shapes.examples()
    refused = [name for name, answer in ANSWERS[0].items() if answer == "x"]
    for name in np.random.default_rng(1).choice(refused, 12, replace=False).tolist():
        path = str(tmp_path / "records")
        with open(path, "wb") as file:
            file.write(framed(cases["usual"]) * 40 + framed(cases[name]) + framed(cases["usual"]) * 10)
        records = tf.data.TFRecordDataset(path)
        for dataset in (
            records.map(lambda x: tf.io.parse_single_example(x, features)),
            records.batch(8).map(lambda x: tf.io.parse_example(x, features)),
        ):
            count = 0
            with pytest.raises(tf.errors.InvalidArgumentError):
                for _ in dataset:
                    count += 1
            assert count in (40, 5), name
