"""Mathematical functions and assertions with their 1.x signatures."""

import pytest

import headrace as tf

v1 = tf.compat.v1


@pytest.mark.parametrize(
    ("check", "x", "y"),
    [
        (v1.assert_equal, [1, 2], [1, 3]),
        (v1.assert_none_equal, [1, 2], [3, 2]),
        (v1.assert_less, [1, 2], [2, 2]),
        (v1.assert_less_equal, [1, 3], [2, 2]),
        (v1.assert_greater, [3, 2], [2, 2]),
        (v1.assert_greater_equal, [3, 1], [2, 2]),
    ],
)
def test_assertions_of_pairs_say_the_message_and_show_the_data(check, x, y):
    with pytest.raises(tf.errors.InvalidArgumentError, match="look here") as raised:
        check(x, y, data=[tf.constant(77)], summarize=1, message="look here")
    assert "77" in str(raised.value)


def test_where_of_ragged_tensors():
    condition = tf.ragged.constant([[True, False], [True]])
    x, y = tf.ragged.constant([[1, 2], [3]]), tf.ragged.constant([[4, 5], [6]])
    assert tf.compat.v1.where(condition, x, y).to_list() == [[1, 5], [3]]
