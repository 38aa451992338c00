"""The public names of `tf.compat.v1.test`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.devices.build_information import gpu_device_name as gpu_device_name
    from headrace._src.devices.build_information import is_built_with_cuda as is_built_with_cuda
    from headrace._src.devices.build_information import is_built_with_gpu_support as is_built_with_gpu_support
    from headrace._src.devices.build_information import is_built_with_rocm as is_built_with_rocm
    from headrace._src.devices.build_information import is_built_with_xla as is_built_with_xla
    from headrace._src.devices.build_information import is_gpu_available as is_gpu_available
    from headrace._src.testing.benchmarks import Benchmark as Benchmark
    from headrace._src.testing.benchmarks import benchmark_config as benchmark_config
    from headrace._src.testing.cases import TestCase as TestCase
    from headrace._src.testing.cases import main as main
    from headrace._src.testing.checks import disable_with_predicate as disable_with_predicate
    from headrace._src.testing.checks import is_cpu_target_available as is_cpu_target_available
    from headrace._src.testing.checks import with_eager_op_as_function as with_eager_op_as_function
    from headrace._src.testing.session_checks import StubOutForTesting as StubOutForTesting
    from headrace._src.testing.session_checks import assert_equal_graph_def as assert_equal_graph_def
    from headrace._src.testing.session_checks import compute_gradient as compute_gradient
    from headrace._src.testing.session_checks import compute_gradient_error as compute_gradient_error
    from headrace._src.testing.session_checks import get_temp_dir as get_temp_dir
    from headrace._src.testing.session_checks import test_src_dir_path as test_src_dir_path
    from headrace.compat.v1.test import experimental as experimental
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
