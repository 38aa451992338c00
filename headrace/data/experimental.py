"""The public names of `tf.data.experimental`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.core.allocation import _TRIM_THRESHOLD as AUTOTUNE
    from headrace._src.core.allocation import _TRIM_THRESHOLD as INFINITE_CARDINALITY
    from headrace._src.data.batching import UNKNOWN as UNKNOWN_CARDINALITY
    from headrace._src.data.cardinalities import _cardinality as cardinality
    from headrace._src.data.optionals import Optional as Optional
    from headrace._src.data.optionals import OptionalSpec as OptionalStructure
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
