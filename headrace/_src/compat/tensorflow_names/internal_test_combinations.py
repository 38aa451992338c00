"""`tf.__internal__.test.combinations`: one test for each combination of arguments."""

import collections
import functools
import inspect
import itertools
from typing import Any

from headrace._src.op.api import api


@api("__internal__.test.combinations.NamedObject", dispatch=False)
class NamedObject:
    """A value of a parameter that has a name, for the names of tests."""

    def __init__(self, name, obj):
        self._name = name
        self._obj = obj

    def __getattr__(self, name):
        return getattr(self.__dict__["_obj"], name)

    def __call__(self, *args, **kwargs):
        return self._obj(*args, **kwargs)

    def __iter__(self):
        return self._obj.__iter__()

    def __repr__(self):
        return self._name


@api("__internal__.test.combinations.ParameterModifier", dispatch=False)
class ParameterModifier:
    """Changes the arguments of a test that it finds among those of a combination."""

    DO_NOT_PASS_TO_THE_TEST = object()

    def __init__(self, parameter_name=None):
        self._parameter_name = parameter_name

    def modified_arguments(self, kwargs, requested_parameters) -> dict[str, Any]:
        """The arguments that are to be given instead."""
        return {}


@api("__internal__.test.combinations.OptionalParameter", dispatch=False)
class OptionalParameter(ParameterModifier):
    """An argument that is given only to tests that take it."""

    def modified_arguments(self, kwargs, requested_parameters) -> dict[str, Any]:
        if self._parameter_name in requested_parameters:
            return {}
        return {self._parameter_name: ParameterModifier.DO_NOT_PASS_TO_THE_TEST}


@api("__internal__.test.combinations.TestCombination", dispatch=False)
class TestCombination:
    """What else is done around a test of a combination."""

    __test__ = False

    def should_execute_combination(self, kwargs) -> tuple[bool, str | None]:
        """Whether the test is run, and why not."""
        return True, None

    def parameter_modifiers(self) -> list[ParameterModifier]:
        """Arguments that are for this, and not for the test."""
        return []

    def context_managers(self, kwargs) -> list[Any]:
        """Blocks within which the test is run."""
        return []


@api("__internal__.test.combinations.combine", dispatch=False)
def combine(**kwargs) -> list[collections.OrderedDict]:
    """All combinations of values of parameters.

    >>> [dict(each) for each in tf.__internal__.test.combinations.combine(a=[1, 2], b=3)]
    [{'a': 1, 'b': 3}, {'a': 2, 'b': 3}]
    """
    names = sorted(kwargs)
    choices = [value if isinstance(value, (list, tuple)) else [value] for value in (kwargs[name] for name in names)]
    return [collections.OrderedDict(zip(names, chosen)) for chosen in itertools.product(*choices)]


@api("__internal__.test.combinations.times", dispatch=False)
def times(*combined) -> list[collections.OrderedDict]:
    """Each of the first combinations with each of the others."""
    return [
        collections.OrderedDict(sorted(itertools.chain.from_iterable(each.items() for each in chosen)))
        for chosen in itertools.product(*combined)
    ]


@api("__internal__.test.combinations.generate", dispatch=False)
def generate(combinations, test_combinations=()) -> Any:
    """Decorator of a test, or of a class of tests: it is run once for each combination, whose values it is given."""

    def decorate(target):
        if inspect.isclass(target):
            for name in [name for name in vars(target) if name.startswith("test") and callable(vars(target)[name])]:
                setattr(target, name, of_method(vars(target)[name]))
            return target
        return of_method(target)

    def of_method(method):
        wanted = inspect.signature(method).parameters

        @functools.wraps(method)
        def test(self):
            for combination in combinations:
                given = {name: value for name, value in combination.items() if name in wanted}
                with self.subTest(**{name: repr(value) for name, value in combination.items()}):
                    method(self, **given)

        del test.__wrapped__  # its arguments are not to be asked for
        return test

    return decorate
