"""A while loop of 10,000 trips: the first call of a function that has it, and later ones."""

from workloads.training import function

TRIPS = 10_000


def counting(tf):
    """A function that adds up the numbers below its argument, one by one."""

    def count(n):
        i, total = tf.constant(0), tf.constant(0.0)
        while i < n:
            total += tf.cast(i, tf.float32)
            i += 1
        return total

    return function(tf, count)


def first_call(tf):
    """A new function each time: traced, planned and called once."""
    n = tf.constant(TRIPS)
    return lambda: float(counting(tf)(n))


def warm_call(tf):
    count, n = counting(tf), tf.constant(TRIPS)
    return lambda: float(count(n))
