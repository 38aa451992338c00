"""The public names of `tf.compat.v1.nn.rnn_cell`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.compat.recurrent.cells import BasicLSTMCell as BasicLSTMCell
    from headrace._src.compat.recurrent.cells import BasicRNNCell as BasicRNNCell
    from headrace._src.compat.recurrent.cells import GRUCell as GRUCell
    from headrace._src.compat.recurrent.cells import LSTMCell as LSTMCell
    from headrace._src.compat.recurrent.cells import LSTMStateTuple as LSTMStateTuple
    from headrace._src.compat.recurrent.cells import MultiRNNCell as MultiRNNCell
    from headrace._src.compat.recurrent.cells import RNNCell as RNNCell
    from headrace._src.compat.recurrent.wrappers import DeviceWrapper as DeviceWrapper
    from headrace._src.compat.recurrent.wrappers import DropoutWrapper as DropoutWrapper
    from headrace._src.compat.recurrent.wrappers import ResidualWrapper as ResidualWrapper
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
