"""Errors of `tf.summary`: they name the function and the tag, eagerly and in functions."""

import pytest

import headrace as tf

WRONG = {
    "image": (lambda x: tf.summary.image("seen", x, step=0), tf.zeros([4, 4]), ValueError, "rank 4, got rank 2"),
    "audio": (lambda x: tf.summary.audio("heard", x, 44100, step=0), tf.zeros([4]), ValueError, "rank 3, got rank 1"),
    "scalar": (lambda x: tf.summary.scalar("loss", x, step=0), tf.zeros([2]), ValueError, r"scalar, got shape \(2,\)"),
    "text": (lambda x: tf.summary.text("said", x, step=0), tf.constant(4), TypeError, "string, got int32"),
}


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "function"])
@pytest.mark.parametrize("kind", WRONG)
def test_errors_name_function_and_tag(kind, wrap, tmp_path):
    call, value, error, text = WRONG[kind]
    with (
        tf.summary.create_file_writer(str(tmp_path)).as_default(),
        tf.name_scope("scope"),
        pytest.raises(error, match=rf"tf\.summary\.{kind}, tag '(scope/)?\w+'.*{text}"),
    ):
        wrap(call)(value)


def test_scalar_inputs_are_not_listed():
    with pytest.raises(tf.errors.OpError, match="CreateSummaryFileWriter") as caught:
        tf.summary.create_file_writer("/dev/null/logs")
    assert "Got" not in str(caught.value)
