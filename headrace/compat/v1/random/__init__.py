"""The public names of `tf.compat.v1.random`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.compat.functions.arrays import get_seed as get_seed
    from headrace._src.compat.functions.arrays import set_random_seed as set_random_seed
    from headrace._src.compat.functions.mathematics import multinomial as multinomial
    from headrace._src.compat.functions.mathematics import random_poisson as _poisson
    from headrace._src.compat.functions.mathematics import stateless_multinomial as stateless_multinomial
    from headrace._src.ops.nn.candidate_sampling import all_candidate_sampler as all_candidate_sampler
    from headrace._src.ops.nn.candidate_sampling import fixed_unigram_candidate_sampler as fixed_unigram_candidate_sampler
    from headrace._src.ops.nn.candidate_sampling import learned_unigram_candidate_sampler as learned_unigram_candidate_sampler
    from headrace._src.ops.nn.candidate_sampling import log_uniform_candidate_sampler as log_uniform_candidate_sampler
    from headrace._src.ops.nn.candidate_sampling import uniform_candidate_sampler as uniform_candidate_sampler
    from headrace._src.ops.random.distributions import categorical as categorical
    from headrace._src.ops.random.distributions import gamma as gamma
    from headrace._src.ops.random.distributions import stateless_binomial as stateless_binomial
    from headrace._src.ops.random.distributions import stateless_categorical as stateless_categorical
    from headrace._src.ops.random.distributions import stateless_gamma as stateless_gamma
    from headrace._src.ops.random.distributions import stateless_poisson as stateless_poisson
    from headrace._src.ops.random.seeds import Algorithm as Algorithm
    from headrace._src.ops.random.shuffling import shuffle as shuffle
    from headrace._src.ops.random.truncation import stateless_parameterized_truncated_normal as stateless_parameterized_truncated_normal
    from headrace._src.ops.random.uniform_and_normal import fold_in as fold_in
    from headrace._src.ops.random.uniform_and_normal import normal as normal
    from headrace._src.ops.random.uniform_and_normal import split as split
    from headrace._src.ops.random.uniform_and_normal import stateless_normal as stateless_normal
    from headrace._src.ops.random.uniform_and_normal import stateless_truncated_normal as stateless_truncated_normal
    from headrace._src.ops.random.uniform_and_normal import stateless_uniform as stateless_uniform
    from headrace._src.ops.random.uniform_and_normal import truncated_normal as truncated_normal
    from headrace._src.ops.random.uniform_and_normal import uniform as uniform
    from headrace._src.state.generator import Generator as Generator
    from headrace._src.state.generator import create_rng_state as create_rng_state
    from headrace._src.state.generator import get_global_generator as get_global_generator
    from headrace._src.state.generator import set_global_generator as set_global_generator
    from headrace.compat.v1.random import experimental as experimental
    poisson = _poisson
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
