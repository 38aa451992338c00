"""The public names of `tf.feature_column`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.compat.features.making import bucketized_column as bucketized_column
    from headrace._src.compat.features.making import categorical_column_with_hash_bucket as categorical_column_with_hash_bucket
    from headrace._src.compat.features.making import categorical_column_with_identity as categorical_column_with_identity
    from headrace._src.compat.features.making import categorical_column_with_vocabulary_file as categorical_column_with_vocabulary_file
    from headrace._src.compat.features.making import categorical_column_with_vocabulary_list as categorical_column_with_vocabulary_list
    from headrace._src.compat.features.making import crossed_column as crossed_column
    from headrace._src.compat.features.making import embedding_column as embedding_column
    from headrace._src.compat.features.making import indicator_column as indicator_column
    from headrace._src.compat.features.making import make_parse_example_spec as make_parse_example_spec
    from headrace._src.compat.features.making import numeric_column as numeric_column
    from headrace._src.compat.features.making import shared_embeddings as shared_embeddings
    from headrace._src.compat.features.making import weighted_categorical_column as weighted_categorical_column
    from headrace._src.compat.features.sequences import sequence_categorical_column_with_hash_bucket as sequence_categorical_column_with_hash_bucket
    from headrace._src.compat.features.sequences import sequence_categorical_column_with_identity as sequence_categorical_column_with_identity
    from headrace._src.compat.features.sequences import sequence_categorical_column_with_vocabulary_file as sequence_categorical_column_with_vocabulary_file
    from headrace._src.compat.features.sequences import sequence_categorical_column_with_vocabulary_list as sequence_categorical_column_with_vocabulary_list
    from headrace._src.compat.features.sequences import sequence_numeric_column as sequence_numeric_column
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
