"""Rows of dtypes, shapes, specs, errors, scopes and devices: answers of the core classes, compared as values and text."""

from rows import row

_DTYPES = ("bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 complex64 complex128 "
           "string qint8 quint8 qint32 qint16 quint16 resource variant").split()
_SMALL = ("float8_e5m2 float8_e4m3fn float8_e4m3fnuz float8_e4m3b11fnuz float8_e5m2fnuz int4 uint4 int2 uint2 "
          "float4_e2m1fn").split()
_ERRORS = ("Aborted AlreadyExists Cancelled DataLoss DeadlineExceeded FailedPrecondition Internal InvalidArgument NotFound "
           "OutOfRange PermissionDenied ResourceExhausted Unauthenticated Unavailable Unimplemented Unknown").split()


def _all(prefix, *expressions):
    return [row(f"result = {prefix}{expression}") for expression in expressions]


ROWS = [
    *[
        row(f"d = tf.{name}\nresult = [repr(d), str(d), d.name, d.is_floating, d.is_integer, d.is_complex, d.is_bool, "
            "d.is_numeric, d.is_unsigned, d.is_quantized, d.as_datatype_enum, d.base_dtype.name, d.real_dtype.name, d.size, "
            "d.is_numpy_compatible, d == d.name, tf.as_dtype(d.as_datatype_enum).name, tf.dtypes.as_dtype(d.name) is d]")
        for name in _DTYPES
    ],
    *[
        row(f"d = tf.dtypes.experimental.{name}\nresult = [repr(d), d.name, d.is_floating, d.is_integer, d.is_unsigned, "
            "d.as_datatype_enum, d.size]")
        for name in _SMALL
    ],
    *[row(f"d = tf.{name}\nresult = [float(d.min), float(d.max)]") for name in _DTYPES[1:13]],
    *[row(f"result = list(tf.{name}.limits)") for name in ("bool", "int8", "uint16", "float32", "int64")],
    *_all("", "tf.string.limits", "tf.bool.min", "tf.string.max", "tf.complex64.min", "tf.as_dtype('foo')", "tf.as_dtype(object).name",
          "tf.as_dtype(float).name", "tf.as_dtype(bool).name", "tf.as_dtype(int)", "tf.as_dtype(np.dtype('i8')).name",
          "tf.as_dtype(np.int16).name", "tf.as_dtype('double').name", "tf.as_dtype('half').name", "tf.as_dtype(3).name",
          "tf.as_dtype('float').name",
          "tf.as_dtype(None)", "tf.as_dtype(1000)", "tf.float32 == np.float32", "tf.float32 == 'float32'", "tf.float32 == 'x'",
          "tf.float32 != None", "tf.float32 == tf.float64", "tf.float32.is_compatible_with('float32')",
          "tf.float32.is_compatible_with(tf.int32)", "tf.float32 is tf.dtypes.float32", "isinstance(tf.int8, tf.DType)",
          "tf.half is tf.float16", "tf.double is tf.float64", "np.dtype(tf.float32.as_numpy_dtype).name",
          "np.dtype(tf.bfloat16.as_numpy_dtype).name", "len({tf.float32, tf.dtypes.float32, tf.int8})",
          "tf.float32.most_specific_common_supertype([tf.float32]).name", "tf.float32.is_subtype_of(tf.float32)",
          "tf.float32.flatten()",
          "tf.float32.to_tensors(tf.float32)"),
    *_all("tf.TensorShape", "([1, None]).as_list()", "(None).as_list()", "([2, 3]).num_elements()", "([2, None]).num_elements()",
          "([2, 3]).rank", "(None).rank", "([2]).ndims", "([2, 3]).is_fully_defined()", "([2, None]).dims[0].value",
          "([2, None]).concatenate([3]).as_list()", "([2, None]).merge_with([None, 3]).as_list()", "([2]).merge_with([3])",
          "([2]).assert_is_compatible_with([3])", "([2]).assert_same_rank([3, 4])", "([2]).assert_has_rank(2)",
          "([2]).assert_is_fully_defined()", "([None]).assert_is_fully_defined()", "([2]).with_rank(2)", "(None).with_rank(2).as_list()",
          "([2]).with_rank_at_least(2)", "([2, 3]).with_rank_at_most(1)", "([2, 3]).with_rank_at_least(1).as_list()",
          "([2, 3]).is_compatible_with([None, 3])", "([2, 3]).most_specific_compatible_shape([2, 4]).as_list()", "([2, 3])[0]",
          "([2, 3])[1:].as_list()", "(None)[1]", "([2]) == [2]", "([2]) == tf.TensorShape(None)", "([2]) + [3]", "([-1])", "('a')",
          "(5).as_list()", "([2.5])", "([2, None]).is_subtype_of(tf.TensorShape([None, None]))",
          "([2, 3]).most_specific_common_supertype([tf.TensorShape([2, 4])]).as_list()",
          "([2, 3]).placeholder_value(None).as_list()", "([2, 3]).cast(tf.TensorShape([2, 3]), None).as_list()",
          "([2, 3]).to_tensors(tf.TensorShape([2, 3]))", "([2, 3]).from_tensors(iter([])).as_list()", "([2, 3]).flatten()",
          "([2, 3]).as_proto().dim[1].size", "([2, 3]).experimental_as_proto().dim[0].size"),
    *[row(f"result = {text}(tf.TensorShape({shape}))") for text in ("repr", "str", "len", "bool", "list")
      for shape in ("[2, None]", "None", "[]")],
    row("result = tf.TensorShape.experimental_from_proto(tf.TensorShape([2, None]).experimental_as_proto()).as_list()"),
    row("result = tf.TensorShape.experimental_type_proto() is type(tf.TensorShape([2]).experimental_as_proto())"),
    *_all("tf.TensorSpec", "([None, 2], tf.int32)", "([2]).name", "([2], name='x').name", "([2]).dtype.name", "([2]).shape.as_list()",
          "([2]) == tf.TensorSpec([2])", "([2]).is_compatible_with(tf.zeros(2))", "([2]).is_compatible_with(tf.zeros(3))",
          "([2]).value_type.__name__", "([2]).most_specific_compatible_type(tf.TensorSpec([3])).shape.as_list()",
          ".from_tensor(tf.zeros(2)).shape.as_list()", ".from_spec(tf.TensorSpec([3], tf.int8, 'n')).name", "([None]).is_subtype_of(tf.TensorSpec(None))",
          "([2]).is_subtype_of(tf.TensorSpec([None]))", "([2]).flatten()[0].shape.as_list()",
          "([2]).to_tensors(tf.zeros(2))", "([2]).from_tensors(iter([tf.zeros(2)]))",
          "([2]).most_specific_common_supertype([tf.TensorSpec([3])]).shape.as_list()", "([2]).experimental_as_proto().name"),
    row("repr(tf.TensorSpec([None, 2], tf.int32, name='x'))"),
    row("result = tf.TensorSpec.experimental_from_proto(tf.TensorSpec([2], tf.int8).experimental_as_proto()).shape.as_list()"),
    row("result = tf.TensorSpec.experimental_type_proto() is type(tf.TensorSpec([2]).experimental_as_proto())"),
    row("repr(tf.type_spec_from_value(tf.constant([1.0])))"),
    row("repr(tf.type_spec_from_value(tf.SparseTensor([[0]], [1], [2])))"),
    row("repr(tf.SparseTensorSpec([None, 2], tf.int32))"),
    row("repr(tf.SparseTensorSpec.from_value(tf.sparse.eye(3, 4)))"),
    row("repr(tf.SparseTensorSpec.from_value(tf.compat.v1.SparseTensorValue([[2, 0]], [0.5], [3, 4])))"),
    row("tf.SparseTensorSpec.from_value([4])"),
    row("tf.sparse.to_dense(tf.compat.v1.SparseTensorValue([[1, 0]], [7], [2, 1]))"),
    row("repr(tf.NoneTensorSpec.from_value(None).most_specific_compatible_shape(tf.NoneTensorSpec()))"),
    row("tf.NoneTensorSpec().most_specific_compatible_shape(tf.TensorSpec([3]))"),
    row("[tf.SparseTensorSpec([None, 2]).shape.as_list(), tf.SparseTensorSpec([1], tf.int8).dtype.name]"),
    row("tf.type_spec_from_value('a')"),
    row("tf.type_spec_from_value(object())"),
    row("isinstance(tf.TensorSpec([1]), tf.TypeSpec)"),
    row("[type(tf.NoneTensorSpec()).__name__, isinstance(tf.NoneTensorSpec(), tf.TypeSpec)]"),
    *[
        row(f"e = tf.errors.{name}Error(None, None, 'why')\nresult = [e.message, e.error_code, e.op is None, e.node_def is None, "
            "isinstance(e, tf.errors.OpError), e.experimental_payloads]")
        for name in _ERRORS
    ],
    row("raise tf.errors.InvalidArgumentError(None, None, 'x')"),
    row("issubclass(tf.errors.OperatorNotAllowedInGraphError, TypeError)"),
    row("tf.executing_eagerly()"),
    row("[tf.is_symbolic_tensor(tf.constant(1)), tf.inside_function(), tf.get_current_name_scope(), tf.get_logger() is not None]"),
    row("with tf.name_scope('a'):\n    with tf.name_scope('b'):\n        result = tf.get_current_name_scope()"),
    row("with tf.name_scope('a') as scope:\n    result = scope"),
    row("with tf.name_scope('a b'):\n    result = 0"),
    row("with tf.name_scope(3):\n    result = 0"),
    row("with tf.device('/CPU:0'):\n    result = [tf.constant(1).device, (tf.constant(1.0) + 1).device, tf.Variable(1.0).device]"),
    row("with tf.device('/GPU:0'):\n    result = tf.constant(1).device"),
    row("with tf.device('foo'):\n    result = tf.constant(1).device"),
    row("with tf.device('/job:worker/task:1'):\n    result = tf.constant(1).device"),
    row("with tf.device(3):\n    result = tf.constant(1).device"),
    row("with tf.device(None):\n    result = tf.constant(1).device"),
    row("[tf.DeviceSpec(job='worker', device_type='GPU', device_index=1).to_string(), tf.DeviceSpec.from_string('/cpu:0').device_type]"),
    row("x = tf.constant([1.0])\nresult = [x.ref() == x.ref(), x.ref().deref() is x, len({x.ref(), x.ref()}), "
        "x.experimental_ref() == x.ref(), x.get_shape().as_list(), x.ndim, x.dtype.name, x.set_shape([1])]"),
    row("tf.constant(1.0).name"),
    row("tf.constant(1.0).eval()"),
    row("tf.constant([1.0]).set_shape([2])"),
    row("v = tf.Variable([1.0], constraint=tf.nn.relu)\nresult = [v.ref() == v.ref(), v.experimental_ref().deref() is v, "
        "v.get_shape().as_list(), v.constraint is tf.nn.relu, v.initializer is None, v.synchronization.value, v.dtype.name]"),
    *_all("tf.Variable([1.0]).", "eval()", "initial_value", "to_proto()", "graph", "op", "initialized_value()"),
    row("tf.Variable.SaveSliceInfo('v', [4, 2], [0, 0], [2, 2]).spec"),
    row("tf.Variable.from_proto(None)", ours="TensorFlow builds a broken variable from None; headrace refuses"),
    row("s = tf.SparseTensor([[0, 1]], [5.0], [2, 2])\nresult = [tf.SparseTensor.from_value(s), s.get_shape().as_list(), "
        "s.with_values([7.0]), s.shape.as_list(), s.dtype.name, s.set_shape([2, None])]"),
    row("tf.SparseTensor.from_value(3)"),
    row("tf.SparseTensor([[0, 1]], [5.0, 1.0], [2, 2])"),
    row("tf.SparseTensor([0, 1], [5.0], [2, 2])"),
    row("repr(tf.SparseTensor([[0, 1]], [5.0], [2, 2]))"),
    row("c = tf.CriticalSection(name='c')\nv = tf.Variable(0)\nc.execute(lambda: v.assign_add(1))\n"
        "result = [v.value(), c.execute(lambda: v + 3)]"),
    row("x = tf.constant([1.0, 2.0])\nresult = tf.experimental.dlpack.from_dlpack(tf.experimental.dlpack.to_dlpack(x))"),
    row("result = np.from_dlpack(tf.constant([1.0, 2.0])).tolist()"),
    row("with tf.experimental.async_scope():\n    x = tf.constant(1.0) + 1\ntf.experimental.async_clear_error()\nresult = x"),
    row("with tf.experimental.function_executor_type(None):\n    result = tf.constant(1.0)"),
    row("[hasattr(tf.types.experimental, n) for n in ('TensorLike', 'SupportsTracingProtocol', 'TraceType', 'TracingContext')]"),
    row("tf.nest.flatten({'b': 1, 'a': [2, (3, None)]})"),
    row("tf.nest.map_structure(lambda x, y: x + y, [1, {'a': 2}], [3, {'a': 4}])"),
    row("tf.nest.map_structure(lambda x, y: x + y, [1, 2], [3])"),
    row("tf.nest.assert_same_structure([1, 2], (1, 2))"),
    row("tf.nest.assert_same_structure([1, 2], [1, [2]])"),
    row("tf.nest.pack_sequence_as({'b': 1, 'a': [2, 3]}, [10, 20, 30])"),
    row("tf.nest.pack_sequence_as([1, 2], [1])"),
    row("[tf.nest.is_nested([1]), tf.nest.is_nested({}), tf.nest.is_nested('a'), tf.nest.is_nested(tf.constant([1]))]"),
]
