"""`tensorflow.python.autograph.pyct.transformer`: there only so that packages that build on it can be imported."""

import ast

from headrace._src.core import errors


class Base(ast.NodeTransformer):
    """What rewrites sources in TensorFlow's AutoGraph; headrace's AutoGraph is another program.

    Raises:
        UnimplementedError: when one is made.
    """

    def __init__(self, ctx):
        raise errors.UnimplementedError(
            None, None,
            f"{type(self).__name__} rewrites Python by the inside of TensorFlow's AutoGraph (tensorflow.python."
            "autograph.pyct), which headrace does not have. tf.autograph.to_graph and tf.vectorized_map are there.",
        )  # fmt: skip
