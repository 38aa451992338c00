"""Names inside of TensorFlow that Keras and other packages import, and where headrace has them.

The keys of `INTERNALS` are modules without `tensorflow.`, each with its names and their places in headrace
(`module:attribute`, below `headrace._src`). `CLASSES` are those that packages recognise by their `__module__`.
"""

INTERNALS: dict[str, dict[str, str]] = {
    "python": {},
    "python.compat": {},
    "python.compat.v2_compat": {},
    "python.data": {},
    "python.data.experimental": {},
    "python.data.experimental.ops": {},
    "python.data.experimental.ops.distribute": {"compute_batch_size": "data.running.batch_sizes:compute_batch_size"},
    "python.data.ops": {},
    "python.data.ops.dataset_ops": {},
    "python.data.ops.iterator_ops": {},
    "python.data.ops.optional_ops": {},
    "python.eager": {},
    "python.eager.context": {
        "async_wait": "compat.tensorflow_names.internal_namespace:async_wait",
        "context": "compat.tensorflow_names.internal_namespace:eager_context",
        "_reset_context": "devices.configuration:forget_devices",
        "eager_mode": "compat.tensorflow_names.internal_namespace:eager_mode",
        "executing_eagerly": "core.context:executing_eagerly",
    },
    "python.framework": {},
    "python.framework.config": {
        "disable_op_determinism": "compat.tensorflow_names.internal_namespace:disable_op_determinism",
        "enable_op_determinism": "devices.configuration:enable_op_determinism",
        "is_op_determinism_enabled": "compat.tensorflow_names.internal_namespace:is_op_determinism_enabled",
    },
    "python.framework.convert_to_constants": {
        "convert_variables_to_constants_v2": "compat.saving.frozen_functions:convert_variables_to_constants_v2",
    },
    "python.framework.ops": {},
    "python.framework.sparse_tensor": {},
    "python.framework.tensor": {},
    "python.framework.tensor_util": {"is_tf_type": "compat.tensorflow_names.internal_namespace:is_tf_type"},
    "python.framework.type_spec_registry": {
        "get_name": "saved_model.type_spec_names:get_name",
        "lookup": "saved_model.type_spec_names:lookup_spec",
        "register": "saved_model.type_spec_names:register",
    },
    "python.lib": {},
    "python.lib.io": {},
    "python.lib.io.tf_record": {
        "TFRecordCompressionType": "state.record_writer:TFRecordCompressionType",
        "TFRecordOptions": "state.record_writer:TFRecordOptions",
        "TFRecordWriter": "state.record_writer:TFRecordWriter",
        "tf_record_iterator": "state.record_writer:tf_record_iterator",
    },
    "python.ops": {},
    "python.ops.linalg": {},
    "python.ops.linalg.sparse": {},
    "python.ops.linalg.sparse.sparse_csr_matrix_ops": {
        "csr_sparse_matrix_to_sparse_tensor": "ops.sparse.compressed_rows:csr_sparse_matrix_to_sparse_tensor",
        "sparse_matrix_sparse_mat_mul": "ops.sparse.compressed_rows:sparse_matrix_sparse_mat_mul",
        "sparse_tensor_to_csr_sparse_matrix": "ops.sparse.compressed_rows:sparse_tensor_to_csr_sparse_matrix",
    },
    "python.ops.math_ops": {"is_nan": "ops.math.elementwise:is_nan"},
    "python.ops.ragged": {},
    "python.ops.ragged.ragged_tensor": {},
    "python.ops.resource_variable_ops": {},
    "python.trackable": {},
    "python.trackable.data_structures": {
        "ListWrapper": "core.tracked_containers:ListWrapper",
        "_DictWrapper": "core.tracked_containers:_DictWrapper",
        "_TupleWrapper": "core.tracked_containers:_TupleWrapper",
        "NoDependency": "core.trackable:NoDependency",
        "wrap_or_unwrap": "core.trackable:wrap",
    },
    "compiler": {},
    "compiler.tf2xla": {},
    "compiler.tf2xla.python": {},
    "compiler.tf2xla.python.xla": {
        "call_module": "graph.control.xla_modules:call_module",
        "call_module_maximum_supported_version": "graph.control.xla_modules:call_module_maximum_supported_version",
        "dynamic_slice": "ops.arrays.dynamic_slices:dynamic_slice",
        "dynamic_update_slice": "ops.arrays.dynamic_slices:dynamic_update_slice",
    },
    "compiler.xla": {},
    "compiler.xla.xla_data_pb2": {"OpSharding": "graph.control.xla_modules:OpSharding"},
    "python.compiler": {},
    "python.compiler.xla": {},
    "python.compiler.xla.experimental": {},
    "python.compiler.xla.experimental.xla_sharding": {},
    "experimental.dtensor": {},
}

# By place: the module and name that the class has in TensorFlow.
CLASSES: dict[str, tuple[str, str]] = {
    "core.tensor:Tensor": ("python.framework.tensor", "Tensor"),
    "core.tensor:EagerTensor": ("python.framework.ops", "EagerTensor"),
    "graph.building.symbolic:SymbolicTensor": ("python.framework.ops", "SymbolicTensor"),
    "ops.ragged.tensor:RaggedTensor": ("python.ops.ragged.ragged_tensor", "RaggedTensor"),
    "ops.sparse.tensor:SparseTensor": ("python.framework.sparse_tensor", "SparseTensor"),
    "data.datasets:DatasetV2": ("python.data.ops.dataset_ops", "DatasetV2"),
}
