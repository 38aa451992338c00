"""Options of sessions and runs: records with the fields of TensorFlow's messages, which programs set and read.

They ask for threads, devices, memory and graph rewriting; results do not depend on them.
"""

import copy

from headrace._src.op.api import api


class Options:
    """A record of fields with defaults. A field whose default is a class holds a record, a list or a dictionary."""

    FIELDS: dict[str, object] = {}

    def __init__(self, **values) -> None:
        for name, default in self.FIELDS.items():
            object.__setattr__(self, name, default() if isinstance(default, type) else default)
        for name, value in values.items():
            if name not in self.FIELDS:
                raise ValueError(f'Protocol message {type(self).__name__} has no "{name}" field.')
            if isinstance(value, dict) and isinstance(getattr(self, name), Options):
                value = type(getattr(self, name))(**value)
            object.__setattr__(self, name, self._checked(name, copy.deepcopy(value)))

    def _checked(self, name, value):
        default = self.FIELDS[name]
        if isinstance(default, type):
            if isinstance(value, default) or (default in (list, tuple) and hasattr(value, "__iter__")):
                return value
            raise TypeError(f"{type(self).__name__}.{name} must be a {default.__name__}, got {value!r}.")
        if isinstance(default, bool):
            if not isinstance(value, (bool, int)):
                raise TypeError(f"{type(self).__name__}.{name} must be a bool, got {value!r}.")
            return bool(value)
        if isinstance(default, float) and isinstance(value, (int, float)):
            return float(value)
        if isinstance(default, int) and not isinstance(value, int):
            raise TypeError(f"{type(self).__name__}.{name} must be an int, got {value!r}.")
        if isinstance(default, (str, float)) and not isinstance(value, type(default)):
            raise TypeError(f"{type(self).__name__}.{name} must be a {type(default).__name__}, got {value!r}.")
        return value

    def __setattr__(self, name, value):
        if name not in self.FIELDS:
            raise AttributeError(
                f'Assignment not allowed (no field "{name}" in protocol message object of type {type(self).__name__}).'
            )
        if isinstance(self.FIELDS[name], type):
            raise AttributeError(
                f'Assignment not allowed to message, map, or repeated field "{name}" in protocol message object.'
            )
        object.__setattr__(self, name, self._checked(name, value))

    def CopyFrom(self, other) -> None:
        """Take over all fields of another record of the same kind."""
        if type(other) is not type(self):
            raise TypeError(f"CopyFrom: expected {type(self).__name__}, got {type(other).__name__}.")
        for name in self.FIELDS:
            object.__setattr__(self, name, copy.deepcopy(getattr(other, name)))

    def MergeFrom(self, other) -> None:
        """Take over the fields of another record that are set."""
        for name, value in other._set_fields().items():
            mine = getattr(self, name)
            if isinstance(mine, Options):
                mine.MergeFrom(value)
            elif isinstance(mine, list):
                mine.extend(copy.deepcopy(value))
            elif isinstance(mine, dict):
                mine.update(value)
            else:
                object.__setattr__(self, name, value)

    def Clear(self) -> None:
        """Give all fields their defaults."""
        self.__init__()

    def HasField(self, name) -> bool:
        """Whether a field that is a record differs from an empty one."""
        return name in self._set_fields()

    def _set_fields(self):
        empty = type(self)()
        return {name: getattr(self, name) for name in self.FIELDS if getattr(self, name) != getattr(empty, name)}

    def __eq__(self, other):
        return type(other) is type(self) and all(getattr(self, n) == getattr(other, n) for n in self.FIELDS)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self):
        return "\n".join(self._lines())

    def _lines(self, indent=""):
        lines = []
        for name, value in self._set_fields().items():
            if isinstance(value, Options):
                lines += [f"{indent}{name} {{", *value._lines(indent + "  "), indent + "}"]
            elif isinstance(value, list):
                lines += [f"{indent}{name}: {item!r}" for item in value]
            elif isinstance(value, dict):
                for key, item in value.items():
                    lines += [f"{indent}{name} {{", f"{indent}  key: {key!r}", f"{indent}  value: {item!r}"]
                    lines.append(indent + "}")
            else:
                text = f'"{value}"' if isinstance(value, str) else str(value)
                lines.append(f"{indent}{name}: {text.lower() if isinstance(value, bool) else text}")
        return lines


