"""Rows of `state/lookup.py` and the ops of tables."""

from rows import row


def text(code, **options):
    return row(code, grad=False, **options)


KEYS = {
    "string": "['a', 'b', 'cc']",
    "int32": "tf.constant([3, -7, 100])",
    "int64": "tf.constant([3, -7, 2**40], tf.int64)",
}
VALUES = {
    "string": "['x', 'yy', '']",
    "int32": "tf.constant([1, 2, 3])",
    "int64": "tf.constant([1, 2, 3], tf.int64)",
    "float32": "tf.constant([1.5, 2.5, 3.5])",
    "float64": "tf.constant([1.5, 2.5, 3.5], tf.float64)",
    "bool": "tf.constant([True, False, True])",
}
MISSING = {"string": "'zz'"}
DEFAULTS = {"string": "'?'", "bool": "False", "float32": "-1.0", "float64": "-1.0"}
# The pairs that TensorFlow has tables for.
PAIRS = [
    ("string", "string"), ("string", "int32"), ("string", "int64"), ("string", "float32"), ("string",
        "float64"),
    ("string", "bool"), ("int64", "string"), ("int64", "int64"), ("int64", "int32"), ("int64", "float32"),
    ("int64", "float64"), ("int32", "string"), ("int32", "int32"),
]  # fmt: skip
STATIC = (
    "init = tf.lookup.KeyValueTensorInitializer(['a', 'b'], [1, 2])\n"
    "table = tf.lookup.StaticHashTable(init, default_value=-1)\n"
)
VOCABULARY = (
    "init = tf.lookup.KeyValueTensorInitializer(['a', 'b'], tf.constant([0, 1], tf.int64))\n"
    "table = tf.lookup.StaticVocabularyTable(init, num_oov_buckets=5)\n"
)
MUTABLE = (
    "table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)\n"
    "table.insert(['a', 'b', 'c'], [1, 2, 3])\n"
)
VECTORS = (
    "table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.float32, [-1.0, -2.0])\n"
    "table.insert(tf.constant([1, 2], tf.int64), tf.constant([[1.0, 2.0], [3.0, 4.0]]))\n"
)
DENSE = (
    "table = tf.lookup.experimental.DenseHashTable(\n"
    "  tf.int64, tf.int64, default_value=-1, empty_key=0, deleted_key=-1, initial_num_buckets=4)\n"
    "table.insert(tf.constant([1, 5, 9], tf.int64), tf.constant([10, 50, 90], tf.int64))\n"
)
DENSE_STRINGS = (
    "table = tf.lookup.experimental.DenseHashTable(\n"
    "  tf.string, tf.float32, [0.0, 0.0], empty_key='', deleted_key='$', initial_num_buckets=8)\n"
    "table.insert(['a', 'b', 'c'], [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])\n"
)
DENSE_VECTORS = (
    "table = tf.lookup.experimental.DenseHashTable(\n"
    "  tf.int64, tf.int64, -1, empty_key=[0, 0], deleted_key=[-1, -1], initial_num_buckets=8)\n"
    "table.insert(tf.constant([[1, 2], [3, 4], [2, 1]], tf.int64), tf.constant([10, 20, 30], tf.int64))\n"
)
SORTED = "keys, values = table.export()\norder = np.argsort(keys.numpy())\n"
SORTED += "result = [tf.gather(keys, order), tf.gather(values, order)]"


def after(table, code):
    """A row that makes a table, then runs a statement or computes an expression."""
    return text(table + (code if "result" in code else f"result = {code}"))


def from_file(lines, arguments, code, default="-1", name="words"):
    """A row with a table from a text file of a name of its own, as TensorFlow shares tables of one file."""
    return text(
        "import os, tempfile\n"
        f"path = os.path.join(tempfile.mkdtemp(), {name!r})\n"
        f"with open(path, 'wb') as file: file.write({lines!r})\n"
        "WHOLE, NUMBER = tf.lookup.TextFileIndex.WHOLE_LINE, tf.lookup.TextFileIndex.LINE_NUMBER\n"
        f"init = tf.lookup.TextFileInitializer(path, {arguments})\n"
        f"table = tf.lookup.StaticHashTable(init, {default})\n"
        f"result = {code}"
    )


