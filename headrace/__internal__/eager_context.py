"""The public names of `tf.__internal__.eager_context`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.compat.tensorflow_names.framework_names import device_name as _get_device_name
    from headrace._src.compat.tensorflow_names.internal_functions import get_executor as get_executor
    from headrace._src.compat.tensorflow_names.internal_namespace import eager_mode as eager_mode
    from headrace._src.compat.tensorflow_names.internal_namespace import get_config as get_config
    from headrace._src.devices.configuration import set_soft_device_placement as set_soft_device_placement
    get_device_name = _get_device_name
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
