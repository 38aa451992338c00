"""The public names of `tf.__internal__`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from headrace.__internal__ import nest as nest
from headrace.__internal__ import tracking as tracking
from headrace._src.core.composite import CompositeTensor as CompositeTensor
from headrace._src.core.names import current_name_scope as get_name_scope
