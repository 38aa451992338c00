"""Building blocks of neural networks.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from typing import Any as _Any

    from headrace._src.ops.arrays.approximate_ranking import approx_max_k as approx_max_k
    from headrace._src.ops.arrays.approximate_ranking import approx_min_k as approx_min_k
    from headrace._src.ops.arrays.ranking import in_top_k as in_top_k
    from headrace._src.ops.arrays.ranking import top_k as top_k
    from headrace._src.ops.math.elementwise import sigmoid as sigmoid
    from headrace._src.ops.math.elementwise import tanh as tanh
    from headrace._src.ops.math.statistics import zero_fraction as zero_fraction
    from headrace._src.ops.nn.activations import crelu as crelu
    from headrace._src.ops.nn.activations import elu as elu
    from headrace._src.ops.nn.activations import gelu as gelu
    from headrace._src.ops.nn.activations import leaky_relu as leaky_relu
    from headrace._src.ops.nn.activations import relu as relu
    from headrace._src.ops.nn.activations import relu6 as relu6
    from headrace._src.ops.nn.activations import selu as selu
    from headrace._src.ops.nn.activations import silu as _swish
    from headrace._src.ops.nn.activations import silu as silu
    from headrace._src.ops.nn.activations import softplus as softplus
    from headrace._src.ops.nn.activations import softsign as softsign
    from headrace._src.ops.nn.bias import bias_add as bias_add
    from headrace._src.ops.nn.candidate_sampling import all_candidate_sampler as all_candidate_sampler
    from headrace._src.ops.nn.candidate_sampling import compute_accidental_hits as compute_accidental_hits
    from headrace._src.ops.nn.candidate_sampling import fixed_unigram_candidate_sampler as fixed_unigram_candidate_sampler
    from headrace._src.ops.nn.candidate_sampling import learned_unigram_candidate_sampler as learned_unigram_candidate_sampler
    from headrace._src.ops.nn.ctc import collapse_repeated as collapse_repeated
    from headrace._src.ops.nn.ctc import ctc_beam_search_decoder as ctc_beam_search_decoder
    from headrace._src.ops.nn.ctc import ctc_greedy_decoder as ctc_greedy_decoder
    from headrace._src.ops.nn.ctc import ctc_loss as ctc_loss
    from headrace._src.ops.nn.ctc import ctc_unique_labels as ctc_unique_labels
    from headrace._src.ops.nn.dropout import dropout as dropout
    from headrace._src.ops.nn.embedding import embedding_lookup as embedding_lookup
    from headrace._src.ops.nn.embedding import embedding_lookup_sparse as embedding_lookup_sparse
    from headrace._src.ops.nn.embedding import nce_loss as nce_loss
    from headrace._src.ops.nn.embedding import safe_embedding_lookup_sparse as safe_embedding_lookup_sparse
    from headrace._src.ops.nn.embedding import sampled_softmax_loss as sampled_softmax_loss
    from headrace._src.ops.nn.isotonic import isotonic_regression as isotonic_regression
    from headrace._src.ops.nn.losses import compute_average_loss as compute_average_loss
    from headrace._src.ops.nn.losses import l2_loss as l2_loss
    from headrace._src.ops.nn.losses import log_poisson_loss as log_poisson_loss
    from headrace._src.ops.nn.losses import scale_regularization_loss as scale_regularization_loss
    from headrace._src.ops.nn.losses import sigmoid_cross_entropy_with_logits as sigmoid_cross_entropy_with_logits
    from headrace._src.ops.nn.losses import weighted_cross_entropy_with_logits as weighted_cross_entropy_with_logits
    from headrace._src.ops.nn.normalization import batch_norm_with_global_normalization as batch_norm_with_global_normalization
    from headrace._src.ops.nn.normalization import batch_normalization as batch_normalization
    from headrace._src.ops.nn.normalization import l2_normalize as l2_normalize
    from headrace._src.ops.nn.normalization import moments as moments
    from headrace._src.ops.nn.normalization import normalize_moments as normalize_moments
    from headrace._src.ops.nn.normalization import sufficient_statistics as sufficient_statistics
    from headrace._src.ops.nn.normalization import weighted_moments as weighted_moments
    from headrace._src.ops.nn.response_normalization import local_response_normalization as _lrn
    from headrace._src.ops.nn.response_normalization import local_response_normalization as local_response_normalization
    from headrace._src.ops.nn.softmax import log_softmax as log_softmax
    from headrace._src.ops.nn.softmax import softmax as softmax
    from headrace._src.ops.nn.softmax import softmax_cross_entropy_with_logits as softmax_cross_entropy_with_logits
    from headrace._src.ops.nn.softmax import sparse_softmax_cross_entropy_with_logits as sparse_softmax_cross_entropy_with_logits
    from headrace._src.ops.windows.conv_functions import atrous_conv2d as atrous_conv2d
    from headrace._src.ops.windows.conv_functions import atrous_conv2d_transpose as atrous_conv2d_transpose
    from headrace._src.ops.windows.conv_functions import conv1d as conv1d
    from headrace._src.ops.windows.conv_functions import conv1d_transpose as conv1d_transpose
    from headrace._src.ops.windows.conv_functions import conv2d as conv2d
    from headrace._src.ops.windows.conv_functions import conv2d_transpose as conv2d_transpose
    from headrace._src.ops.windows.conv_functions import conv3d as conv3d
    from headrace._src.ops.windows.conv_functions import conv3d_transpose as conv3d_transpose
    from headrace._src.ops.windows.conv_functions import conv_transpose as conv_transpose
    from headrace._src.ops.windows.conv_functions import convolution as convolution
    from headrace._src.ops.windows.depthwise_conv import depthwise_conv2d as depthwise_conv2d
    from headrace._src.ops.windows.depthwise_conv import depthwise_conv2d_backprop_filter as depthwise_conv2d_backprop_filter
    from headrace._src.ops.windows.depthwise_conv import depthwise_conv2d_backprop_input as depthwise_conv2d_backprop_input
    from headrace._src.ops.windows.depthwise_conv import separable_conv2d as separable_conv2d
    from headrace._src.ops.windows.fractional_pool import fractional_avg_pool as fractional_avg_pool
    from headrace._src.ops.windows.fractional_pool import fractional_max_pool as fractional_max_pool
    from headrace._src.ops.windows.morphology import dilation2d as dilation2d
    from headrace._src.ops.windows.morphology import erosion2d as erosion2d
    from headrace._src.ops.windows.pool_functions import avg_pool as avg_pool
    from headrace._src.ops.windows.pool_functions import avg_pool1d as avg_pool1d
    from headrace._src.ops.windows.pool_functions import avg_pool2d as avg_pool2d
    from headrace._src.ops.windows.pool_functions import avg_pool3d as avg_pool3d
    from headrace._src.ops.windows.pool_functions import max_pool as max_pool
    from headrace._src.ops.windows.pool_functions import max_pool1d as max_pool1d
    from headrace._src.ops.windows.pool_functions import max_pool2d as max_pool2d
    from headrace._src.ops.windows.pool_functions import max_pool3d as max_pool3d
    from headrace._src.ops.windows.pool_functions import max_pool_with_argmax as max_pool_with_argmax
    from headrace._src.ops.windows.pool_functions import pool as pool
    from headrace._src.ops.windows.space_batch import depth_to_space as depth_to_space
    from headrace._src.ops.windows.space_batch import space_to_batch as space_to_batch
    from headrace._src.ops.windows.space_batch import space_to_depth as space_to_depth
    from headrace._src.ops.windows.space_batch import with_space_to_batch as with_space_to_batch
    from headrace.nn import experimental as experimental
    lrn = _lrn
    swish = _swish
    RNNCellDeviceWrapper: _Any
    RNNCellDropoutWrapper: _Any
    RNNCellResidualWrapper: _Any
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
