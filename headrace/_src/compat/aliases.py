"""The names of `tf.compat.v1` that mean the same as in TensorFlow 2; `scripts/exports` writes them.

A name whose function does not exist yet is left out until it does.
"""

# Folder of `tf.compat.v1` to the names in it that `tf` has under the same name.
SAME = {
    "": """
        AggregationMethod Assert CriticalSection DType GradientTape Graph IndexedSlices IndexedSlicesSpec Module
        NoneTensorSpec Operation OptionalSpec RaggedTensor RaggedTensorSpec RegisterGradient SparseTensor
        SparseTensorSpec Tensor TensorArray TensorArraySpec TensorShape TensorSpec TypeSpec UnconnectedGradients
        VariableAggregation VariableSynchronization
        abs acos acosh add add_n approx_top_k argsort as_dtype as_string asin asinh atan atan2
        atanh bfloat16 bitcast bool broadcast_dynamic_shape broadcast_static_shape broadcast_to cast check_pinned
        clip_by_global_norm clip_by_norm clip_by_value complex complex128 complex64 concat control_dependencies conv
        conv2d_backprop_filter_v2 conv2d_backprop_input_v2 cos cosh cumsum custom_gradient divide double
        dynamic_partition dynamic_stitch edit_distance einsum ensure_shape equal executing_eagerly exp
        extract_volume_patches eye fftnd fill fingerprint float16 float32 float64 floor foldl foldr function
        get_logger get_static_value grad_pass_through greater greater_equal group guarantee_const half
        histogram_fixed_width histogram_fixed_width_bins identity identity_n ifftnd import_graph_def init_scope int16
        int32 int64 int8 irfftnd is_symbolic_tensor is_tensor less less_equal linspace load_library load_op_library
        logical_and logical_not logical_or make_ndarray make_tensor_proto map_fn matmul matrix_square_root maximum
        meshgrid minimum multiply negative newaxis no_gradient no_op nondifferentiable_batch_function not_equal
        numpy_function one_hot ones parallel_stack pow print py_function qint16 qint32 qint8 quint16 quint8
        ragged_fill_empty_rows ragged_fill_empty_rows_grad random_index_shuffle range rank realdiv recompute_grad
        register_tensor_conversion_function repeat required_space_to_batch_paddings reshape resource reverse rfftnd
        roll round saturate_cast scalar_mul scan scatter_nd searchsorted sequence_mask shape_n sigmoid sign sin sinh
        slice sort space_to_batch_nd split sqrt square stack stop_gradient strided_slice string subtract switch_case
        tan tanh tensor_scatter_nd_add tensor_scatter_nd_max tensor_scatter_nd_min tensor_scatter_nd_sub
        tensor_scatter_nd_update tensordot tile timestamp truediv truncatediv truncatemod type_spec_from_value uint16
        uint32 uint64 uint8 unique unique_with_counts unravel_index unstack variant
        vectorized_map zeros
    """,
    "audio": "decode_wav encode_wav",
    "autograph": "set_verbosity trace",
    "autograph.experimental": "Feature do_not_convert set_loop_options",
    "bitwise": "bitwise_and bitwise_or bitwise_xor invert left_shift right_shift",
    "config": """
        LogicalDevice LogicalDeviceConfiguration PhysicalDevice experimental_connect_to_cluster
        experimental_connect_to_host experimental_functions_run_eagerly experimental_run_functions_eagerly
        functions_run_eagerly get_logical_device_configuration get_soft_device_placement get_visible_devices
        list_logical_devices list_physical_devices run_functions_eagerly set_logical_device_configuration
        set_soft_device_placement set_visible_devices
    """,
    "config.experimental": """
        ClusterDeviceFilters VirtualDeviceConfiguration disable_mlir_bridge enable_mlir_bridge
        enable_tensor_float_32_execution get_device_details get_device_policy get_memory_growth get_memory_info
        get_memory_usage get_synchronous_execution get_virtual_device_configuration get_visible_devices
        list_logical_devices list_physical_devices reset_memory_stats set_device_policy set_memory_growth
        set_synchronous_execution set_virtual_device_configuration set_visible_devices
        tensor_float_32_execution_enabled
    """,
    "config.optimizer": "get_experimental_options get_jit set_experimental_options set_jit",
    "config.threading": """
        get_inter_op_parallelism_threads get_intra_op_parallelism_threads set_inter_op_parallelism_threads
        set_intra_op_parallelism_threads
    """,
    "debugging": """
        Assert assert_integer assert_proper_iterable assert_same_float_dtype assert_shapes assert_type check_numerics
        disable_check_numerics disable_traceback_filtering enable_check_numerics enable_traceback_filtering
        get_log_device_placement is_numeric_tensor is_traceback_filtering_enabled set_log_device_placement
    """,
    "debugging.experimental": "disable_dump_debug_info enable_dump_debug_info",
    "dtypes": """
        DType QUANTIZED_DTYPES as_dtype bfloat16 bool cast complex complex128 complex64 double float16 float32 float64
        half int16 int32 int64 int8 qint16 qint32 qint8 quint16 quint8 resource saturate_cast string uint16 uint32
        uint64 uint8 variant
    """,
    "dtypes.experimental": """
        float4_e2m1fn float8_e4m3b11fnuz float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz int2 int4 uint2
        uint4
    """,
    "errors": """
        ABORTED ALREADY_EXISTS AbortedError AlreadyExistsError CANCELLED CancelledError DATA_LOSS DEADLINE_EXCEEDED
        DataLossError DeadlineExceededError FAILED_PRECONDITION FailedPreconditionError INTERNAL INVALID_ARGUMENT
        InternalError InvalidArgumentError NOT_FOUND NotFoundError OK OUT_OF_RANGE OpError OutOfRangeError
        PERMISSION_DENIED PermissionDeniedError RESOURCE_EXHAUSTED ResourceExhaustedError UNAUTHENTICATED UNAVAILABLE
        UNIMPLEMENTED UNKNOWN UnauthenticatedError UnavailableError UnimplementedError UnknownError
    """,
    "experimental": """
        BatchableExtensionType DynamicRaggedShape ExtensionType ExtensionTypeBatchEncoder ExtensionTypeSpec Optional
        RowPartition StructuredTensor async_clear_error async_scope dispatch_for_api
        dispatch_for_binary_elementwise_apis dispatch_for_binary_elementwise_assert_apis
        dispatch_for_unary_elementwise_apis enable_strict_mode float4_e2m1fn float8_e4m3b11fnuz float8_e4m3fn
        float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz function_executor_type int2 int4 register_filesystem_plugin uint2
        uint4 unregister_dispatch_for
    """,
    "experimental.extension_type": "as_dict",
    "graph_util": "import_graph_def",
    "linalg": """
        LinearOperator LinearOperatorAdjoint LinearOperatorBlockDiag LinearOperatorBlockLowerTriangular
        LinearOperatorCirculant LinearOperatorCirculant2D LinearOperatorCirculant3D LinearOperatorComposition
        LinearOperatorDiag LinearOperatorFullMatrix LinearOperatorHouseholder LinearOperatorIdentity
        LinearOperatorInversion LinearOperatorKronecker LinearOperatorLowRankUpdate LinearOperatorLowerTriangular
        LinearOperatorPermutation LinearOperatorScaledIdentity LinearOperatorToeplitz LinearOperatorTridiag
        LinearOperatorZeros adjoint band_part cholesky cholesky_solve cross det diag diag_part eigh eigh_tridiagonal
        eigvalsh einsum expm eye global_norm inv l2_normalize logdet logm lstsq lu lu_matrix_inverse lu_reconstruct
        lu_solve matmul matrix_rank matrix_transpose matvec normalize pinv qr set_diag slogdet solve sqrtm svd
        tensor_diag tensor_diag_part tensordot trace triangular_solve tridiagonal_matmul tridiagonal_solve
    """,
    "linalg.experimental": "conjugate_gradient",
    "lookup": "StaticHashTable StaticVocabularyTable KeyValueTensorInitializer TextFileIndex TextFileInitializer",
    "lookup.experimental": "DenseHashTable MutableHashTable",
    "math": """
        abs accumulate_n acos acosh add add_n angle approx_max_k approx_min_k asin asinh atan atan2 atanh bessel_i0
        bessel_i0e bessel_i1 bessel_i1e betainc ceil conj cos cosh cumprod cumsum cumulative_logsumexp digamma divide
        divide_no_nan equal erf erfc erfcinv erfinv exp expm1 floor floordiv floormod greater greater_equal igamma
        igammac imag invert_permutation is_finite is_inf is_nan is_non_decreasing is_strictly_increasing l2_normalize
        lbeta less less_equal lgamma log log1p log_sigmoid logical_and logical_not logical_or logical_xor maximum
        minimum mod multiply multiply_no_nan ndtri negative nextafter not_equal polygamma polyval pow real reciprocal
        reciprocal_no_nan reduce_euclidean_norm reduce_std reduce_variance rint round rsqrt scalar_mul segment_max
        segment_mean segment_min segment_prod segment_sum sigmoid sign sin sinh sobol_sample softplus softsign sqrt
        square squared_difference subtract tan tanh top_k truediv unsorted_segment_max unsorted_segment_mean
        unsorted_segment_min unsorted_segment_prod unsorted_segment_sqrt_n unsorted_segment_sum xdivy xlog1py xlogy
        zero_fraction zeta
    """,
    "math.special": """
        bessel_i0 bessel_i0e bessel_i1 bessel_i1e bessel_j0 bessel_j1 bessel_k0 bessel_k0e bessel_k1 bessel_k1e
        bessel_y0 bessel_y1 dawsn expint fresnel_cos fresnel_sin spence
    """,
    "nest": "assert_same_structure flatten is_nested map_structure pack_sequence_as",
    "nn": """
        all_candidate_sampler approx_max_k approx_min_k atrous_conv2d atrous_conv2d_transpose avg_pool1d avg_pool3d
        batch_normalization bias_add collapse_repeated compute_accidental_hits compute_average_loss conv1d_transpose
        conv_transpose ctc_greedy_decoder ctc_unique_labels depthwise_conv2d_backprop_filter
        depthwise_conv2d_backprop_input elu fixed_unigram_candidate_sampler l2_loss l2_normalize leaky_relu
        learned_unigram_candidate_sampler local_response_normalization log_poisson_loss lrn max_pool1d max_pool2d
        max_pool3d normalize_moments relu relu6 scale_regularization_loss selu sigmoid
        sigmoid_cross_entropy_with_logits silu softplus softsign swish tanh top_k with_space_to_batch zero_fraction
    """,
    "nn.experimental": "general_dropout stateless_dropout",
    "quantization": """
        dequantize fake_quant_with_min_max_args fake_quant_with_min_max_args_gradient fake_quant_with_min_max_vars
        fake_quant_with_min_max_vars_gradient fake_quant_with_min_max_vars_per_channel
        fake_quant_with_min_max_vars_per_channel_gradient quantize quantize_and_dequantize quantize_and_dequantize_v2
        quantized_concat
    """,
    "quantization.experimental": """
        QuantizationComponentSpec QuantizationMethod QuantizationOptions TfRecordRepresentativeDatasetSaver
        UnitWiseQuantizationSpec quantize_saved_model
    """,
    "queue": "FIFOQueue PaddingFIFOQueue PriorityQueue QueueBase RandomShuffleQueue",
    "ragged": """
        boolean_mask constant cross cross_hashed map_flat_values range row_splits_to_segment_ids
        segment_ids_to_row_splits stack stack_dynamic_partitions
    """,
    "random": """
        Algorithm Generator all_candidate_sampler categorical create_rng_state fixed_unigram_candidate_sampler fold_in
        gamma get_global_generator learned_unigram_candidate_sampler log_uniform_candidate_sampler normal
        set_global_generator shuffle split stateless_binomial stateless_categorical stateless_gamma stateless_normal
        stateless_parameterized_truncated_normal stateless_poisson stateless_truncated_normal stateless_uniform
        truncated_normal uniform uniform_candidate_sampler
    """,
    "random.experimental": """
        Algorithm Generator create_rng_state get_global_generator index_shuffle set_global_generator stateless_fold_in
        stateless_shuffle stateless_split
    """,
    "saved_model": "Asset SaveOptions save",
    "saved_model.experimental": "TrackableResource VariablePolicy",
    "sets": "difference intersection size union",
    "image": """
        adjust_brightness adjust_contrast adjust_gamma adjust_hue adjust_jpeg_quality adjust_saturation central_crop
        combined_non_max_suppression convert_image_dtype crop_to_bounding_box decode_and_crop_jpeg decode_bmp
        decode_gif decode_image decode_jpeg decode_jxl decode_png decode_webp encode_jpeg encode_png
        extract_jpeg_shape extract_patches flip_left_right flip_up_down generate_bounding_box_proposals
        grayscale_to_rgb hsv_to_rgb image_gradients is_jpeg non_max_suppression non_max_suppression_overlaps
        non_max_suppression_padded non_max_suppression_with_scores pad_to_bounding_box per_image_standardization psnr
        random_brightness random_contrast random_crop random_flip_left_right random_flip_up_down random_hue
        random_jpeg_quality random_saturation resize_with_crop_or_pad rgb_to_grayscale rgb_to_hsv rgb_to_yiq rgb_to_yuv
        rot90 sobel_edges ssim ssim_multiscale total_variation transpose yiq_to_rgb yuv_to_rgb
    """,
    "data": """
        AUTOTUNE DatasetSpec INFINITE_CARDINALITY NumpyIterator Options ThreadingOptions UNKNOWN_CARDINALITY
    """,
    "data.experimental": """
        SHARD_HINT parallel_interleave
        AUTOTUNE AutoShardPolicy AutotuneAlgorithm AutotuneOptions DatasetInitializer
        DistributeOptions ExternalStatePolicy INFINITE_CARDINALITY OptimizationOptions Optional OptionalStructure
        Reducer ServiceOptions TFRecordWriter ThreadingOptions UNKNOWN_CARDINALITY
        assert_cardinality bucket_by_sequence_length cardinality copy_to_device
        dense_to_ragged_batch dense_to_sparse_batch enable_debug_mode enumerate_dataset from_list from_variant
        get_next_as_optional get_single_element
        get_structure group_by_reducer group_by_window ignore_errors index_table_from_dataset
        map_and_batch pad_to_cardinality parse_example_dataset
        prefetch_to_device rejection_resample scan shuffle_and_repeat snapshot
        table_from_dataset take_while to_variant unbatch unique
    """,
    "io": """
        decode_and_crop_jpeg decode_bmp decode_gif decode_image decode_jpeg decode_jxl decode_png decode_webp
        encode_jpeg encode_png extract_jpeg_shape is_jpeg
    """,
    "signal": """
        dct fft fft2d fft3d fftnd fftshift frame hamming_window hann_window idct ifft ifft2d ifft3d ifftnd ifftshift
        inverse_mdct inverse_stft inverse_stft_window_fn irfft irfft2d irfft3d irfftnd kaiser_bessel_derived_window
        kaiser_window linear_to_mel_weight_matrix mdct mfccs_from_log_mel_spectrograms overlap_and_add rfft rfft2d
        rfft3d rfftnd stft vorbis_window
    """,
    "sparse": """
        SparseTensor bincount cross cross_hashed expand_dims eye fill_empty_rows from_dense mask maximum minimum
        reorder reset_shape reshape retain slice softmax sparse_dense_matmul to_dense to_indicator transpose
    """,
    "strings": """
        as_string bytes_split format join lower ngrams regex_full_match regex_replace strip to_hash_bucket_fast
        to_hash_bucket_strong unicode_decode unicode_decode_with_offsets unicode_encode unicode_script unicode_split
        unicode_split_with_offsets unicode_transcode unsorted_segment_join upper
    """,
    "sysconfig": """
        CXX11_ABI_FLAG CXX_VERSION MONOLITHIC_BUILD get_build_info get_compile_flags get_include get_lib
        get_link_flags
    """,
    "data.experimental.service": """
        CrossTrainerCache DispatcherConfig ShardingPolicy WorkerConfig distribute from_dataset_id register_dataset
    """,
    "distribute": """
        CrossDeviceOps HierarchicalCopyAllReduce InputContext InputReplicationMode MirroredStrategy NcclAllReduce
        OneDeviceStrategy ReduceOp ReductionToOneDevice ReplicaContext RunOptions Server Strategy StrategyExtended
        experimental_set_strategy get_replica_context get_strategy has_strategy in_cross_replica_context
    """,
    "distribute.cluster_resolver": """
        ClusterResolver GCEClusterResolver KubernetesClusterResolver KubernetesExecutableLocation
        SimpleClusterResolver SlurmClusterResolver TFConfigClusterResolver TPUClusterResolver UnionResolver
    """,
    "distribute.experimental": """
        CentralStorageStrategy CollectiveCommunication CollectiveHints CommunicationImplementation
        CommunicationOptions MultiWorkerMirroredStrategy ParameterServerStrategy TPUStrategy
    """,
    "test": """
        Benchmark TestCase benchmark_config create_local_cluster disable_with_predicate gpu_device_name
        is_built_with_cuda is_built_with_gpu_support is_built_with_rocm is_built_with_xla is_cpu_target_available
        is_gpu_available main with_eager_op_as_function
    """,
    "test.experimental": "sync_devices",
    "train": """
        BytesList CheckpointManager CheckpointOptions ClusterDef ClusterSpec Coordinator Example
        ExponentialMovingAverage Feature FeatureList FeatureLists Features FloatList Int64List JobDef SequenceExample
        ServerDef checkpoints_iterator get_checkpoint_state latest_checkpoint list_variables load_checkpoint
        load_variable
    """,
    "train.experimental": "MaxShardSizePolicy PythonState ShardByTaskPolicy ShardableTensor ShardingCallback",
    "types.experimental": "FunctionType TensorLike",
    "version": """
        COMPILER_VERSION GIT_VERSION GRAPH_DEF_VERSION GRAPH_DEF_VERSION_MIN_CONSUMER GRAPH_DEF_VERSION_MIN_PRODUCER
        VERSION
    """,
    "xla.experimental": "compile jit_scope",
}