WORDS = b"apple\nbanana\ncherry\n"
PRICES = b"apple\t10\nbanana\t20\ncherry\t30\n"
FIND_WORDS = "table.lookup(tf.constant(['apple', 'cherry', 'x']))"

ROWS = [
    *(text(f"init = tf.lookup.KeyValueTensorInitializer({KEYS[key]}, {VALUES[value]})\n"
           f"table = tf.lookup.StaticHashTable(init, {DEFAULTS.get(value, '-1')})\n"
           f"result = [table.lookup(tf.constant({KEYS[key]})[::-1]), table.size(), table.default_value, "
           f"table.lookup(tf.constant([[{MISSING.get(key, 55)}]], tf.{key}))]")
      for key, value in PAIRS),
    after(STATIC, "table[tf.constant(['a', 'z'])]"),
    after(STATIC, "table.lookup(tf.constant([['a'], ['b']]))"),
    after(STATIC, "table.lookup(tf.constant('b'))"),
    after(STATIC, "table.lookup(tf.zeros([0], tf.string))"),
    after(STATIC, "table.lookup(tf.constant([1]))"),
    after(STATIC, "table.lookup(tf.SparseTensor([[0, 1]], ['b'], [1, 2]))"),
    after(STATIC, "table.lookup(tf.ragged.constant([['a'], ['b', 'q']]))"),
    after(STATIC, "[table.key_dtype.name, table.value_dtype.name, init.key_dtype.name, "
                  "init.value_dtype.name]"),
    after(STATIC, SORTED),
    text("tf.lookup.KeyValueTensorInitializer([1, 2], [3, 4], key_dtype=tf.int64, "
         "value_dtype=tf.int64).key_dtype.name"),
    *(text(f"init = tf.lookup.KeyValueTensorInitializer({arguments})\n"
           "result = tf.lookup.StaticHashTable(init, -1).size()")
      for arguments in ("['a', 'a'], [1, 1]", "['a', 'a'], [1, 2]", "['a', 'b', 'c'], [1, 2]",
        "[['a', 'b']], [[1, 2]]",
                        "['a', 'b'], [[1], [2]]", "'a', 1",
                            "tf.constant([], tf.string), tf.constant([], tf.int32)",
                        "[1, 2], [1, 2]", "['a'], [1], tf.int32")),
    *(text("init = tf.lookup.KeyValueTensorInitializer(['a'], [1])\n"
           f"result = tf.lookup.StaticHashTable(init, {default}).default_value")
      for default in ("7", "1.5", "'a'", "[1]", "tf.constant(1, tf.int64)")),
    text("init = tf.lookup.KeyValueTensorInitializer(tf.range(1000) * 7, tf.range(1000))\n"
         "result = tf.lookup.StaticHashTable(init, -1).lookup(tf.range(-3, 8000, 3))"),
    after(VOCABULARY, "table.lookup(tf.constant(['a', 'b', 'c', 'd', 'e', '']))"),
    after(VOCABULARY, "table[tf.constant([['zz']])]"),
    after(VOCABULARY, "[table.size(), table.key_dtype.name, table.value_dtype.name]"),
    after(VOCABULARY, "table.lookup(tf.constant([1]))"),
    after(VOCABULARY, "table.lookup(tf.ragged.constant([['a'], ['zz', 'q']]))"),
    after(VOCABULARY, "table.lookup(tf.SparseTensor([[0, 1], [1, 0]], ['b', 'zz'], [2, 2]))"),
    text("tf.lookup.StaticVocabularyTable(None, 3).lookup(tf.constant(['a', 'b']))"),
    text("tf.lookup.StaticVocabularyTable(None, 3).size()"),
    text("tf.lookup.StaticVocabularyTable(None, 0)"),
    *(text(f"init = tf.lookup.KeyValueTensorInitializer({arguments})\n"
           f"result = tf.lookup.StaticVocabularyTable(init, {options}).lookup({keys})")
      for arguments, options, keys in (
          ("['a'], [0]", "1", "tf.constant(['a'])"),
          ("tf.constant([10, 20], tf.int64), tf.constant([0, 1], tf.int64)", "5",
           "tf.constant([10, 20, 30, -1, 7], tf.int64)"),
          ("tf.constant([10, 20], tf.int64), tf.constant([0, 1], tf.int64)", "5, lookup_key_dtype=tf.int32",
           "tf.constant([10, 20, 30, -1, 7])"),
          ("['a'], tf.constant([0], tf.int64)", "5, tf.int64", "tf.constant([1], tf.int64)"),
          ("['a'], tf.constant([0], tf.int64)", "-1", "tf.constant(['a'])"),
      )),
    from_file(WORDS, "tf.string, WHOLE, tf.int64, NUMBER", FIND_WORDS),
    from_file(WORDS, "tf.int64, NUMBER, tf.string, WHOLE", "table.lookup(tf.constant([0, 2, 9], tf.int64))",
        "'?'"),
    from_file(PRICES, "tf.string, 0, tf.int64, 1", FIND_WORDS),
    from_file(PRICES, "tf.string, 0, tf.int32, 1", FIND_WORDS),
    from_file(PRICES, "tf.string, 0, tf.float32, 1", FIND_WORDS, "-1.0"),
    from_file(PRICES, "tf.int64, 1, tf.string, 0", "table.lookup(tf.constant([10, 11], tf.int64))", "'?'"),
    from_file(PRICES, "tf.string, 0, tf.int64, 1, delimiter=' '", "table.size()"),
    from_file(PRICES.replace(b"\t", b","), "tf.string, 0, tf.int64, 1, delimiter=','", FIND_WORDS),
    from_file(PRICES, "tf.string, 0, tf.int64, 2", "table.size()"),
    from_file(PRICES, "tf.int64, 0, tf.int64, 1", "table.size()"),
    from_file(PRICES, "tf.string, 0, tf.int64, 1, delimiter='ab'", "table.size()"),
    from_file(WORDS, "tf.string, WHOLE, tf.int64, NUMBER, vocab_size=2", "table.size()"),
    from_file(WORDS, "tf.string, WHOLE, tf.int64, NUMBER, vocab_size=9", "table.size()"),
    from_file(WORDS, "tf.string, WHOLE, tf.int64, NUMBER, vocab_size=0", "table.size()"),
    from_file(WORDS, "tf.string, WHOLE, tf.int64, NUMBER, value_index_offset=5", FIND_WORDS),
    from_file(WORDS, "tf.string, WHOLE, tf.int32, NUMBER", "table.size()"),
    from_file(WORDS, "tf.string, NUMBER, tf.int64, NUMBER", "table.size()"),
    from_file(WORDS, "tf.float32, WHOLE, tf.int64, NUMBER", "table.size()"),
    from_file(WORDS, "tf.string, WHOLE, tf.int64, WHOLE", "table.size()"),
    from_file(WORDS, "tf.string, -5, tf.int64, NUMBER", "table.size()"),
    from_file(b"apple\nbanana\n\ncherry\n", "tf.string, WHOLE, tf.int64, NUMBER", "table.size()"),
    from_file(b"apple\nbanana\napple\n", "tf.string, WHOLE, tf.int64, NUMBER", "table.size()"),
    from_file(b"apple\r\nbanana", "tf.string, WHOLE, tf.int64, NUMBER",
        "table.lookup(tf.constant(['apple', 'banana']))"),
    from_file(b"", "tf.string, WHOLE, tf.int64, NUMBER", "table.size()"),
    text("init = tf.lookup.TextFileInitializer('/no/such/file', tf.string, -2, tf.int64, -1)\n"
         "result = tf.lookup.StaticHashTable(init, -1)"),
    text("tf.lookup.TextFileInitializer('', tf.string, -2, tf.int64, -1)"),
    text("[tf.lookup.TextFileIndex.WHOLE_LINE, tf.lookup.TextFileIndex.LINE_NUMBER]"),
    after(MUTABLE, "table.lookup(tf.constant(['a', 'c', 'x']))"),
    after(MUTABLE, "table.lookup(['a'])"),
    after(MUTABLE, "table['b']"),
    after(MUTABLE, "table.lookup([['a', 'b'], ['x', 'y']])"),
    after(MUTABLE, "table.size()"),
    after(MUTABLE, "table.remove(tf.constant(['a', 'zz']))\n" + SORTED),
    after(MUTABLE, "table.insert(['d', 'a', 'd'], [4, 9, 5])\n" + SORTED),
    after(MUTABLE, "table.insert('s', 9)\n" + SORTED),
    after(MUTABLE, "table.insert(tf.constant(['a']), tf.constant([1], tf.int32))\nresult = 0"),
    after(MUTABLE, "table.insert(tf.constant([1]), tf.constant([1], tf.int64))\nresult = 0"),
    after(MUTABLE, "table.insert(['a', 'b'], [1])\nresult = 0"),
    after(MUTABLE, "table.lookup(['a', 'q'], dynamic_default_values=tf.constant([7, 8], tf.int64))"),
    after(MUTABLE, "table.lookup(['a', 'q'], tf.constant(7, tf.int64))"),
    after(MUTABLE, "table.lookup(['a', 'q'], tf.constant([7, 8, 9], tf.int64))"),
    after(MUTABLE, "[table.key_dtype.name, table.value_dtype.name, table.resource_handle.dtype.name]"),
    after(MUTABLE, "table.remove(tf.constant([1]))\nresult = 0"),
    text(MUTABLE + "result = table.lookup(tf.ragged.constant([['a'], ['x', 'b']]))",
         ours="TensorFlow's mutable tables refuse ragged and sparse keys; headrace's take them"),
    after(VECTORS, "table.lookup(tf.constant([1, 7], tf.int64))"),
    after(VECTORS, "table.lookup(tf.constant([[1], [7]], tf.int64))"),
    after(VECTORS, "table.lookup(tf.constant(1, tf.int64))"),
    after(VECTORS, "table.insert(tf.constant([1, 2], tf.int64), tf.constant([1.0, 2.0]))\nresult = 0"),
    after(VECTORS, "table.lookup(tf.constant([1, 7], tf.int64), tf.constant([[5.0, 6.0], [7.0, 8.0]]))"),
    after(VECTORS, "table.insert(tf.constant([[1], [9]], tf.int64), tf.constant([[[1.0, 2.0]], [[3.0, "
                   "4.0]]]))\n" + SORTED),
    text("tf.lookup.experimental.MutableHashTable(tf.int64, tf.float32, [[1.0]])"),
    text("tf.lookup.experimental.MutableHashTable(tf.int64, tf.int32, 1.5)"),
    after(DENSE, "table.lookup(tf.constant([1, 3], tf.int64))"),
    after(DENSE, "table.export()"),
    after(DENSE, "table.remove(tf.constant([5], tf.int64))\nresult = [table.size(), *table.export()]"),
    after(DENSE, "table.erase(tf.constant([5, 77], tf.int64))\n"
          "table.insert_or_assign(tf.constant([9, 13], tf.int64), tf.constant([91, 130], tf.int64))\n"
          "result = [table.size(), *table.export()]"),
    after(DENSE, "table.insert(tf.range(2, 200, 7, tf.int64), tf.range(2, 200, 7, tf.int64))\nresult = "
                 "table.export()"),
    *(after(DENSE, f"table.{call}\nresult = 0")
      for call in ("insert(tf.constant([0], tf.int64), tf.constant([1], tf.int64))",
                   "insert(tf.constant([-1], tf.int64), tf.constant([1], tf.int64))",
                       "lookup(tf.constant([0], tf.int64))",
                   "lookup(tf.constant([-1], tf.int64))", "remove(tf.constant([0], tf.int64))",
                   "insert(tf.constant([3], tf.int64), tf.constant([1.5]))")),
    after(DENSE, "table[tf.constant([[9]], tf.int64)]"),
    after(DENSE_STRINGS, "table.lookup(tf.constant(['a', 'z']))"),
    after(DENSE_STRINGS, "table.export()"),
    after(DENSE_STRINGS, "table.insert([str(i) for i in range(40)], [[i, -i] for i in range(40)])\nresult "
                         "= table.export()"),
    after(DENSE_STRINGS, "table.lookup(tf.constant(['']))"),
    after(DENSE_VECTORS, "table.lookup(tf.constant([[1, 2], [4, 3]], tf.int64))"),
    after(DENSE_VECTORS, "table.lookup(tf.constant([1, 2], tf.int64))"),
    after(DENSE_VECTORS, "table.export()"),
    *(text(f"tf.lookup.experimental.DenseHashTable({arguments})")
      for arguments in ("tf.int64, tf.int64, -1, empty_key=0, deleted_key=0",
                        "tf.int64, tf.int64, -1, empty_key=0, deleted_key=-1, initial_num_buckets=3",
                        "tf.int64, tf.int64, -1, empty_key=0, deleted_key=-1, initial_num_buckets=0",
                        "tf.int32, tf.int64, -1, empty_key=0.5, deleted_key=-1")),
    # TensorFlow shares tables that have no name of their own.
    *(text(f"h = tf.raw_ops.HashTableV2(key_dtype=tf.string, value_dtype=tf.int64, "
           f"shared_name='t{i}')\n{code}")
      for i, code in enumerate((
          "result = tf.raw_ops.LookupTableFindV2(table_handle=h, keys=['a'], default_value=tf.constant(1, "
          "tf.int64))",
          "result = tf.raw_ops.LookupTableSizeV2(table_handle=h)",
          "tf.raw_ops.InitializeTableV2(table_handle=h, keys=['a'], values=tf.constant([1], tf.int64))\n"
          "tf.raw_ops.InitializeTableV2(table_handle=h, keys=['b'], values=tf.constant([1], tf.int64))\n"
          "result = [tf.raw_ops.LookupTableFindV2(table_handle=h, keys=['a', 'b'], "
          "default_value=tf.constant(9, tf.int64)), tf.raw_ops.LookupTableSizeV2(table_handle=h), "
          "tf.raw_ops.LookupTableExportV2(table_handle=h, Tkeys=tf.string, Tvalues=tf.int64)]",
          "tf.raw_ops.LookupTableImportV2(table_handle=h, keys=['a'], values=tf.constant([1], tf.int64))\n"
          "result = tf.raw_ops.LookupTableFindV2(table_handle=h, keys=[1], default_value=tf.constant(9, "
          "tf.int64))",
          "tf.raw_ops.LookupTableImportV2(table_handle=h, keys=['a'], values=tf.constant([1], tf.int64))\n"
          "result = tf.raw_ops.LookupTableFindV2(table_handle=h, keys=['a'], default_value=9)",
          "result = tf.raw_ops.LookupTableInsertV2(table_handle=h, keys=['b'], values=tf.constant([1], "
          "tf.int64))",
          "result = tf.raw_ops.LookupTableRemoveV2(table_handle=h, keys=['b'])",
      ))),
    *(text(f"h = {table}\n"
           "tf.raw_ops.LookupTableInsertV2(table_handle=h, keys=['a'], values=tf.constant([1], tf.int64))\n"
           "tf.raw_ops.LookupTableInsertV2(table_handle=h, keys=['b'], values=tf.constant([2], tf.int64))\n"
           "tf.raw_ops.LookupTableRemoveV2(table_handle=h, keys=['a'])\n"
           "result = [tf.raw_ops.LookupTableSizeV2(table_handle=h), tf.raw_ops.LookupTableFindV2(\n"
           "  table_handle=h, keys=['a', 'b'], default_value=tf.constant(9, tf.int64))]")
      for table in (
          "tf.raw_ops.MutableHashTableV2(key_dtype=tf.string, value_dtype=tf.int64, shared_name='m')",
          "tf.raw_ops.AnonymousMutableHashTable(key_dtype=tf.string, value_dtype=tf.int64)",
          "tf.raw_ops.MutableDenseHashTableV2(empty_key='', deleted_key='$', value_dtype=tf.int64, "
          "shared_name='d')",
          "tf.raw_ops.AnonymousMutableDenseHashTable(empty_key='', deleted_key='$', value_dtype=tf.int64)",
          "tf.raw_ops.MutableHashTableOfTensorsV2(key_dtype=tf.string, value_dtype=tf.int64, "
          "value_shape=[2])",
      )),
    *(text(f"h = tf.raw_ops.{name}(key_dtype=tf.string, value_dtype=tf.int64, value_shape=[2])\n"
           "tf.raw_ops.LookupTableInsertV2(table_handle=h, keys=['a'], values=tf.constant([[1, 2]], "
           "tf.int64))\n"
           "tf.raw_ops.LookupTableImportV2(table_handle=h, keys=['c'], values=tf.constant([[3, 4]], "
           "tf.int64))\n"
           "result = tf.raw_ops.LookupTableExportV2(table_handle=h, Tkeys=tf.string, Tvalues=tf.int64)")
      for name in ("MutableHashTableOfTensorsV2", "AnonymousMutableHashTableOfTensors")),
    text("h = tf.raw_ops.AnonymousHashTable(key_dtype=tf.string, value_dtype=tf.int64)\n"
         "result = tf.raw_ops.LookupTableSizeV2(table_handle=h)"),
    text("import os, tempfile\npath = os.path.join(tempfile.mkdtemp(), 'raw')\n"
         "with open(path, 'w') as file: file.write('a 1\\nb 2\\n')\n"
         "h = tf.raw_ops.HashTableV2(key_dtype=tf.string, value_dtype=tf.int64, shared_name='file')\n"
         "tf.raw_ops.InitializeTableFromTextFileV2(\n"
         "  table_handle=h, filename=path, key_index=0, value_index=1, vocab_size=2, delimiter=' ', "
         "offset=0)\n"
         "result = tf.raw_ops.LookupTableFindV2(table_handle=h, keys=['b'], default_value=tf.constant(9, "
         "tf.int64))"),
    text("a = tf.raw_ops.HashTableV2(key_dtype=tf.string, value_dtype=tf.int64, shared_name='rows')\n"
         "b = tf.raw_ops.HashTableV2(key_dtype=tf.string, value_dtype=tf.int64, shared_name='rows')\n"
         "tf.raw_ops.InitializeTableV2(table_handle=a, keys=['a'], values=tf.constant([1], tf.int64))\n"
         "result = tf.raw_ops.LookupTableSizeV2(table_handle=b)"),
    text("a = tf.raw_ops.HashTableV2(key_dtype=tf.string, value_dtype=tf.int64, shared_name='rows2')\n"
         "result = tf.raw_ops.HashTableV2(key_dtype=tf.int64, value_dtype=tf.int64, shared_name='rows2')"),
    *(text(f"tf.raw_ops.MutableDenseHashTableV2(empty_key='', deleted_key='$', value_dtype=tf.int64, "
           f"{option})")
      for option in ("max_load_factor=1.5", "initial_num_buckets=5")),
    text("tf.raw_ops.LookupTableSizeV2(table_handle=tf.Variable(1).handle)"),
    text("tf.raw_ops.LookupTableSizeV2(table_handle=1)"),
]  # fmt: skip
