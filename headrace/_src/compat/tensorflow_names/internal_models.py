"""`tf.__internal__.saved_model`, and what Keras 2 registers with TensorFlow: how its objects are made of files."""

import contextlib
import copy
import operator
from collections.abc import Callable, Iterator
from typing import Any

from headrace._src.compat.saving.model_building import SavedModelBuilder
from headrace._src.compat.tensorflow_names.identity_sets import ObjectIdentityDictionary
from headrace._src.op.api import api, export
from headrace._src.saved_model.loading import load_parts
from headrace._src.saved_model.model_files import read_saved_model
from headrace._src.saved_model.options import SaveOptions
from headrace._src.saved_model.saving import save_with

export("__internal__.saved_model.SavedModelBuilder")(SavedModelBuilder)


@api("__internal__.saved_model.load.VersionedTypeRegistration", dispatch=False)
class VersionedTypeRegistration:
    """How an object of a kind is made of its part of a SavedModel, and which versions of that it reads.

    Args:
        object_factory: makes the object of its message.
        version: of the messages that this program writes.
        min_producer_version: the oldest version that it reads.
        min_consumer_version: the oldest program that reads what it writes.
        bad_consumers: versions of programs that do not.
        setter: how its attributes are set.
    """

    def __init__(
        self, object_factory, version, min_producer_version, min_consumer_version, bad_consumers=None, setter=setattr
    ):
        self.setter = setter
        self.identifier: str | None = None
        self._object_factory = object_factory
        self.version = version
        self.min_consumer_version = min_consumer_version
        self.min_producer_version = min_producer_version
        self.bad_consumers = bad_consumers or []

    def from_proto(self, proto) -> Any:
        """The object of a message."""
        return self._object_factory(proto)

    def should_load(self, proto) -> bool:
        """Whether this can read a message."""
        version = proto.version
        return (
            proto.identifier == self.identifier
            and self.version >= version.min_consumer
            and version.producer >= self.min_producer_version
            and self.version not in version.bad_consumers
        )


_registered: dict[str, tuple[Callable[[Any], bool], list[VersionedTypeRegistration]]] = {}


@api("__internal__.saved_model.load.register_revived_type", dispatch=False)
def register_revived_type(identifier, predicate, versions) -> None:
    """Say how objects of a kind are made of their parts of SavedModels.

    Raises:
        AssertionError: this kind is registered, or a version is there twice.
    """
    versions = sorted(versions, key=operator.attrgetter("version"), reverse=True)
    if not versions:
        raise AssertionError("register_revived_type: versions must not be empty.")
    if len({registration.version for registration in versions}) != len(versions):
        raise AssertionError(f"Two registrations for the same version of {identifier!r}.")
    if identifier in _registered:
        raise AssertionError(f"Duplicate registrations for type {identifier!r}.")
    for registration in versions:
        registration.identifier = identifier
    _registered[identifier] = (predicate, versions)


@api("__internal__.saved_model.load.registered_identifiers", dispatch=False)
def registered_identifiers() -> Any:
    """The kinds that are registered."""
    return _registered.keys()


@api("__internal__.saved_model.load.get_setter", dispatch=False)
def get_setter(proto) -> Any:
    """How attributes of the object of a message are set; None if its kind is not registered."""
    _, versions = _registered.get(proto.identifier, (None, []))
    return next((registration.setter for registration in versions if registration.should_load(proto)), None)


@api("__internal__.saved_model.load_partial", dispatch=False)
def load_partial(export_dir, filters, tags=None, options=None) -> dict[str, Any]:
    """Objects of a SavedModel by their paths, such as "root" or "root.layer", with all that these hold.

    Args:
        export_dir: the folder of the model.
        filters: a path, a list of paths, or a dictionary: of each path None, or an object that takes the place of the
            one in the model, with the function `setter(object, name, value)` that gives it attributes. It gets the
            values that the other one has.
        tags: which graph of the model.
        options: as for `tf.saved_model.load`.

    Raises:
        ValueError: there is no object at a path, or no path.
    """
    if not filters:
        raise ValueError("load_partial: filters must name at least one object, such as 'root'.")
    return load_parts(export_dir, filters, tags, options)


def save_and_return_nodes(
    obj, export_dir, signatures=None, options=None, experimental_skip_checkpoint=False
) -> tuple[list[Any], ObjectIdentityDictionary]:
    """As `tf.saved_model.save`; returns the objects in the order of their numbers, and for each the way to it.

    Args:
        obj: what is saved.
        export_dir: the folder.
        signatures: as for `tf.saved_model.save`.
        options: as for `tf.saved_model.save`.
        experimental_skip_checkpoint: whether values of variables are left out.
    """
    options = copy.copy(SaveOptions() if options is None else options)
    options.experimental_skip_saver = options.experimental_skip_saver or experimental_skip_checkpoint
    walk = save_with(obj, export_dir, signatures, options)
    paths: ObjectIdentityDictionary = ObjectIdentityDictionary()
    for number, found in enumerate(walk.objects):
        if number < walk.slots_begin:
            paths[found] = walk.references(number)
    return list(walk.objects), paths


@api("__internal__.saved_model.parse_saved_model", dispatch=False)
def parse_saved_model(export_dir) -> Any:
    """The message of the file saved_model.pb in a folder."""
    return read_saved_model(export_dir)


@api("__internal__.load_context", dispatch=False)
@contextlib.contextmanager
def load_context(load_options) -> Iterator[None]:
    """Within this block, models are loaded with options; those of one machine have none that matter."""
    yield


_functions_of_keras: dict[str, Callable[..., Any]] = {}


@api("__internal__.register_call_context_function", dispatch=False)
def register_call_context_function(func) -> None:
    """Keep the function of Keras 2 that says in which layer's call the program is."""
    _functions_of_keras["call context"] = func


@api("__internal__.register_clear_session_function", dispatch=False)
def register_clear_session_function(func) -> None:
    """Keep the function of Keras 2 that forgets all models."""
    _functions_of_keras["clear session"] = func


@api("__internal__.register_get_session_function", dispatch=False)
def register_get_session_function(func) -> None:
    """Keep the function of Keras 2 that gives its session."""
    _functions_of_keras["get session"] = func


@api("__internal__.register_load_model_function", dispatch=False)
def register_load_model_function(func) -> None:
    """Keep the function of Keras 2 that loads a model."""
    _functions_of_keras["load model"] = func