class StreamMergeOptions(Options):
    """Which streams of a GPU are one."""

    FIELDS = dict.fromkeys(
        ("merge_host_to_device_stream", "merge_device_to_host_stream", "merge_device_to_device_stream"), False
    )


class VirtualDevices(Options):
    """How a GPU is divided."""

    FIELDS = {"memory_limit_mb": list, "priority": list, "device_ordinal": list}


class GPUExperimental(Options):
    """GPU options that may change."""

    VirtualDevices = VirtualDevices
    StreamMergeOptions = StreamMergeOptions
    FIELDS = {
        "virtual_devices": list, "num_virtual_devices_per_gpu": 0, "use_unified_memory": False,
        "num_dev_to_dev_copy_streams": 0, "collective_ring_order": "", "timestamped_allocator": False,
        "kernel_tracker_max_interval": 0, "kernel_tracker_max_bytes": 0, "kernel_tracker_max_pending": 0,
        "internal_fragmentation_fraction": 0.0, "use_cuda_malloc_async": False,
        "disallow_retry_on_allocation_failure": False, "gpu_host_mem_limit_in_mb": 0.0,
        "gpu_host_mem_disallow_growth": False, "gpu_system_memory_size_in_mb": 0,
        "populate_pjrt_gpu_client_creation_info": False, "node_id": 0, "stream_merge_options": StreamMergeOptions,
    }  # fmt: skip


@api("compat.v1.GPUOptions")
class GPUOptions(Options):
    """How GPUs are used, and how much of their memory."""

    Experimental = GPUExperimental
    FIELDS = {
        "per_process_gpu_memory_fraction": 0.0, "allow_growth": False, "allocator_type": "",
        "deferred_deletion_bytes": 0, "visible_device_list": "", "polling_active_delay_usecs": 0,
        "polling_inactive_delay_msecs": 0, "force_gpu_compatible": False, "experimental": GPUExperimental,
    }  # fmt: skip


@api("compat.v1.OptimizerOptions")
class OptimizerOptions(Options):
    """Which rewriting of graphs is done."""

    L1, L0 = 0, -1
    DEFAULT, OFF, ON_1, ON_2 = 0, -1, 1, 2
    FIELDS = {
        "do_common_subexpression_elimination": False, "do_constant_folding": False, "max_folded_constant_in_bytes": 0,
        "do_function_inlining": False, "opt_level": 0, "global_jit_level": 0, "cpu_global_jit": False,
    }  # fmt: skip


class RewriterConfig(Options):
    """Which passes over graphs are on (1), off (2), or as usual (0)."""

    DEFAULT, ON, OFF, AGGRESSIVE = 0, 1, 2, 3
    FIELDS = {
        **dict.fromkeys(
            (
                "cpu_layout_conversion", "layout_optimizer", "constant_folding", "shape_optimization", "remapping",
                "common_subgraph_elimination", "arithmetic_optimization", "dependency_optimization",
                "loop_optimization", "function_optimization", "debug_stripper", "scoped_allocator_optimization",
                "pin_to_host_optimization", "implementation_selector", "auto_mixed_precision",
                "auto_mixed_precision_mkl", "auto_mixed_precision_onednn_bfloat16", "auto_mixed_precision_cpu",
                "use_plugin_optimizers", "experimental_conditional_code_motion", "meta_optimizer_iterations",
                "min_graph_nodes", "memory_optimization", "meta_optimizer_timeout_ms",
            ),
            0,
        ),
        **dict.fromkeys(
            (
                "disable_model_pruning", "disable_meta_optimizer", "disable_tfg_optimizer", "fail_on_optimizer_errors",
                "experimental_disable_compressed_tensor_optimization",
                "experimental_disable_folding_quantization_emulation",
            ),
            False,
        ),
        "memory_optimizer_target_node_name_scope": "", "optimizers": list, "custom_optimizers": list,
    }  # fmt: skip


