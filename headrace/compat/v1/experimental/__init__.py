"""The public names of `tf.compat.v1.experimental`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.compat.behavior import output_all_intermediates as output_all_intermediates
    from headrace._src.core.dtypes import float4_e2m1fn as float4_e2m1fn
    from headrace._src.core.dtypes import float8_e4m3b11fnuz as float8_e4m3b11fnuz
    from headrace._src.core.dtypes import float8_e4m3fn as float8_e4m3fn
    from headrace._src.core.dtypes import float8_e4m3fnuz as float8_e4m3fnuz
    from headrace._src.core.dtypes import float8_e5m2 as float8_e5m2
    from headrace._src.core.dtypes import float8_e5m2fnuz as float8_e5m2fnuz
    from headrace._src.core.dtypes import int2 as int2
    from headrace._src.core.dtypes import int4 as int4
    from headrace._src.core.dtypes import uint2 as uint2
    from headrace._src.core.dtypes import uint4 as uint4
    from headrace._src.data.running.optionals import Optional as Optional
    from headrace._src.op.type_dispatch import dispatch_for_api as dispatch_for_api
    from headrace._src.op.type_dispatch import dispatch_for_binary_elementwise_apis as dispatch_for_binary_elementwise_apis
    from headrace._src.op.type_dispatch import dispatch_for_binary_elementwise_assert_apis as dispatch_for_binary_elementwise_assert_apis
    from headrace._src.op.type_dispatch import dispatch_for_unary_elementwise_apis as dispatch_for_unary_elementwise_apis
    from headrace._src.op.type_dispatch import unregister_dispatch_for as unregister_dispatch_for
    from headrace._src.ops.extension_types.extension_type import BatchableExtensionType as BatchableExtensionType
    from headrace._src.ops.extension_types.extension_type import ExtensionType as ExtensionType
    from headrace._src.ops.extension_types.extension_type import ExtensionTypeBatchEncoder as ExtensionTypeBatchEncoder
    from headrace._src.ops.extension_types.extension_type import ExtensionTypeSpec as ExtensionTypeSpec
    from headrace._src.ops.ragged.dynamic_shape import DynamicRaggedShape as DynamicRaggedShape
    from headrace._src.ops.ragged.row_partition import RowPartition as RowPartition
    from headrace._src.ops.ragged.structured_tensor import StructuredTensor as StructuredTensor
    from headrace._src.program.switches import async_clear_error as async_clear_error
    from headrace._src.program.switches import async_scope as async_scope
    from headrace._src.program.switches import enable_strict_mode as enable_strict_mode
    from headrace._src.program.switches import function_executor_type as function_executor_type
    from headrace.compat.v1.experimental import extension_type as extension_type
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
