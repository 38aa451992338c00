"""`kl_divergence`: how much one distribution differs from another. Formulas stand beside the classes."""

from collections.abc import Callable

from headrace._src.core.names import name_scope
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api

_FORMULAS: dict = {}


@api("compat.v1.distributions.RegisterKL", dispatch=False)
class RegisterKL:
    """Registers a function of two distributions and a name as the divergence of their classes.

    Args:
        dist_cls_a, dist_cls_b: the classes.

    Raises:
        ValueError: there is one for these classes.
        TypeError: it is no function.
    """

    def __init__(self, dist_cls_a, dist_cls_b) -> None:
        self._key = (dist_cls_a, dist_cls_b)

    def __call__(self, kl_fn) -> Callable:
        if not callable(kl_fn):
            raise TypeError(f"RegisterKL: a function is needed, got {kl_fn!r}.")
        if self._key in _FORMULAS:
            names = " and ".join(kind.__name__ for kind in self._key)
            raise ValueError(f"RegisterKL: {names} have a divergence already: {_FORMULAS[self._key]}.")
        _FORMULAS[self._key] = kl_fn
        return kl_fn


def _formula(a, b):
    """The formula of the nearest base classes of both."""
    found = [
        (one.__mro__.index(x) + other.__mro__.index(y), formula)
        for (x, y), formula in _FORMULAS.items()
        for one, other in [(type(a), type(b))]
        if issubclass(one, x) and issubclass(other, y)
    ]
    if not found:
        raise NotImplementedError(
            f"There is no formula for the divergence of {type(a).__name__} from {type(b).__name__}; "
            "tf.compat.v1.distributions.RegisterKL adds one."
        )
    return min(found, key=lambda pair: pair[0])[1]


@api("compat.v1.distributions.kl_divergence", dispatch=False)
def kl_divergence(distribution_a, distribution_b, allow_nan_stats=True, name=None) -> Tensor:
    """The Kullback-Leibler divergence of one distribution from another.

    Args:
        distribution_a, distribution_b: distributions.
        allow_nan_stats: accepted.
        name: a scope.

    Raises:
        NotImplementedError: there is no formula for these classes.

    >>> D = tf.compat.v1.distributions
    >>> D.kl_divergence(D.Normal(0.0, 1.0), D.Normal(1.0, 1.0)).numpy()
    np.float32(0.5)
    """
    formula = _formula(distribution_a, distribution_b)
    with name_scope(name or "KullbackLeibler"):
        return formula(distribution_a, distribution_b, name=name)
