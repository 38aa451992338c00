"""Dataset programs put together at random: sources of nested, ragged, sparse and other elements, and steps that fit."""

import random

# By kind of element: n a number, p a pair of a number and a string, d nested dicts, v a vector of any length, r a
# ragged tensor, s a sparse one, m a mixture.
SOURCES = {
    "n": [
        "R({a})", "R({b}, {a} + {b}, 2)", "S(np.arange({a}) * 3)", "R({a}).flat_map(lambda x: R(x % 3 + {b}))",
        "R(0)", "R({b}).interleave(lambda x: R(x * 10, x * 10 + 3), cycle_length=2, block_length={b})",
        "E.Counter({b})", "D.sample_from_datasets([R({a}), R(100, 105)], seed={a})",
        "D.random(seed={a}).map(lambda x: x % 50).take({a})",
        "D.choose_from_datasets([R({a}), R(50, 55)], R({a}).map(lambda x: x % 2), stop_on_empty_dataset=False)",
    ],
    "p": [
        "S((np.arange({a}), [str(i % {b}) for i in range({a})]))", "D.zip((R({a}), S(['a', 'b', 'c', 'd'])))",
        "R({a}).map(lambda x: (x, tf.strings.as_string(x)))", "R({a}).map(lambda x: (x, 'k')).take(0)",
    ],
    "d": [
        "S({{'a': np.arange({a}), 'b': {{'c': np.ones(({a}, 2), np.float32)}}}})",
        "R({a}).map(lambda x: {{'a': x, 'b': {{'c': tf.fill([2], tf.cast(x, tf.float32) / 2)}}}})",
    ],
    "v": [
        "V({b} + 2)", "R({a}).map(lambda x: tf.range(x % {b} + 1))",
        "R({a}).window({b}).flat_map(lambda w: w.batch(9))",
    ],
    "r": [
        "S(tf.ragged.constant([[[1], [2, 3]], [], [[4, 5, 6]], [[], [7]]]))",
        "R({b}).map(lambda x: tf.RaggedTensor.from_row_lengths(tf.range(x * 2), [x, 0, x]))",
        "S(tf.ragged.constant([[[1], [2, 3]], [[]], [[4, 5, 6]]])).batch({b}).unbatch()",
    ],
    "s": [
        "S(tf.sparse.from_dense(np.diag(np.arange(1, {b} + 2))))",
        "R({b} + 1).map(lambda x: tf.SparseTensor([[x, 1]], [x], [{b} + 2, 3]))",
    ],
    "m": [
        "D.zip((S(tf.sparse.from_dense(np.eye(4, dtype=np.int32))), "
        "S({{'r': tf.ragged.constant([[1], [2, 3], [], [4]])}})))",
        "D.zip({{'n': R({a}), 'p': (S(tf.ragged.constant([['a'], [], ['b', 'c']])), R({b}))}})",
    ],
}  # fmt: skip

# Steps that elements of any kind can take.
ANY = [
    "take({a})", "take({b})", "skip({b})", "repeat({b})", "repeat().take({a})", "shuffle({a}, seed={b})", "cache()",
    "shuffle(3, seed={a}, reshuffle_each_iteration=False).repeat(2)", "prefetch({b})", "shard(2, 1)", "shard(3, 0)",
    "batch({b}).unbatch()", "enumerate().filter(lambda i, x: i % 2 == 0).map(lambda i, x: x)",
    "enumerate(start=5).map(lambda i, x: x, num_parallel_calls=2)", "concatenate(d.skip(1))", "take(0)",
    "interleave(lambda *x: T(x[0] if len(x) == 1 else x).repeat(2), cycle_length={b})",
    "flat_map(lambda *x: T(x[0] if len(x) == 1 else x))", "apply(lambda x: x.skip(1))", "filter(lambda *x: True)",
    "filter(lambda *x: False)", "ignore_errors()",
    "enumerate().take_while(lambda i, x: i < {a}).map(lambda i, x: x)", "with_options(tf.data.Options())",
    "apply(E.assert_cardinality({a}))", "skip(-1)", "take(-1)",
    "map(lambda *x: x[0] if len(x) == 1 else x, num_parallel_calls=tf.data.AUTOTUNE)", "shuffle(1)",
    "enumerate().scan(I(0), lambda s, e: (s + e[0], e)).map(lambda i, x: x)",
]  # fmt: skip

