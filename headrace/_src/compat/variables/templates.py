"""`make_template`: functions that make their variables when first called, and share them later."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from headrace._src.compat.variables.scopes import VariableScope, variable_scope
from headrace._src.op.api import api


class Template:
    """A function whose variables are made on its first call, and shared by the later ones."""

    def __init__(self, name, function, unique_name, custom_getter):
        self._name = name
        self._function = function
        self._unique_name = unique_name
        self._custom_getter = custom_getter
        self._scope = None
        self._called = False

    def make_scope(self) -> None:
        """Open the scope of the variables for the first time."""
        getter = self._custom_getter  # names of operations begin with the first call
        if self._unique_name is not None:
            with variable_scope(self._unique_name, custom_getter=getter, auxiliary_name_scope=False) as self._scope:
                pass
        else:
            with variable_scope(None, self._name, custom_getter=getter, auxiliary_name_scope=False) as self._scope:
                pass

    def __call__(self, *args, **kwargs):
        if self._scope is None:
            self.make_scope()
        with variable_scope(self._scope, reuse=True if self._called else None):
            result = self._function(*args, **kwargs)
        self._called = True
        return result

    @property
    def name(self) -> str:
        """The name that the template was made with."""
        return self._name

    @property
    def func(self) -> Callable[..., Any]:
        """The function."""
        return self._function

    @property
    def variable_scope(self) -> VariableScope | None:
        """The scope of the variables; None before the first call."""
        return self._scope

    @property
    def variable_scope_name(self) -> str | None:
        """The name of the scope of the variables."""
        if self._scope is None:
            return None
        name = self._scope.name
        return name if not name or name.endswith("/") else name + "/"

    @property
    def variables(self) -> list:
        """The global and local variables."""
        return self.global_variables + self.local_variables

    @property
    def trainable_variables(self) -> list:
        return [] if self._scope is None else self._scope.trainable_variables()

    @property
    def global_variables(self) -> list:
        return [] if self._scope is None else self._scope.global_variables()

    @property
    def local_variables(self) -> list:
        return [] if self._scope is None else self._scope.local_variables()


@api("compat.v1.make_template", dispatch=False)
def make_template(name_, func_, create_scope_now_=False, unique_name_=None, custom_getter_=None, **kwargs) -> Template:
    """A function that makes its variables with `get_variable` when it is first called, and shares them later.

    Args:
        name_: the name of the scope, made unique.
        func_: the function.
        create_scope_now_: whether the scope is named now instead of on the first call.
        unique_name_: a name for the scope that is used as it is.
        custom_getter_: as for `variable_scope`.
        **kwargs: arguments of `func_` to fix.
    """
    template = Template(name_, functools.partial(func_, **kwargs) if kwargs else func_, unique_name_, custom_getter_)
    if create_scope_now_:
        template.make_scope()
    return template
