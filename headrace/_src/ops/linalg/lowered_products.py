"""Products of matrices in compiled programs."""

from headrace._src.core.lazy import jnp, lax


def lowered_product(x, y, turn_x=False, turn_y=False):
    """`x @ y` on jax values, leading axes broadcast, each transposed first if wished; small floats sum in float32."""
    if is_small_float(x.dtype):
        return _product_of_small(x, y, turn_x, turn_y).astype(x.dtype)
    x, y = (jnp.swapaxes(z, -1, -2) if turn else z for z, turn in ((x, turn_x), (y, turn_y)))
    return jnp.matmul(x, y, precision="highest")


def is_small_float(dtype) -> bool:
    """Whether these are floats of two bytes."""
    return dtype.itemsize == 2 and jnp.issubdtype(dtype, jnp.floating)


def _product_of_small(x, y, turn_x, turn_y):
    """The product in float32.

    XLA has it made by instructions for bfloat16, twice as fast as those for float32, if both matrices stand row by row
    where it first looks, or the second one column by column by the product's own axes. What comes out of a
    transposition it takes for something else, whatever memory that will get: then it converts both to float32.
    """
    x = _row_by_row(jnp.swapaxes(x, -1, -2) if turn_x else x)
    by_columns = turn_y and (y.ndim == 2 or x.shape[:-2] == y.shape[:-2])
    y = _row_by_row(jnp.swapaxes(y, -1, -2) if turn_y and not by_columns else y)
    if not by_columns:
        return jnp.matmul(x, y, preferred_element_type=jnp.float32)
    batch = tuple(range(y.ndim - 2))
    axes = ((x.ndim - 1,), (y.ndim - 1,)), (batch, batch)
    return lax.dot_general(x, y, axes, preferred_element_type=jnp.float32)


def _row_by_row(x):
    """The same for XLA to write out: an axis that is put there and taken away again ends what it knows of the order.

    Without the barrier behind it, it would find a transposition again when it has decided on the instructions, and
    have none for what it then makes of the product.
    """
    longer = lax.optimization_barrier(lax.reshape(x, (*x.shape, 1)))
    return lax.optimization_barrier(lax.reshape(longer, x.shape))
