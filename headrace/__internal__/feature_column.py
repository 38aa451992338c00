"""The public names of `tf.__internal__.feature_column`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.compat.features.columns import Column as _FeatureColumn
    from headrace._src.compat.features.columns import DenseColumn as DenseColumn
    from headrace._src.compat.features.columns import Features as _FeatureTransformationCache
    from headrace._src.compat.tensorflow_names.internal_feature_columns import StateManager as StateManager
    FeatureColumn = _FeatureColumn
    FeatureTransformationCache = _FeatureTransformationCache
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