# Steps of one kind, and the kind that they lead to; the empty one ends the program.
STEPS = {
    "n": [
        ("map(lambda x: x * x - {b})", "n"), ("filter(lambda x: x % {b} != 1)", "n"), ("batch({b})", "v"),
        ("batch({b}, drop_remainder=True).map(tf.reduce_sum)", "n"), ("map(lambda x: 60 // (x - {b}))", "n"),
        ("map(lambda x: 60 // (x - {b})).ignore_errors()", "n"),
        ("map(lambda x: (x, tf.strings.as_string(x)))", "p"),
        ("map(lambda x: {{'a': x, 'b': {{'c': tf.fill([2], tf.cast(x, tf.float32))}}}})", "d"),
        ("window({b}, shift=1, drop_remainder=True).flat_map(lambda w: w.batch({b}))", "v"), ("unique()", "n"),
        ("scan(I(0), lambda s, x: (s + x, s))", "n"), ("map(lambda x: tf.range(x % 4))", "v"),
        ("group_by_window(lambda x: x % 2, lambda k, w: w.batch(3), window_size={a})", "v"),
        ("apply(E.group_by_reducer(lambda x: x % 3, E.Reducer(lambda k: I(0), lambda s, x: s + x, lambda s: s)))", "n"),
        ("padded_batch({b}, padded_shapes=[])", "v"),
        ("map(lambda x: x + tf.random.uniform([], 0, 9, tf.int64))", "n"),
        ("map(lambda x: tf.cond(x % 2 == 0, lambda: x // 2, lambda: 3 * x + 1))", "n"), ("rebatch({b})", "n"),
        ("reduce(I(0), lambda s, x: s + x)", ""), ("map(lambda x: T(x)).flat_map(lambda x: x)", "n"),
        ("take_while(lambda x: x < {a})", "n"), ("map(lambda x: None if x is None else (x, None))", ""),
        ("ragged_batch({b})", "v"), ("window({b})", ""), ("batch({b}).map(lambda x: tf.gather(x, [1]))", "v"),
        ("rejection_resample(lambda x: tf.cast(x % 2, tf.int32), [.5, .5], [.5, .5], seed=1).map(lambda c, x: x)", "n"),
        ("get_single_element()", ""), ("map(lambda x: tf.debugging.assert_less(x, I({a})) or x)", "n"),
        ("bucket_by_sequence_length(lambda x: 1, [3], [2, 2])", "v"), ("sparse_batch({b}, [3])", ""),
    ],
    "p": [
        ("map(lambda x, s: (x + 1, s + '!'))", "p"), ("map(lambda x, s: x)", "n"), ("batch({b})", ""),
        ("padded_batch({b})", ""), ("map(lambda x, s: {{'a': x, 'b': {{'c': tf.fill([2], 1.0)}}}})", "d"),
        ("filter(lambda x, s: s != '1')", "p"), ("map(lambda x, s: s).unique()", ""), ("unique()", ""),
        ("reduce('', lambda t, e: t + e[1])", ""), ("map(lambda x, s: tf.strings.to_number(s, tf.int64))", "n"),
        ("padded_batch(3, padding_values=(I(-1), 'pad'))", ""), ("map(lambda *e: e[::-1])", ""),
    ],
    "d": [
        ("map(lambda e: e['a'])", "n"), ("batch({b})", ""), ("padded_batch({b}, drop_remainder=True)", ""),
        ("map(lambda e: {{**e, 'z': e['b']['c'][0]}})", ""), ("filter(lambda e: e['b']['c'][0] > 0.5)", "d"),
        ("map(lambda e: (e['a'], tf.strings.as_string(e['b']['c'][1])))", "p"),
        ("batch(2).map(lambda e: e['a'])", "v"),
        ("padded_batch(2, padded_shapes={{'a': [], 'b': {{'c': [3]}}}})", ""), ("ragged_batch({b})", ""),
        ("map(lambda e: e['b']).rebatch(1)", ""), ("reduce(I(0), lambda s, e: s + e['a'])", ""),
    ],
    "v": [
        ("map(tf.reduce_sum)", ""), ("padded_batch({b})", ""), ("padded_batch({b}, padding_values={b})", ""),
        ("ragged_batch({b})", ""), ("apply(E.dense_to_ragged_batch({b}))", ""), ("unbatch()", ""),
        ("batch({b})", ""), ("map(lambda x: tf.size(x))", ""), ("filter(lambda x: tf.size(x) > 1)", "v"),
        ("padded_batch(2, [4])", ""), ("bucket_by_sequence_length(lambda x: tf.size(x), [2, 3], [2, 2, 2])", ""),
        ("map(lambda x: x[::-1])", "v"), ("map(lambda x: x[1])", ""), ("flat_map(S)", ""),
        ("sparse_batch({b}, [5])", ""), ("rebatch(2)", "v"),
        ("map(lambda x: tf.RaggedTensor.from_row_lengths([x[:0], x][1], [0, tf.size(x)]))", "r"),
    ],
    "r": [
        ("batch({b})", ""), ("map(lambda r: r * 2)", "r"), ("map(lambda r: r.to_tensor())", ""), ("unbatch()", ""),
        ("map(lambda r: r.flat_values)", "v"), ("filter(lambda r: r.nrows() > 1)", "r"), ("padded_batch(2)", ""),
        ("batch({b}, drop_remainder=True)", ""), ("map(lambda r: tf.reduce_sum(r, 1))", ""), ("ragged_batch(2)", ""),
        ("reduce(0, lambda s, r: s + tf.size(r.flat_values, out_type=tf.int32))", ""),
    ],
    "s": [
        ("batch({b})", ""), ("map(lambda s: tf.sparse.to_dense(s))", ""), ("map(lambda s: s.values)", "v"),
        ("batch({b}, drop_remainder=True)", ""), ("map(lambda s: tf.sparse.transpose(s))", ""),
        ("padded_batch(2)", ""), ("filter(lambda s: tf.size(s.values) > 0)", "s"), ("unbatch()", ""),
        ("batch(2).unbatch()", "s"),
    ],
    "m": [
        ("batch({b})", ""), ("batch(2).unbatch()", "m"), ("batch(2, drop_remainder=True).map(lambda *e: e)", ""),
    ],
}  # fmt: skip


def program(seed: int) -> str:
    """The text of a program; the same for the same seed."""
    choose = random.Random(seed)

    def filled(text):
        return text.format(a=choose.randrange(2, 12), b=choose.randrange(1, 5))

    kind = choose.choice("nnnnppdddvvvrrssm")
    source = filled(choose.choice(SOURCES[kind]))
    lines = [f"d = {source}"]
    if source.startswith("E.Counter"):
        lines.append(f"d = d.take({choose.randrange(2, 12)})")
    for _ in range(choose.randrange(1, 6)):
        if choose.random() < 0.5:
            lines.append(f"d = d.{filled(choose.choice(ANY))}")
            continue
        step, kind = choose.choice(STEPS[kind])
        lines.append(f"d = d.{filled(step)}")
        if not kind:
            break
    return "\n".join([*lines, "d"]) + "\n"
