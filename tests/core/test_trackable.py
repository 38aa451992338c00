"""Objects that track their parts, against what TensorFlow 2.21 answers."""

import copy
import pickle

import pytest

from headrace._src.core import trackable
from headrace._src.core.trackable import (
    AutoTrackable,
    NoDependency,
    SaveType,
    Trackable,
    TrackableReference,
    no_automatic_dependency_tracking,
)
from headrace._src.core.tracked_containers import _DictWrapper


def test_attributes_become_children():
    root, child = AutoTrackable(), AutoTrackable()
    root.x, root.y = child, 3
    assert root._trackable_children() == {"x": child}
    assert root._trackable_children(save_type="savedmodel") == {"x": child}
    assert root._lookup_dependency("x") is child
    assert root._lookup_dependency("y") is None
    assert root._lookup_dependency("z", cached_dependencies={"z": 1}) == 1
    assert root._checkpoint_dependencies == [TrackableReference("x", child)]
    assert root._object_identifier == "_generic_user_object"


def test_a_plain_trackable_does_not_watch_attributes():
    root = Trackable()
    root.x = Trackable()
    assert root._trackable_children() == {}


def test_children_returned_are_a_copy():
    root = AutoTrackable()
    root._trackable_children()["x"] = 1
    assert root._trackable_children() == {}


def test_assigning_again():
    root, first, second = AutoTrackable(), AutoTrackable(), AutoTrackable()
    root.x = first
    root.x = second
    assert root._trackable_children() == {"x": second}
    # As in TensorFlow, a value that cannot be tracked leaves the child in place.
    root.x = 5
    assert root._trackable_children() == {"x": second}
    del root.x
    assert root._trackable_children() == {}
    with pytest.raises(AttributeError):
        del root.x


def test_track_by_hand():
    root, child = Trackable(), Trackable()
    assert root._track_trackable(child, "w") is child
    assert root._track_trackable(child, "w") is child
    with pytest.raises(ValueError, match="Names must be unique"):
        root._track_trackable(Trackable(), "w")
    other = Trackable()
    assert root._track_trackable(other, "w", overwrite=True) is other
    with pytest.raises(TypeError, match="can only be used to track objects of type Trackable"):
        root._track_trackable(3, "n")
    third = Trackable()
    root._add_trackable_child("w", third)
    assert root._trackable_children() == {"w": third}


def test_tracking_can_be_switched_off():
    class Quiet(AutoTrackable):
        @no_automatic_dependency_tracking
        def __init__(self):
            """Says hello."""
            self.a = AutoTrackable()

        @no_automatic_dependency_tracking
        def fail(self):
            raise KeyError

    quiet = Quiet()
    assert Quiet.__init__.__doc__ == "Says hello."
    assert quiet._trackable_children() == {}
    with pytest.raises(KeyError):
        quiet.fail()
    quiet.b = AutoTrackable()
    quiet.d = AutoTrackable()
    quiet.e = NoDependency(quiet.d)
    quiet.f = quiet._no_dependency(quiet.d)
    assert list(quiet._trackable_children()) == ["b", "d"]
    assert quiet.e is quiet.d
    assert quiet.f is quiet.d


def test_restoration_waits_for_the_child():
    class Position:
        def __init__(self):
            self.restored = []

        def restore(self, child):
            self.restored.append(child)

    root, position, later = AutoTrackable(), Position(), Position()
    root._defer_restoration("v", position)
    root._defer_restoration("v", later)
    root.u = AutoTrackable()
    assert position.restored == []
    root.v = child = AutoTrackable()
    assert position.restored == later.restored == [child]
    root.v = AutoTrackable()
    assert position.restored == [child]
    assert root._deferred_dependencies == {}


def test_containers_can_be_registered(monkeypatch):
    class Tracked(Trackable):
        def __init__(self, items):
            self.items = items

    monkeypatch.setitem(trackable._CONTAINERS, list, Tracked)
    root = AutoTrackable()
    root.items = [1, 2]
    assert isinstance(root.items, Tracked)
    assert root._trackable_children() == {"items": root.items}


def test_a_mapping_is_made_of_pairs():
    child = AutoTrackable()
    made = _DictWrapper((key, value) for key, value in [("a", child), ("b", 2)])
    assert made == {"a": child, "b": 2}
    assert made._trackable_children() == {"a": child}
    wrapped = {"c": 3}
    made = _DictWrapper(wrapped)
    made["d"] = 4
    assert wrapped == {"c": 3, "d": 4}


def test_what_c_code_sees_of_a_mapping():
    made = _DictWrapper({"a": 1, "b": 2, "c": 3})
    made["d"] = 4
    del made["a"]
    assert made.pop("b") == 2
    assert made.pop("z", 5) == 5
    assert made.popitem() == ("d", 4)
    made.update(e=5)
    made.setdefault("f", 6)
    made |= {"g": 7}
    assert dict.copy(made) == made == {"c": 3, "e": 5, "f": 6, "g": 7}
    with pytest.raises(KeyError):
        del made["a"]
    made.clear()
    assert dict.copy(made) == made == {}


def test_what_objects_without_values_say():
    plain = Trackable()
    for method, arguments in [
        ("_serialize_to_tensors", ()),
        ("_restore_from_tensors", ({},)),
        ("_copy_trackable_to_cpu", ({},)),
    ]:
        with pytest.raises(NotImplementedError):
            getattr(plain, method)(*arguments)
    assert plain._export_to_saved_model_graph({}, {}, None) == []
    assert plain._deserialization_dependencies({}) == {}
    assert plain._gather_saveables_for_checkpoint() == {}
    assert plain._no_dependency(3) == 3


def test_copies_have_their_own_children():
    root = AutoTrackable()
    root.x = AutoTrackable()
    for again in (copy.deepcopy(root), pickle.loads(pickle.dumps(root))):
        assert again.x is not root.x
        assert again._trackable_children() == {"x": again.x}


def test_a_constructor_that_is_not_called():
    # Keras's variables inherit from Trackable and do not call its constructor.
    class Variable(Trackable):
        def __init__(self):
            pass

        def __setattr__(self, name, value):
            raise AssertionError("Trackable must not assign attributes")

    variable = Variable()
    variable._track_trackable(Trackable(), "x")
    variable._defer_restoration("y", None)
    assert list(variable._trackable_children()) == ["x"]


def test_save_types_are_strings():
    assert SaveType.SAVEDMODEL == "savedmodel"
    assert SaveType.CHECKPOINT == "checkpoint"
