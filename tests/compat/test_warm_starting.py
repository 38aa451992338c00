"""`tf.compat.v1.train.warm_start`; the values are those that TensorFlow 2.21 gives for the same calls."""

import pytest

import headrace as tf

v1 = tf.compat.v1
A, B, ZEROS = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [7.0, 8.0], [[0.0, 0.0]] * 3


@pytest.fixture
def folder(tmp_path):
    """A checkpoint of `a` (3 rows for x, y and z; 2 columns for l and m), `s/b` and `old`, and files of words."""
    with tf.Graph().as_default(), v1.Session() as session:
        for name, value in (("a", A), ("s/b", B), ("old", [9.0, 9.0])):
            v1.get_variable(name, initializer=tf.constant(value))
        session.run(v1.global_variables_initializer())
        v1.train.Saver().save(session, str(tmp_path / "m"))
    for name, words in {"old": "xyz", "new": "zqx", "old_columns": "lm", "new_columns": "mnl"}.items():
        (tmp_path / f"{name}.txt").write_text("".join(word + "\n" for word in words))
    return tmp_path


def variable(name, shape, **options):
    return v1.get_variable(name, shape, initializer=v1.zeros_initializer(), **options)


def started(folder, shapes, *arguments, partitioner=None):
    """The values of variables after `warm_start` and their initializers."""
    with tf.Graph().as_default(), v1.Session() as session:
        variables = [variable(name, shape, partitioner=partitioner) for name, shape in shapes.items()]
        v1.train.warm_start(str(folder), *arguments)
        session.run(v1.global_variables_initializer())
        values = session.run([list(each) if partitioner else each for each in variables])
        return [[part.tolist() for part in value] if partitioner else value.tolist() for value in values]


BOTH = {"a": [3, 2], "s/b": [2]}


@pytest.mark.parametrize(("arguments", "wanted"), [
    ((), [A, B]),
    (("s/.*",), [ZEROS, B]),
    ((["a"],), [A, [0.0, 0.0]]),
    ((None,), [ZEROS, [0.0, 0.0]]),
    (("nothing",), [ZEROS, [0.0, 0.0]]),
])  # fmt: skip
def test_which_variables(folder, arguments, wanted):
    assert started(folder, BOTH, *arguments) == wanted


def test_variables_themselves(folder):
    with tf.Graph().as_default(), v1.Session() as session:
        a, b = variable("a", [3, 2]), variable("s/b", [2])
        v1.train.warm_start(str(folder), [b])
        session.run(v1.global_variables_initializer())
        assert [value.tolist() for value in session.run([a, b])] == [ZEROS, B]


def test_another_name(folder):
    assert started(folder, BOTH | {"new": [2]}, ".*", None, {"new": "old"}) == [A, B, [9.0, 9.0]]


@pytest.mark.parametrize(("rows", "options", "wanted"), [
    (3, {}, [[5.0, 6.0], [0.0, 0.0], [1.0, 2.0]]),
    (5, {"num_oov_buckets": 2}, [[5.0, 6.0], [0.0, 0.0], [1.0, 2.0], [0.0, 0.0], [0.0, 0.0]]),
    (3, {"old_vocab_size": 2}, [[0.0, 0.0], [0.0, 0.0], [1.0, 2.0]]),
    (2, {"new_vocab_size": 2}, [[5.0, 6.0], [0.0, 0.0]]),
    # TF: a constant initializer is an error there.
    (3, {"backup_initializer": v1.constant_initializer(4.0)}, [[5.0, 6.0], [4.0, 4.0], [1.0, 2.0]]),
])  # fmt: skip
def test_rows_by_words(folder, rows, options, wanted):
    given = {"new_vocab_size": 3, "num_oov_buckets": 0} | options
    info = v1.train.VocabInfo(str(folder / "new.txt"), old_vocab=str(folder / "old.txt"), **given)
    assert started(folder, {"a": [rows, 2]}, None, {"a": info}) == [wanted]


def test_columns_by_words(folder):
    info = v1.train.VocabInfo(str(folder / "new_columns.txt"), 3, 0, str(folder / "old_columns.txt"), axis=1)
    wanted = [[2.0, 0.0, 1.0], [4.0, 0.0, 3.0], [6.0, 0.0, 5.0]]
    assert started(folder, {"a": [3, 3]}, ".*", {"a": info}) == [wanted]


def test_variables_in_parts(folder):
    two = v1.fixed_size_partitioner(2)
    assert started(folder, {"a": [3, 2]}, partitioner=two) == [[A[:2], A[2:]]]
    info = v1.train.VocabInfo(str(folder / "new.txt"), 3, 0, str(folder / "old.txt"))
    wanted = [[[5.0, 6.0], [0.0, 0.0]], [[1.0, 2.0]]]
    assert started(folder, {"a": [3, 2]}, ".*", {"a": info}, partitioner=two) == [wanted]


@pytest.mark.parametrize(("shapes", "arguments", "message"), [
    ({"other": [2]}, (), "Tensor other is not found in"),
    ({"a": [4, 2]}, (), "doesn't match with shape of tensor a"),
    (BOTH, (".*", None, {"nothing": "old"}), r"var_name_to_prev_var_name names \['nothing'\]"),
    (BOTH, (7,), "vars_to_warm_start must be a regular expression"),
])  # fmt: skip
def test_what_does_not_fit(folder, shapes, arguments, message):
    with pytest.raises(ValueError, match=message):
        started(folder, shapes, *arguments)


def test_words_that_do_not_fit(folder):
    def info(**options):
        given = {"new_vocab_size": 3, "num_oov_buckets": 0, "old_vocab": str(folder / "old.txt")} | options
        return v1.train.VocabInfo(str(folder / "new.txt"), **given)

    with pytest.raises(ValueError, match=r"nothing.*not among"):
        started(folder, BOTH, ".*", {"nothing": info()})
    with pytest.raises(ValueError, match=r"has shape \[3, 2\], and the words of .* make \[4, 2\]"):
        started(folder, BOTH, ".*", {"a": info(num_oov_buckets=1)})
    with pytest.raises(tf.errors.InvalidArgumentError, match="old_vocab_size is 9, but .* has 3 lines"):
        started(folder, BOTH, ".*", {"a": info(old_vocab_size=9)})
    with pytest.raises(ValueError, match="axis must be 0"):
        info(axis=2)
