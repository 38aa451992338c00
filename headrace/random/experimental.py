"""The public names of `tf.random.experimental`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.ops.random.seeds import Algorithm as Algorithm
    from headrace._src.ops.random.shuffling import index_shuffle as index_shuffle
    from headrace._src.ops.random.shuffling import stateless_shuffle as stateless_shuffle
    from headrace._src.ops.random.uniform_and_normal import fold_in as _stateless_fold_in
    from headrace._src.ops.random.uniform_and_normal import split as _stateless_split
    from headrace._src.state.generator import Generator as Generator
    from headrace._src.state.generator import create_rng_state as create_rng_state
    from headrace._src.state.generator import get_global_generator as get_global_generator
    from headrace._src.state.generator import set_global_generator as set_global_generator
    stateless_fold_in = _stateless_fold_in
    stateless_split = _stateless_split
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
