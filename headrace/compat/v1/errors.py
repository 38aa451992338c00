"""The public names of `tf.compat.v1.errors`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.core.errors import error_code_from_exception_type as error_code_from_exception_type
    from headrace._src.core.errors import exception_type_from_error_code as exception_type_from_error_code
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