# Names of `tf.compat.v1` to what `tf` calls the same thing.
RENAMED = {
    "COMPILER_VERSION": "version.COMPILER_VERSION",
    "FIFOQueue": "queue.FIFOQueue",
    "GIT_VERSION": "version.GIT_VERSION",
    "GRAPH_DEF_VERSION": "version.GRAPH_DEF_VERSION",
    "GRAPH_DEF_VERSION_MIN_CONSUMER": "version.GRAPH_DEF_VERSION_MIN_CONSUMER",
    "GRAPH_DEF_VERSION_MIN_PRODUCER": "version.GRAPH_DEF_VERSION_MIN_PRODUCER",
    "NoGradient": "no_gradient",
    "NotDifferentiable": "no_gradient",
    "OpError": "errors.OpError",
    "PaddingFIFOQueue": "queue.PaddingFIFOQueue",
    "PriorityQueue": "queue.PriorityQueue",
    "QUANTIZED_DTYPES": "dtypes.QUANTIZED_DTYPES",
    "QueueBase": "queue.QueueBase",
    "RandomShuffleQueue": "queue.RandomShuffleQueue",
    "VERSION": "version.VERSION",
    "accumulate_n": "math.accumulate_n",
    "angle": "math.angle",
    "assert_proper_iterable": "debugging.assert_proper_iterable",
    "assert_same_float_dtype": "debugging.assert_same_float_dtype",
    "betainc": "math.betainc",
    "ceil": "math.ceil",
    "check_numerics": "debugging.check_numerics",
    "cholesky": "linalg.cholesky",
    "cholesky_solve": "linalg.cholesky_solve",
    "conj": "math.conj",
    "cross": "linalg.cross",
    "cumprod": "math.cumprod",
    "debugging.is_finite": "math.is_finite",
    "debugging.is_inf": "math.is_inf",
    "debugging.is_nan": "math.is_nan",
    "debugging.is_non_decreasing": "math.is_non_decreasing",
    "debugging.is_strictly_increasing": "math.is_strictly_increasing",
    "dequantize": "quantization.dequantize",
    "diag": "linalg.tensor_diag",
    "diag_part": "linalg.tensor_diag_part",
    "digamma": "math.digamma",
    "div_no_nan": "math.divide_no_nan",
    "dtypes.as_string": "as_string",
    "erf": "math.erf",
    "erfc": "math.erfc",
    "expm1": "math.expm1",
    "fake_quant_with_min_max_args": "quantization.fake_quant_with_min_max_args",
    "fake_quant_with_min_max_args_gradient": "quantization.fake_quant_with_min_max_args_gradient",
    "fake_quant_with_min_max_vars": "quantization.fake_quant_with_min_max_vars",
    "fake_quant_with_min_max_vars_gradient": "quantization.fake_quant_with_min_max_vars_gradient",
    "fake_quant_with_min_max_vars_per_channel": "quantization.fake_quant_with_min_max_vars_per_channel",
    "fake_quant_with_min_max_vars_per_channel_gradient": (
        "quantization.fake_quant_with_min_max_vars_per_channel_gradient"
    ),
    "fft": "signal.fft",
    "fft2d": "signal.fft2d",
    "fft3d": "signal.fft3d",
    "floordiv": "math.floordiv",
    "floormod": "math.floormod",
    "global_norm": "linalg.global_norm",
    "ifft": "signal.ifft",
    "ifft2d": "signal.ifft2d",
    "ifft3d": "signal.ifft3d",
    "igamma": "math.igamma",
    "igammac": "math.igammac",
    "imag": "math.imag",
    "invert_permutation": "math.invert_permutation",
    "io.PaddingFIFOQueue": "queue.PaddingFIFOQueue",
    "io.PriorityQueue": "queue.PriorityQueue",
    "io.QueueBase": "queue.QueueBase",
    "io.RandomShuffleQueue": "queue.RandomShuffleQueue",
    "is_finite": "math.is_finite",
    "is_inf": "math.is_inf",
    "is_nan": "math.is_nan",
    "is_non_decreasing": "math.is_non_decreasing",
    "is_numeric_tensor": "debugging.is_numeric_tensor",
    "is_strictly_increasing": "math.is_strictly_increasing",
    "lbeta": "math.lbeta",
    "lgamma": "math.lgamma",
    "lin_space": "linspace",
    "log": "math.log",
    "log1p": "math.log1p",
    "log_sigmoid": "math.log_sigmoid",
    "logical_xor": "math.logical_xor",
    "manip.reverse": "reverse",
    "manip.roll": "roll",
    "manip.scatter_nd": "scatter_nd",
    "manip.space_to_batch_nd": "space_to_batch_nd",
    "manip.tile": "tile",
    "matrix_band_part": "linalg.band_part",
    "matrix_determinant": "linalg.det",
    "matrix_diag": "linalg.diag",
    "matrix_diag_part": "linalg.diag_part",
    "matrix_inverse": "linalg.inv",
    "matrix_set_diag": "linalg.set_diag",
    "matrix_solve": "linalg.solve",
    "matrix_solve_ls": "linalg.lstsq",
    "matrix_transpose": "linalg.matrix_transpose",
    "matrix_triangular_solve": "linalg.triangular_solve",
    "mod": "math.floormod",
    "nn.avg_pool_v2": "nn.avg_pool",
    "nn.ctc_beam_search_decoder_v2": "nn.ctc_beam_search_decoder",
    "nn.depthwise_conv2d_native_backprop_filter": "nn.depthwise_conv2d_backprop_filter",
    "nn.depthwise_conv2d_native_backprop_input": "nn.depthwise_conv2d_backprop_input",
    "nn.log_uniform_candidate_sampler": "random.log_uniform_candidate_sampler",
    "nn.max_pool_v2": "nn.max_pool",
    "nn.uniform_candidate_sampler": "random.uniform_candidate_sampler",
    "polygamma": "math.polygamma",
    "qr": "linalg.qr",
    "quantize": "quantization.quantize",
    "quantized_concat": "quantization.quantized_concat",
    "random_gamma": "random.gamma",
    "random_normal": "random.normal",
    "random_shuffle": "random.shuffle",
    "random_uniform": "random.uniform",
    "real": "math.real",
    "reciprocal": "math.reciprocal",
    "regex_replace": "strings.regex_replace",
    "reverse_v2": "reverse",
    "rint": "math.rint",
    "rsqrt": "math.rsqrt",
    "segment_max": "math.segment_max",
    "segment_mean": "math.segment_mean",
    "segment_min": "math.segment_min",
    "segment_prod": "math.segment_prod",
    "segment_sum": "math.segment_sum",
    "self_adjoint_eig": "linalg.eigh",
    "self_adjoint_eigvals": "linalg.eigvalsh",
    "sets.set_difference": "sets.difference",
    "sets.set_intersection": "sets.intersection",
    "sets.set_size": "sets.size",
    "sets.set_union": "sets.union",
    "sparse.matmul": "sparse.sparse_dense_matmul",
    "sparse_fill_empty_rows": "sparse.fill_empty_rows",
    "sparse_mask": "sparse.mask",
    "sparse_maximum": "sparse.maximum",
    "sparse_minimum": "sparse.minimum",
    "sparse_reorder": "sparse.reorder",
    "sparse_reset_shape": "sparse.reset_shape",
    "sparse_reshape": "sparse.reshape",
    "sparse_retain": "sparse.retain",
    "sparse_slice": "sparse.slice",
    "sparse_softmax": "sparse.softmax",
    "sparse_tensor_dense_matmul": "sparse.sparse_dense_matmul",
    "sparse_tensor_to_dense": "sparse.to_dense",
    "sparse_to_indicator": "sparse.to_indicator",
    "sparse_transpose": "sparse.transpose",
    "image.resize_image_with_crop_or_pad": "image.resize_with_crop_or_pad",
    "image.transpose_image": "image.transpose",
    "random_crop": "image.random_crop",
    "spectral.dct": "signal.dct",
    "spectral.fft": "signal.fft",
    "spectral.fft2d": "signal.fft2d",
    "spectral.fft3d": "signal.fft3d",
    "spectral.idct": "signal.idct",
    "spectral.ifft": "signal.ifft",
    "spectral.ifft2d": "signal.ifft2d",
    "spectral.ifft3d": "signal.ifft3d",
    "spectral.irfft": "signal.irfft",
    "spectral.irfft2d": "signal.irfft2d",
    "spectral.irfft3d": "signal.irfft3d",
    "spectral.rfft": "signal.rfft",
    "spectral.rfft2d": "signal.rfft2d",
    "spectral.rfft3d": "signal.rfft3d",
    "squared_difference": "math.squared_difference",
    "string_join": "strings.join",
    "string_strip": "strings.strip",
    "string_to_hash_bucket_fast": "strings.to_hash_bucket_fast",
    "string_to_hash_bucket_strong": "strings.to_hash_bucket_strong",
    "svd": "linalg.svd",
    "tensor_scatter_add": "tensor_scatter_nd_add",
    "tensor_scatter_sub": "tensor_scatter_nd_sub",
    "tensor_scatter_update": "tensor_scatter_nd_update",
    "trace": "linalg.trace",
    "truncated_normal": "random.truncated_normal",
    "unsorted_segment_max": "math.unsorted_segment_max",
    "unsorted_segment_mean": "math.unsorted_segment_mean",
    "unsorted_segment_min": "math.unsorted_segment_min",
    "unsorted_segment_prod": "math.unsorted_segment_prod",
    "unsorted_segment_sqrt_n": "math.unsorted_segment_sqrt_n",
    "unsorted_segment_sum": "math.unsorted_segment_sum",
    "where_v2": "where",
    "zeta": "math.zeta",
}

# Full name to the full name that it is the same as, both without `tf.`.
ALIASES = {
    f"compat.v1.{folder}.{name}".replace("..", "."): f"{folder}.{name}".removeprefix(".")
    for folder, names in SAME.items()
    for name in names.split()
} | {f"compat.v1.{name}": target for name, target in RENAMED.items()}
