"""The public names of `tf.compat.v1.losses`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.compat.training.losses import Reduction as Reduction
    from headrace._src.compat.training.losses import absolute_difference as absolute_difference
    from headrace._src.compat.training.losses import add_loss as add_loss
    from headrace._src.compat.training.losses import compute_weighted_loss as compute_weighted_loss
    from headrace._src.compat.training.losses import cosine_distance as cosine_distance
    from headrace._src.compat.training.losses import get_losses as get_losses
    from headrace._src.compat.training.losses import get_regularization_loss as get_regularization_loss
    from headrace._src.compat.training.losses import get_regularization_losses as get_regularization_losses
    from headrace._src.compat.training.losses import get_total_loss as get_total_loss
    from headrace._src.compat.training.losses import hinge_loss as hinge_loss
    from headrace._src.compat.training.losses import huber_loss as huber_loss
    from headrace._src.compat.training.losses import log_loss as log_loss
    from headrace._src.compat.training.losses import mean_pairwise_squared_error as mean_pairwise_squared_error
    from headrace._src.compat.training.losses import mean_squared_error as mean_squared_error
    from headrace._src.compat.training.losses import sigmoid_cross_entropy as sigmoid_cross_entropy
    from headrace._src.compat.training.losses import softmax_cross_entropy as softmax_cross_entropy
    from headrace._src.compat.training.losses import sparse_softmax_cross_entropy as sparse_softmax_cross_entropy
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
