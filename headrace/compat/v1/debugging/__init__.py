"""The public names of `tf.compat.v1.debugging`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.compat.functions.mathematics import assert_equal as assert_equal
    from headrace._src.compat.functions.mathematics import assert_greater as assert_greater
    from headrace._src.compat.functions.mathematics import assert_greater_equal as assert_greater_equal
    from headrace._src.compat.functions.mathematics import assert_less as assert_less
    from headrace._src.compat.functions.mathematics import assert_less_equal as assert_less_equal
    from headrace._src.compat.functions.mathematics import assert_near as assert_near
    from headrace._src.compat.functions.mathematics import assert_negative as assert_negative
    from headrace._src.compat.functions.mathematics import assert_non_negative as assert_non_negative
    from headrace._src.compat.functions.mathematics import assert_non_positive as assert_non_positive
    from headrace._src.compat.functions.mathematics import assert_none_equal as assert_none_equal
    from headrace._src.compat.functions.mathematics import assert_positive as assert_positive
    from headrace._src.compat.functions.mathematics import assert_rank as assert_rank
    from headrace._src.compat.functions.mathematics import assert_rank_at_least as assert_rank_at_least
    from headrace._src.compat.functions.mathematics import assert_rank_in as assert_rank_in
    from headrace._src.compat.functions.mathematics import assert_scalar as assert_scalar
    from headrace._src.compat.functions.mathematics import verify_tensor_all_finite as _assert_all_finite
    from headrace._src.core.tracebacks import disable_traceback_filtering as disable_traceback_filtering
    from headrace._src.core.tracebacks import enable_traceback_filtering as enable_traceback_filtering
    from headrace._src.core.tracebacks import is_traceback_filtering_enabled as is_traceback_filtering_enabled
    from headrace._src.ops.debugging.assertions import Assert as Assert
    from headrace._src.ops.debugging.assertions import get_log_device_placement as get_log_device_placement
    from headrace._src.ops.debugging.assertions import set_log_device_placement as set_log_device_placement
    from headrace._src.ops.debugging.numerics_checks import check_numerics as check_numerics
    from headrace._src.ops.debugging.numerics_checks import disable_check_numerics as disable_check_numerics
    from headrace._src.ops.debugging.numerics_checks import enable_check_numerics as enable_check_numerics
    from headrace._src.ops.debugging.static_assertions import assert_integer as assert_integer
    from headrace._src.ops.debugging.static_assertions import assert_proper_iterable as assert_proper_iterable
    from headrace._src.ops.debugging.static_assertions import assert_same_float_dtype as assert_same_float_dtype
    from headrace._src.ops.debugging.static_assertions import assert_shapes as assert_shapes
    from headrace._src.ops.debugging.static_assertions import assert_type as assert_type
    from headrace._src.ops.debugging.static_assertions import is_numeric_tensor as is_numeric_tensor
    from headrace._src.ops.math.elementwise import is_finite as is_finite
    from headrace._src.ops.math.elementwise import is_inf as is_inf
    from headrace._src.ops.math.elementwise import is_nan as is_nan
    from headrace._src.ops.math.statistics import is_non_decreasing as is_non_decreasing
    from headrace._src.ops.math.statistics import is_strictly_increasing as is_strictly_increasing
    from headrace.compat.v1.debugging import experimental as experimental
    assert_all_finite = _assert_all_finite
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
