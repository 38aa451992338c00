"""The public names of `tf.compat.v1.nn`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.compat.functions.arrays import depth_to_space as depth_to_space
    from headrace._src.compat.functions.arrays import space_to_batch as space_to_batch
    from headrace._src.compat.functions.arrays import space_to_depth as space_to_depth
    from headrace._src.compat.functions.networks import batch_norm_with_global_normalization as batch_norm_with_global_normalization
    from headrace._src.compat.functions.networks import crelu as crelu
    from headrace._src.compat.functions.networks import ctc_beam_search_decoder as ctc_beam_search_decoder
    from headrace._src.compat.functions.networks import ctc_loss as ctc_loss
    from headrace._src.compat.functions.networks import ctc_loss_v2 as ctc_loss_v2
    from headrace._src.compat.functions.networks import dropout as dropout
    from headrace._src.compat.functions.networks import embedding_lookup as embedding_lookup
    from headrace._src.compat.functions.networks import embedding_lookup_sparse as embedding_lookup_sparse
    from headrace._src.compat.functions.networks import fused_batch_norm as fused_batch_norm
    from headrace._src.compat.functions.networks import in_top_k as in_top_k
    from headrace._src.compat.functions.networks import log_softmax as log_softmax
    from headrace._src.compat.functions.networks import moments as moments
    from headrace._src.compat.functions.networks import nce_loss as nce_loss
    from headrace._src.compat.functions.networks import relu_layer as relu_layer
    from headrace._src.compat.functions.networks import safe_embedding_lookup_sparse as safe_embedding_lookup_sparse
    from headrace._src.compat.functions.networks import sampled_softmax_loss as sampled_softmax_loss
    from headrace._src.compat.functions.networks import softmax as softmax
    from headrace._src.compat.functions.networks import softmax_cross_entropy_with_logits as softmax_cross_entropy_with_logits
    from headrace._src.compat.functions.networks import softmax_cross_entropy_with_logits_v2 as softmax_cross_entropy_with_logits_v2
    from headrace._src.compat.functions.networks import sparse_softmax_cross_entropy_with_logits as sparse_softmax_cross_entropy_with_logits
    from headrace._src.compat.functions.networks import sufficient_statistics as sufficient_statistics
    from headrace._src.compat.functions.networks import weighted_cross_entropy_with_logits as weighted_cross_entropy_with_logits
    from headrace._src.compat.functions.networks import weighted_moments as weighted_moments
    from headrace._src.compat.functions.networks import xw_plus_b as xw_plus_b
    from headrace._src.compat.functions.windows import avg_pool as _avg_pool2d
    from headrace._src.compat.functions.windows import avg_pool as avg_pool
    from headrace._src.compat.functions.windows import conv1d as conv1d
    from headrace._src.compat.functions.windows import conv2d as conv2d
    from headrace._src.compat.functions.windows import conv2d_backprop_filter as conv2d_backprop_filter
    from headrace._src.compat.functions.windows import conv2d_backprop_input as conv2d_backprop_input
    from headrace._src.compat.functions.windows import conv2d_transpose as conv2d_transpose
    from headrace._src.compat.functions.windows import conv3d as conv3d
    from headrace._src.compat.functions.windows import conv3d_backprop_filter as _conv3d_backprop_filter_v2
    from headrace._src.compat.functions.windows import conv3d_backprop_filter as conv3d_backprop_filter
    from headrace._src.compat.functions.windows import conv3d_transpose as conv3d_transpose
    from headrace._src.compat.functions.windows import convolution as convolution
    from headrace._src.compat.functions.windows import depthwise_conv2d as depthwise_conv2d
    from headrace._src.compat.functions.windows import depthwise_conv2d_native as depthwise_conv2d_native
    from headrace._src.compat.functions.windows import dilation2d as dilation2d
    from headrace._src.compat.functions.windows import erosion2d as erosion2d
    from headrace._src.compat.functions.windows import fractional_avg_pool as fractional_avg_pool
    from headrace._src.compat.functions.windows import fractional_max_pool as fractional_max_pool
    from headrace._src.compat.functions.windows import max_pool as max_pool
    from headrace._src.compat.functions.windows import max_pool_with_argmax as max_pool_with_argmax
    from headrace._src.compat.functions.windows import pool as pool
    from headrace._src.compat.functions.windows import separable_conv2d as separable_conv2d
    from headrace._src.compat.recurrent.networks import bidirectional_dynamic_rnn as bidirectional_dynamic_rnn
    from headrace._src.compat.recurrent.networks import dynamic_rnn as dynamic_rnn
    from headrace._src.compat.recurrent.networks import raw_rnn as raw_rnn
    from headrace._src.compat.recurrent.unrolled import static_bidirectional_rnn as static_bidirectional_rnn
    from headrace._src.compat.recurrent.unrolled import static_rnn as static_rnn
    from headrace._src.compat.recurrent.unrolled import static_state_saving_rnn as static_state_saving_rnn
    from headrace._src.ops.arrays.approximate_ranking import approx_max_k as approx_max_k
    from headrace._src.ops.arrays.approximate_ranking import approx_min_k as approx_min_k
    from headrace._src.ops.arrays.ranking import top_k as top_k
    from headrace._src.ops.math.elementwise import sigmoid as sigmoid
    from headrace._src.ops.math.elementwise import tanh as tanh
    from headrace._src.ops.math.statistics import zero_fraction as zero_fraction
    from headrace._src.ops.nn.activations import elu as elu
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
    from headrace._src.ops.nn.candidate_sampling import log_uniform_candidate_sampler as log_uniform_candidate_sampler
    from headrace._src.ops.nn.candidate_sampling import uniform_candidate_sampler as uniform_candidate_sampler
    from headrace._src.ops.nn.ctc import collapse_repeated as collapse_repeated
    from headrace._src.ops.nn.ctc import ctc_beam_search_decoder as _ctc_beam_search_decoder_v2
    from headrace._src.ops.nn.ctc import ctc_greedy_decoder as ctc_greedy_decoder
    from headrace._src.ops.nn.ctc import ctc_unique_labels as ctc_unique_labels
    from headrace._src.ops.nn.losses import compute_average_loss as compute_average_loss
    from headrace._src.ops.nn.losses import l2_loss as l2_loss
    from headrace._src.ops.nn.losses import log_poisson_loss as log_poisson_loss
    from headrace._src.ops.nn.losses import scale_regularization_loss as scale_regularization_loss
    from headrace._src.ops.nn.losses import sigmoid_cross_entropy_with_logits as sigmoid_cross_entropy_with_logits
    from headrace._src.ops.nn.normalization import batch_normalization as batch_normalization
    from headrace._src.ops.nn.normalization import l2_normalize as l2_normalize
    from headrace._src.ops.nn.normalization import normalize_moments as normalize_moments
    from headrace._src.ops.nn.response_normalization import local_response_normalization as _lrn
    from headrace._src.ops.nn.response_normalization import local_response_normalization as local_response_normalization
    from headrace._src.ops.windows.conv_functions import atrous_conv2d as atrous_conv2d
    from headrace._src.ops.windows.conv_functions import atrous_conv2d_transpose as atrous_conv2d_transpose
    from headrace._src.ops.windows.conv_functions import conv1d_transpose as conv1d_transpose
    from headrace._src.ops.windows.conv_functions import conv_transpose as conv_transpose
    from headrace._src.ops.windows.depthwise_conv import depthwise_conv2d_backprop_filter as _depthwise_conv2d_native_backprop_filter
    from headrace._src.ops.windows.depthwise_conv import depthwise_conv2d_backprop_filter as depthwise_conv2d_backprop_filter
    from headrace._src.ops.windows.depthwise_conv import depthwise_conv2d_backprop_input as _depthwise_conv2d_native_backprop_input
    from headrace._src.ops.windows.depthwise_conv import depthwise_conv2d_backprop_input as depthwise_conv2d_backprop_input
    from headrace._src.ops.windows.pool_functions import avg_pool as _avg_pool_v2
    from headrace._src.ops.windows.pool_functions import avg_pool1d as avg_pool1d
    from headrace._src.ops.windows.pool_functions import avg_pool3d as avg_pool3d
    from headrace._src.ops.windows.pool_functions import max_pool as _max_pool_v2
    from headrace._src.ops.windows.pool_functions import max_pool1d as max_pool1d
    from headrace._src.ops.windows.pool_functions import max_pool2d as max_pool2d
    from headrace._src.ops.windows.pool_functions import max_pool3d as max_pool3d
    from headrace._src.ops.windows.space_batch import with_space_to_batch as with_space_to_batch
    from headrace.compat.v1.nn import experimental as experimental
    from headrace.compat.v1.nn import rnn_cell as rnn_cell
    avg_pool2d = _avg_pool2d
    avg_pool_v2 = _avg_pool_v2
    conv3d_backprop_filter_v2 = _conv3d_backprop_filter_v2
    ctc_beam_search_decoder_v2 = _ctc_beam_search_decoder_v2
    depthwise_conv2d_native_backprop_filter = _depthwise_conv2d_native_backprop_filter
    depthwise_conv2d_native_backprop_input = _depthwise_conv2d_native_backprop_input
    lrn = _lrn
    max_pool_v2 = _max_pool_v2
    swish = _swish
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
