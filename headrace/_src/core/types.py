"""Base classes without behaviour: by which other packages recognise what is a tensor, and for type checkers alone."""


class Tensor:
    """Base of everything that stands for a tensor: tensors, variables and Keras's own variables.

    Keras derives from it together with `Trackable`, so it has neither slots nor behaviour.
    """


Tensor.__module__ = "headrace.types"


class _ForCheckers:
    """Stands for a base class that only type checkers see. Python leaves it out of the class's bases."""

    def __mro_entries__(self, bases: tuple) -> tuple:
        return ()

    def __getitem__(self, parameters: object) -> "_ForCheckers":
        return self


FOR_CHECKERS = _ForCheckers()
