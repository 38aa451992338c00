"""The public names of `tf.compat.v1.strings`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.compat.functions.arrays import reduce_join as reduce_join
    from headrace._src.compat.functions.arrays import string_length as _length
    from headrace._src.compat.functions.arrays import string_to_hash_bucket as _to_hash_bucket
    from headrace._src.compat.functions.arrays import string_to_number as _to_number
    from headrace._src.compat.functions.arrays import strings_split as _split
    from headrace._src.compat.functions.arrays import substr as substr
    from headrace._src.ops.strings.editing import join as join
    from headrace._src.ops.strings.editing import lower as lower
    from headrace._src.ops.strings.editing import strip as strip
    from headrace._src.ops.strings.editing import unsorted_segment_join as unsorted_segment_join
    from headrace._src.ops.strings.editing import upper as upper
    from headrace._src.ops.strings.formatting import format as format
    from headrace._src.ops.strings.hash_buckets import to_hash_bucket_fast as to_hash_bucket_fast
    from headrace._src.ops.strings.hash_buckets import to_hash_bucket_strong as to_hash_bucket_strong
    from headrace._src.ops.strings.matching import regex_full_match as regex_full_match
    from headrace._src.ops.strings.matching import regex_replace as regex_replace
    from headrace._src.ops.strings.numbers import as_string as as_string
    from headrace._src.ops.strings.pieces import bytes_split as bytes_split
    from headrace._src.ops.strings.pieces import ngrams as ngrams
    from headrace._src.ops.strings.pieces import unicode_decode as unicode_decode
    from headrace._src.ops.strings.pieces import unicode_decode_with_offsets as unicode_decode_with_offsets
    from headrace._src.ops.strings.pieces import unicode_encode as unicode_encode
    from headrace._src.ops.strings.pieces import unicode_split as unicode_split
    from headrace._src.ops.strings.pieces import unicode_split_with_offsets as unicode_split_with_offsets
    from headrace._src.ops.strings.unicode import unicode_script as unicode_script
    from headrace._src.ops.strings.unicode import unicode_transcode as unicode_transcode
    length = _length
    split = _split
    to_hash_bucket = _to_hash_bucket
    to_number = _to_number
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
