"""Rows of `state/queues.py` and the ops of queues."""

from rows import row

_PAIRS = "q = tf.queue.FIFOQueue(4, [tf.int32, tf.string], shapes=[[], [2]])\n"
_NUMBERS = "q = tf.queue.FIFOQueue(5, tf.float32, shapes=[[]])\n"
_FILLED = f"{_NUMBERS}q.enqueue_many([[6.5, 7.5, 8.5]])\n"
_PADDED = "q = tf.queue.PaddingFIFOQueue(5, [tf.int64, tf.string], shapes=[[None], [None, 2]])\n"
_FIRST = "q = tf.queue.PriorityQueue(9, [tf.string], shapes=[[]])\n"

ROWS = [
    row(code, grad=False, lower=False)
    for code in (
        f"{_PAIRS}q.enqueue((9, ['a', 'b']))\nq.enqueue([8, ['c', 'd']])\nresult = [q.size(), q.dequeue(), q.dequeue()]",
        f"{_PAIRS}q.enqueue_many(([4, 5, 6], [['a', 'b'], ['c', 'd'], ['e', 'f']]))\n"
        "result = [q.dequeue_many(2), q.size()]",
        f"{_PAIRS}result = [str(q.dtypes), str(q.shapes), q.names, q.name]",
        f"{_PAIRS}q.enqueue(5)",
        f"{_PAIRS}q.enqueue((5, ['a']))",
        f"{_PAIRS}q.enqueue((5.5, ['a', 'b']))",
        f"{_PAIRS}q.enqueue({{'a': 5}})",
        f"{_PAIRS}q.enqueue_many(([4, 5], [['a', 'b']]))",
        f"{_PAIRS}q.enqueue_many((4, [['a', 'b']]))",
        f"{_PAIRS}q.dequeue_many(-3)",
        f"{_PAIRS}result = q.dequeue_many(0)",
        f"{_FILLED}result = [q.is_closed(), q.close(), q.is_closed(), q.dequeue_up_to(2), q.dequeue_up_to(2)]",
        f"{_FILLED}q.close()\nq.dequeue_many(4)",
        f"{_FILLED}q.close()\nq.dequeue_many(3)\nq.dequeue()",
        f"{_NUMBERS}q.close()\nq.dequeue_up_to(1)",
        f"{_NUMBERS}q.close()\nq.enqueue(3.5)",
        f"{_NUMBERS}q.close()\nq.close()",
        "q = tf.queue.FIFOQueue(2, tf.int32)\nq.enqueue(tf.constant([4, 5]))\nresult = [q.dequeue(), str(q.shapes)]",
        "q = tf.queue.FIFOQueue(2, tf.int32)\nq.enqueue(4)\nq.dequeue_many(1)",
        "q = tf.queue.FIFOQueue(2, [tf.int32, tf.bool], names=['n', 'b'])\nq.enqueue({'b': True, 'n': 4})\nd = q.dequeue()\n"
        "result = [d['n'], d['b'], q.names]",
        "q = tf.queue.FIFOQueue(2, [tf.int32, tf.bool], names=['n', 'b'])\nq.enqueue({'n': 4})",
        "q = tf.queue.FIFOQueue(2, [tf.int32, tf.bool], names=['n', 'b'])\nq.enqueue((4, True))",
        "tf.queue.FIFOQueue(2, [tf.int32, tf.bool], names=['n'])",
        "tf.queue.FIFOQueue(2, [tf.int32, tf.bool], shapes=[[]])",
        "q = tf.queue.FIFOQueue(-1, tf.int32)\nq.enqueue_many([tf.range(70)])\nresult = q.size()",
        f"{_PADDED}q.enqueue(([4], [['a', 'b']]))\nq.enqueue(([5, 6, 7], tf.zeros([0, 2], tf.string)))\nresult = q.dequeue_many(2)",
        f"{_PADDED}q.enqueue(([4], [['a', 'b']]))\nresult = q.dequeue()",
        f"{_PADDED}q.enqueue(([[4]], [['a', 'b']]))",
        "tf.queue.PaddingFIFOQueue(2, [tf.int32], shapes=[None])",
        f"{_FIRST}q.enqueue((tf.constant(7, tf.int64), 'g'))\nq.enqueue_many(([9, 3, 7], ['i', 'c', 'later']))\n"
        "result = [q.dequeue(), q.dequeue_many(3), str(q.dtypes)]",
        "q = tf.queue.RandomShuffleQueue(9, 3, tf.int32, shapes=[[]], seed=5)\nq.enqueue_many([tf.range(8)])\n"
        "found = [int(q.dequeue()) for _ in range(5)]\nq.close()\n"
        "result = [sorted(found + q.dequeue_many(3).numpy().tolist()), q.size()]",
        "tf.queue.RandomShuffleQueue(3, 3, tf.int32, shapes=[[]])",
        "a, b = tf.queue.FIFOQueue(2, tf.int32), tf.queue.FIFOQueue(2, tf.int32)\nb.enqueue(5)\n"
        "result = tf.queue.QueueBase.from_list(1, [a, b]).dequeue()",
        "tf.queue.QueueBase.from_list(0, [tf.queue.FIFOQueue(2, tf.int32), tf.queue.FIFOQueue(2, tf.bool)])",
        "tf.queue.QueueBase.from_list(0, [])",
        f"{_NUMBERS}@tf.function(autograph=False)\ndef f(x):\n    q.enqueue(x)\n    q.enqueue_many([[x + 1, x + 2]])\n    first = q.dequeue()\n"
        "    return first, q.dequeue_many(2), q.size()\nresult = [f(tf.constant(3.5)), f(tf.constant(4.5))]",
    )
]  # fmt: skip
