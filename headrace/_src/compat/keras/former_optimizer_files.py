"""State of optimizers in `.h5` and `.keras` files that Keras 2 wrote, for the optimizers of Keras 3.

`replacements.py` says where in Keras these functions go.
"""

from __future__ import annotations

import importlib
import warnings

import numpy as np

from headrace._src.compat.keras.former_optimizers import slots_of


def deserialize(original, config, custom_objects=None):
    """Make an optimizer. Newer ones of Keras 2 are called `Custom>Adam`, from which Keras 3 takes the name alone."""
    package, _, name = str(config["class_name"]).partition(">")
    registration = importlib.import_module("keras.src.saving.object_registration")
    known = importlib.import_module("keras.src.optimizers").ALL_OBJECTS_DICT
    if package == "Custom" and name.lower() in known:
        if registration.get_registered_object(config["class_name"], custom_objects) is None:
            config = {**config, "class_name": name}
    return original(config, custom_objects)


class NamedWeights(list):
    """Values of an optimizer, with the names that an HDF5 file has for them."""

    def __init__(self, values, names):
        super().__init__(values)
        self.names = [str(name).removesuffix(":0") for name in names]


def load_weights(original, group):
    """The values of an optimizer in an HDF5 file."""
    names = group["optimizer_weights"].attrs.get("weight_names", ())
    return NamedWeights(original(group), [name.decode() if isinstance(name, bytes) else name for name in names])


def set_weights(original, self, weights):
    """Set the values of an optimizer's variables, all or none, also from a file of Keras 2."""
    pairs = _pairs_by_name(self, weights) if isinstance(weights, NamedWeights) else []
    if not pairs:
        _check_shapes(zip(self.variables, weights))
        return original(self, weights)
    try:
        _check_shapes(pairs)
    except ValueError as error:
        warnings.warn(f"The state of the optimizer was not loaded: {error}", stacklevel=2)
        raise
    for variable, value in pairs:
        variable.assign(np.asarray(value))
    return None


def _check_shapes(pairs):
    for variable, value in pairs:
        if tuple(variable.shape) != tuple(value.shape):
            raise ValueError(
                f"Optimizer variable {variable.path} has shape {tuple(variable.shape)} not compatible with provided "
                f"weight shape {tuple(value.shape)}."
            )


def _pairs_by_name(optimizer, weights):
    """Variables with the values that Keras 2 wrote for them; nothing if it was not Keras 2."""
    is_older = any(name.endswith("/iter") for name in weights.names)
    if not is_older and "iteration" not in weights.names:
        return []
    pairs = []
    for name, value in zip(weights.names, weights):
        last = name.rpartition("/")[2]
        if last in ("iter", "iteration"):
            pairs.append((optimizer._iterations, value))
        elif last == "momentum_cache":
            pairs.append((optimizer._u_product, value))
    if not is_older:
        pairs += _momentum_product(optimizer, dict(zip(weights.names, weights))["iteration"])
    tracked = {id(variable) for variable in optimizer.variables}
    for slots in slots_of(optimizer):
        kept = getattr(optimizer, slots.attribute, None) or ()
        wanted = slots.older if is_older else slots.newer
        values = [value for name, value in zip(weights.names, weights) if _slot(name, is_older) == wanted]
        pairs += zip([variable for variable in kept if id(variable) in tracked], values)
    return pairs


def _momentum_product(optimizer, iterations):
    """The product of the momentums so far, which `Nadam` keeps and Keras 2 left out of its files."""
    if not hasattr(optimizer, "_u_product"):
        return []
    steps = np.arange(1, int(np.asarray(iterations)) + 1)
    product = np.prod(optimizer.beta_1 * (1.0 - 0.5 * 0.96**steps))
    return [(optimizer._u_product, np.float32(product))]


def _slot(name, is_older):
    """`m` of `Adam/m/dense/kernel`, or, from the older optimizers, of `Adam/dense/kernel/m`."""
    parts = name.split("/")
    return parts[-1] if is_older else parts[1] if len(parts) > 1 else None


def load_own_variables(original, self, store):
    """Set the variables from a `.keras` file. Keras 2 did not count the learning rate among them."""
    others = [self._learning_rate, getattr(self, "_u_product", None)]
    others += [v for kept in (getattr(self, "_r", ()), getattr(self, "_c", ())) for v in kept if v.dtype == "int32"]
    variables = [variable for variable in self.variables if not any(variable is other for other in others)]
    if not getattr(self, "momentum", True) and len(store.keys()) > len(self.variables):
        variables = [self._iterations]  # Keras 2 keeps momentums where there is no momentum
    elif len(store.keys()) == len(self.variables) or len(store.keys()) != len(variables):
        return original(self, store)
    pairs = [(variable, store[str(place)]) for place, variable in enumerate(variables)]
    pairs += _momentum_product(self, store["0"])
    _check_shapes(pairs)
    for variable, value in pairs:
        variable.assign(np.asarray(value))
    return None
