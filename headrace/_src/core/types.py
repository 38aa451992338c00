"""Empty base classes by which other packages recognise what is a tensor."""


class Tensor:
    """Base of everything that stands for a tensor: tensors, variables and Keras's own variables.

    Keras derives from it together with `Trackable`, so it has neither slots nor behaviour.
    """


Tensor.__module__ = "headrace.types"