@api("compat.v1.GraphOptions")
class GraphOptions(Options):
    """How graphs are prepared and run."""

    FIELDS = {
        "enable_recv_scheduling": False, "optimizer_options": OptimizerOptions, "build_cost_model": 0,
        "build_cost_model_after": 0, "infer_shapes": False, "place_pruned_graph": False,
        "enable_bfloat16_sendrecv": False, "timeline_step": 0, "rewrite_options": RewriterConfig,
    }  # fmt: skip


class SessionMetadata(Options):
    """What a session is called."""

    FIELDS = {"name": "", "version": 0}


class ConfigExperimental(Options):
    """Session options that may change."""

    FIELDS = {
        "collective_group_leader": "", "executor_type": "", "recv_buf_max_chunk": 0, "use_numa_affinity": False,
        "collective_deterministic_sequential_execution": False, "collective_nccl": False,
        "share_session_state_in_clusterspec_propagation": False, "disable_thread_spinning": False,
        "share_cluster_devices_in_session": False, "session_metadata": SessionMetadata,
        "optimize_for_static_graph": False, "enable_mlir_bridge": False, "mlir_bridge_rollout": 0,
        "enable_mlir_graph_optimization": False, "disable_output_partition_graphs": False,
        "xla_fusion_autotuner_thresh": 0, "use_tfrt": False, "enable_multi_host": False, "tfrt_use_ifrt": False,
        "backend_server_port": 0, "target_tpu": False, "target_gpu": False, "stream_merge_threshold": 0,
        "disable_functional_ops_lowering": False, "xla_prefer_single_graph_cluster": False,
        "disable_optimize_for_static_graph": False, "disable_eager_executor_streaming_enqueue": False,
        "finalize_function_library_runtime": False, "finalize_resource_manager": False, "tf2xla_dump_dir": "",
        "online_cost_analysis": False,
    }  # fmt: skip


@api("compat.v1.ConfigProto")
class ConfigProto(Options):
    """How a session uses devices and threads.

    >>> config = tf.compat.v1.ConfigProto(allow_soft_placement=True)
    >>> config.gpu_options.allow_growth = True
    """

    Experimental = ConfigExperimental
    FIELDS = {
        "device_count": dict, "intra_op_parallelism_threads": 0, "inter_op_parallelism_threads": 0,
        "use_per_session_threads": False, "session_inter_op_thread_pool": list, "placement_period": 0,
        "device_filters": list, "gpu_options": GPUOptions, "pluggable_device_options": GPUOptions,
        "allow_soft_placement": False, "log_device_placement": False, "graph_options": GraphOptions,
        "operation_timeout_in_ms": 0, "isolate_session_state": False, "share_cluster_devices_in_session": False,
        "experimental": ConfigExperimental,
    }  # fmt: skip


class RunHandlerPoolOptions(Options):
    """How urgent a run is."""

    FIELDS = {"priority": 0}


class RunExperimental(Options):
    """Options of a run that may change."""

    RunHandlerPoolOptions = RunHandlerPoolOptions
    FIELDS = {
        "collective_graph_key": 0, "use_run_handler_pool": False, "run_handler_pool_options": RunHandlerPoolOptions,
    }  # fmt: skip


@api("compat.v1.RunOptions")
class RunOptions(Options):
    """How one run is traced, and how long it may take."""

    NO_TRACE, SOFTWARE_TRACE, HARDWARE_TRACE, FULL_TRACE = 0, 1, 2, 3
    Experimental = RunExperimental
    FIELDS = {
        "trace_level": 0, "timeout_in_ms": 0, "inter_op_thread_pool": 0, "output_partition_graphs": False,
        "report_tensor_allocations_upon_oom": False, "experimental": RunExperimental,
    }  # fmt: skip
