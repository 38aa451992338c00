"""The public names of `tf.compat.v1.saved_model.signature_constants`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.saved_model.constants import CLASSIFY_INPUTS as CLASSIFY_INPUTS
    from headrace._src.saved_model.constants import CLASSIFY_METHOD_NAME as CLASSIFY_METHOD_NAME
    from headrace._src.saved_model.constants import CLASSIFY_OUTPUT_CLASSES as CLASSIFY_OUTPUT_CLASSES
    from headrace._src.saved_model.constants import CLASSIFY_OUTPUT_SCORES as CLASSIFY_OUTPUT_SCORES
    from headrace._src.saved_model.constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY as DEFAULT_SERVING_SIGNATURE_DEF_KEY
    from headrace._src.saved_model.constants import PREDICT_INPUTS as PREDICT_INPUTS
    from headrace._src.saved_model.constants import PREDICT_METHOD_NAME as PREDICT_METHOD_NAME
    from headrace._src.saved_model.constants import PREDICT_OUTPUTS as PREDICT_OUTPUTS
    from headrace._src.saved_model.constants import REGRESS_INPUTS as REGRESS_INPUTS
    from headrace._src.saved_model.constants import REGRESS_METHOD_NAME as REGRESS_METHOD_NAME
    from headrace._src.saved_model.constants import REGRESS_OUTPUTS as REGRESS_OUTPUTS
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
