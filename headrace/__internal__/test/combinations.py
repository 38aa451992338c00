"""The public names of `tf.__internal__.test.combinations`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.compat.tensorflow_names.internal_test_combinations import NamedObject as NamedObject
    from headrace._src.compat.tensorflow_names.internal_test_combinations import OptionalParameter as OptionalParameter
    from headrace._src.compat.tensorflow_names.internal_test_combinations import ParameterModifier as ParameterModifier
    from headrace._src.compat.tensorflow_names.internal_test_combinations import TestCombination as TestCombination
    from headrace._src.compat.tensorflow_names.internal_test_combinations import combine as combine
    from headrace._src.compat.tensorflow_names.internal_test_combinations import generate as generate
    from headrace._src.compat.tensorflow_names.internal_test_combinations import times as times
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
