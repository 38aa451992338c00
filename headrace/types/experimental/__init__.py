"""The public names of `tf.types.experimental`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.core.tensor import TensorLike as TensorLike
    from headrace._src.core.tracing_protocol import SupportsTracingProtocol as SupportsTracingProtocol
    from headrace._src.core.tracing_protocol import TraceType as TraceType
    from headrace._src.tracing.function_kinds import Callable as Callable
    from headrace._src.tracing.function_kinds import ConcreteFunction as ConcreteFunction
    from headrace._src.tracing.function_kinds import PolymorphicFunction as PolymorphicFunction
    from headrace._src.tracing.function_kinds import PolymorphicFunction as _GenericFunction
    from headrace.types.experimental import distributed as distributed
    GenericFunction = _GenericFunction
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
