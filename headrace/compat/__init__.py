"""The public names of `tf.compat`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.compat.text import as_bytes as as_bytes
    from headrace._src.compat.text import as_str as as_str
    from headrace._src.compat.text import as_str_any as as_str_any
    from headrace._src.compat.text import as_text as as_text
    from headrace._src.compat.text import bytes_or_text_types as bytes_or_text_types
    from headrace._src.compat.text import complex_types as complex_types
    from headrace._src.compat.text import forward_compatibility_horizon as forward_compatibility_horizon
    from headrace._src.compat.text import forward_compatible as forward_compatible
    from headrace._src.compat.text import integral_types as integral_types
    from headrace._src.compat.text import path_to_str as path_to_str
    from headrace._src.compat.text import real_types as real_types
    from headrace._src.core.shapes import dimension_at_index as dimension_at_index
    from headrace._src.core.shapes import dimension_value as dimension_value
    from headrace.compat import v1 as v1
    from headrace.compat import v2 as v2
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
