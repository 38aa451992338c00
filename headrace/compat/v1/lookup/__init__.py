"""The public names of `tf.compat.v1.lookup`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.state.lookup import StaticHashTable as StaticHashTable
    from headrace._src.state.lookup import StaticVocabularyTable as StaticVocabularyTable
    from headrace._src.state.table_initializers import KeyValueTensorInitializer as KeyValueTensorInitializer
    from headrace._src.state.table_initializers import TextFileIndex as TextFileIndex
    from headrace._src.state.table_initializers import TextFileInitializer as TextFileInitializer
    from headrace.compat.v1.lookup import experimental as experimental
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
