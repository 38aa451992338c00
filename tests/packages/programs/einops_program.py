"""einops: rearranging, reducing and repeating tensors, eagerly and in functions, and its Keras layers."""

import numpy as np
import tensorflow as tf
from checks import check
from einops import einsum, pack, rearrange, reduce, repeat, unpack
from einops.layers.keras import Rearrange, Reduce

X = tf.constant(np.arange(24, dtype=np.float32).reshape(2, 3, 4))

check("rearrange", lambda: rearrange(X, "a b c -> (a c) b"))
check("split", lambda: rearrange(X, "a b (c d) -> a c b d", d=2))
check("reduce", lambda: reduce(X, "a b c -> b", "mean"))
check("repeat", lambda: repeat(X, "a b c -> a (b r) c", r=2))
check("einsum", lambda: einsum(X, X, "a b c, a d c -> a b d"))
check("pack", lambda: unpack(pack([X, X[:, 0]], "a * c")[0], [[3], []], "a * c"))
check("in a function", lambda: tf.function(lambda x: rearrange(x, "a b c -> c (a b)"))(X))
check(
    "unknown sizes",
    lambda: tf.function(lambda x: rearrange(x, "a b c -> (a b) c"), input_signature=[tf.TensorSpec([None, None, 4])])(
        X
    ),
)
check("layers", lambda: tf.keras.Sequential([Rearrange("b h w -> b (h w)"), Reduce("b c -> b", "max")])(X))
