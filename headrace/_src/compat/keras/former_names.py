"""Names of Keras 2 that Keras 3 dropped for good: what they were and what to use, from `core/missing_names.tsv`."""

from types import ModuleType

from headrace._src.core import missing_names
from headrace._src.core.tracebacks import entrance

_OWN = "keras._tf_keras.keras"


def tell_of_missing(module: ModuleType) -> None:
    """`tf.keras.layers.LocallyConnected1D` says what it was, rather than only that it is not there."""
    public = "tf.keras" + module.__name__.removeprefix(_OWN).removeprefix("keras")

    @entrance
    def absent(name):
        said = None if name.startswith("__") else missing_names.about(f"{public}.{name}")
        if said is None:  # Python may suggest a name
            raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}", name=name, obj=module)
        raise missing_names.absence(module.__name__, name, said)

    vars(module).setdefault("__getattr__", absent)


class _Absent:
    """A method of Keras 2: it is not there (`hasattr` says so), and who asks for it is told why."""

    def __init__(self, name, said):
        self.name, self.said = name, said

    @entrance
    def __get__(self, instance, owner=None):
        raise missing_names.unlike_any(f"{owner.__name__!r} has no attribute {self.name!r}. {self.said}", self.name)


def tell_of_missing_methods(module: ModuleType) -> None:
    """The same for methods of `Model`, such as `to_yaml`."""
    prefix = "tf.keras.Model#"
    for row in missing_names.rows():
        if row.name.startswith(prefix):
            name = row.name.removeprefix(prefix)
            if not hasattr(module.Model, name):
                setattr(module.Model, name, _Absent(name, missing_names.about(row.name)))
