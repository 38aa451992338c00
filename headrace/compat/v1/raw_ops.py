"""Every op under TensorFlow's name, as in `tf.raw_ops`."""

from headrace.raw_ops import __dir__ as __dir__
from headrace.raw_ops import __getattr__ as __getattr__
