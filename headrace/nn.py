"""Building blocks of neural networks.

Written by scripts/exports from the `@api` declarations: do not edit."""

from headrace._src.ops.activations import crelu as crelu
from headrace._src.ops.activations import elu as elu
from headrace._src.ops.activations import gelu as gelu
from headrace._src.ops.activations import leaky_relu as leaky_relu
from headrace._src.ops.activations import relu as relu
from headrace._src.ops.activations import relu6 as relu6
from headrace._src.ops.activations import selu as selu
from headrace._src.ops.activations import silu as silu
from headrace._src.ops.activations import silu as swish
from headrace._src.ops.activations import softplus as softplus
from headrace._src.ops.activations import softsign as softsign
from headrace._src.ops.conv_functions import atrous_conv2d as atrous_conv2d
from headrace._src.ops.conv_functions import atrous_conv2d_transpose as atrous_conv2d_transpose
from headrace._src.ops.conv_functions import conv1d as conv1d
from headrace._src.ops.conv_functions import conv1d_transpose as conv1d_transpose
from headrace._src.ops.conv_functions import conv2d as conv2d
from headrace._src.ops.conv_functions import conv2d_transpose as conv2d_transpose
from headrace._src.ops.conv_functions import conv3d as conv3d
from headrace._src.ops.conv_functions import conv3d_transpose as conv3d_transpose
from headrace._src.ops.conv_functions import conv_transpose as conv_transpose
from headrace._src.ops.conv_functions import convolution as convolution
from headrace._src.ops.depthwise_conv import depthwise_conv2d as depthwise_conv2d
from headrace._src.ops.depthwise_conv import depthwise_conv2d_backprop_filter as depthwise_conv2d_backprop_filter
from headrace._src.ops.depthwise_conv import depthwise_conv2d_backprop_input as depthwise_conv2d_backprop_input
from headrace._src.ops.depthwise_conv import separable_conv2d as separable_conv2d
from headrace._src.ops.elementwise import sigmoid as sigmoid
from headrace._src.ops.elementwise import tanh as tanh
from headrace._src.ops.morphology import dilation2d as dilation2d
from headrace._src.ops.morphology import erosion2d as erosion2d
from headrace._src.ops.softmax import log_softmax as log_softmax
from headrace._src.ops.softmax import softmax as softmax
from headrace._src.ops.softmax import softmax_cross_entropy_with_logits as softmax_cross_entropy_with_logits
from headrace._src.ops.softmax import sparse_softmax_cross_entropy_with_logits as sparse_softmax_cross_entropy_with_logits
