"""The public names of `tf.tpu.experimental.embedding`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.distribute.embedding_settings import Adagrad as Adagrad
    from headrace._src.distribute.embedding_settings import AdagradMomentum as AdagradMomentum
    from headrace._src.distribute.embedding_settings import Adam as Adam
    from headrace._src.distribute.embedding_settings import FTRL as FTRL
    from headrace._src.distribute.embedding_settings import FeatureConfig as FeatureConfig
    from headrace._src.distribute.embedding_settings import QuantizationConfig as QuantizationConfig
    from headrace._src.distribute.embedding_settings import RowIdInitializer as RowIdInitializer
    from headrace._src.distribute.embedding_settings import SGD as SGD
    from headrace._src.distribute.embedding_settings import TableConfig as TableConfig
    from headrace._src.distribute.embedding_tables import TPUEmbedding as TPUEmbedding
    from headrace._src.distribute.embedding_tables import TPUEmbeddingForServing as TPUEmbeddingForServing
    from headrace._src.distribute.embedding_tables import TPUEmbeddingV0 as TPUEmbeddingV0
    from headrace._src.distribute.embedding_tables import serving_embedding_lookup as serving_embedding_lookup
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
