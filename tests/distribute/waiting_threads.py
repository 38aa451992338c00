"""Calls that wait for each other, each in a thread of its own."""

import threading

import headrace as tf


def answers(*calls):
    """What calls give that wait for each other: results, or errors."""
    found = [None] * len(calls)

    def run(i):
        try:
            found[i] = calls[i]()
        except tf.errors.OpError as error:
            found[i] = error

    threads = [threading.Thread(target=run, args=(i,)) for i in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return found
