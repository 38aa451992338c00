"""The public names of `tf.io`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from headrace._src.ops.strings_hash import decode_base64 as decode_base64
from headrace._src.ops.strings_hash import encode_base64 as encode_base64
