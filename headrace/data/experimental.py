"""The public names of `tf.data.experimental`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.core.allocation import _TRIM_THRESHOLD as AUTOTUNE
    from headrace._src.core.allocation import _TRIM_THRESHOLD as INFINITE_CARDINALITY
    from headrace._src.data.batching import UNKNOWN as UNKNOWN_CARDINALITY
    from headrace._src.data.cardinalities import _cardinality as cardinality
    from headrace._src.data.enumerating import enumerate_dataset as enumerate_dataset
    from headrace._src.data.optionals import Optional as Optional
    from headrace._src.data.optionals import OptionalSpec as OptionalStructure
    from headrace._src.data.options import AutoShardPolicy as AutoShardPolicy
    from headrace._src.data.options import AutotuneAlgorithm as AutotuneAlgorithm
    from headrace._src.data.options import AutotuneOptions as AutotuneOptions
    from headrace._src.data.options import DistributeOptions as DistributeOptions
    from headrace._src.data.options import ExternalStatePolicy as ExternalStatePolicy
    from headrace._src.data.options import OptimizationOptions as OptimizationOptions
    from headrace._src.data.options import ServiceOptions as ServiceOptions
    from headrace._src.data.options import ThreadingOptions as ThreadingOptions
    from headrace._src.data.scanning import _scan as scan
    from headrace._src.data.taking_while import _take_while as take_while
    from headrace._src.data.unbatching import _unbatch as unbatch
    from headrace._src.data.uniqueness import _unique as unique
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
