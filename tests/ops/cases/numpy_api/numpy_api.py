"""Rows of `tf.experimental.numpy`."""

from rows import normal, row, uniform

_EXPRESSIONS = r"""
tnp.array([1,2])
tnp.array([1.,2.])
tnp.array(1,dtype=tnp.float32)
tnp.array([1,2],ndmin=3)
tnp.add(1,2)
tnp.add(1,2.)
tnp.add(tf.constant(1),2.)
tnp.add(tf.constant(1.),2)
tnp.add(tf.constant(1.),tf.constant(2,tf.int32))
tnp.add(tf.constant(1.),np.array(2.))
tnp.add([1,2],[3.,4.])
tnp.sqrt(tf.constant(4.))
tnp.abs(-3)
tnp.sum([1,2])
tnp.sum(tf.constant([1,2]))
tnp.sum([True])
tnp.mean([1,2])
tnp.prod([1,2])
tnp.max([1,2])
tnp.std([1,2])
tnp.all([1,0])
tnp.argmax([1,3])
tnp.cumsum([[1,2],[3,4]])
tnp.linspace(0,1,3)
tnp.linspace(0,1,3,retstep=True)
tnp.arange(3)
tnp.arange(3.)
tnp.arange(1,5,2,dtype=tnp.float32)
tnp.ones((2,))
tnp.zeros(2,dtype=int)
tnp.full((2,),3)
tnp.full_like([1,2],3.5)
tnp.eye(2,k=1)
tnp.identity(2)
tnp.divide(1,2)
tnp.true_divide([1],[2])
tnp.floor_divide(5,2)
tnp.mod(5,3)
tnp.power(2,3)
tnp.power(2,-1)
tnp.matmul([[1,2]],[[1],[2]])
tnp.dot([1,2],[3,4])
tnp.dot(2,[3,4])
tnp.maximum(1,2.)
tnp.equal(1,1.)
tnp.logical_and(1,0)
tnp.where([True,False],1,2.)
tnp.where([True,False])
tnp.nonzero([1,0,2])
tnp.isclose([1.],[1.1])
tnp.allclose([1.],[1.])
tnp.array_equal([1],[1])
tnp.size([[1,2]])
tnp.ndim([[1]])
tnp.take([1,2,3],[0,5])
tnp.take([1,2,3],[0,5],mode='raise')
tnp.take([1,2,3],[0,5],mode='wrap')
tnp.diff([1,3,6])
tnp.sign(-3)
tnp.clip([1,5],2,4)
tnp.clip([1,5],2,None)
tnp.pad([1],((1,1),),'constant')
tnp.repeat([1,2],2)
tnp.sort([3,1])
tnp.argsort([3,1])
tnp.split(tnp.arange(4),2)
tnp.vander([1,2])
tnp.tri(2)
tnp.kron([1,2],[1,1])
tnp.real(1+2j)
tnp.angle(1j,deg=True)
tnp.gcd(4,6)
tnp.lcm(4,6)
tnp.divmod(5,2)
tnp.heaviside([-1.,0.,1.],0.5)
tnp.sinc(0.5)
tnp.signbit(-1.)
tnp.isreal(1+0j)
tnp.isscalar(1)
tnp.iscomplexobj(1j)
tnp.average([1,2,3],weights=[1,2,3])
tnp.select([[True,False]],[[1,2]],default=9)
tnp.bitwise_and(3,1)
tnp.bitwise_not(3)
tnp.cbrt(8.)
tnp.fabs(-2)
tnp.fix(-2.5)
tnp.float_power(2,3)
tnp.ix_([0,1],[1,2])
tnp.nanmean([1.,float('nan')])
tnp.nansum([1.,float('nan')])
tnp.outer([1,2],[3,4])
tnp.polyval([1,2],3)
tnp.positive(3)
tnp.ptp([1,5])
tnp.rot90([[1,2],[3,4]])
tnp.tensordot([1,2],[3,4],1)
tnp.trace([[1,2],[3,4]])
tnp.transpose([[1,2]])
tnp.tril([[1,2],[3,4]])
tnp.vdot([1j],[1j])
tnp.vstack([[1],[2]])
tnp.cross([1,0,0],[0,1,0])
tnp.count_nonzero([1,0])
tnp.compress([True,False],[1,2])
tnp.append([1],[2])
tnp.atleast_2d(1)
tnp.broadcast_arrays([1],[[1],[2]])
tnp.concatenate([[1],[2.]])
tnp.copy([1])
tnp.diag([1,2])
tnp.diag_indices(2)
tnp.diagflat([1,2])
tnp.diagonal([[1,2],[3,4]])
tnp.einsum('i,i',[1,2],[3,4])
tnp.expand_dims([1],0)
tnp.flatten([[1,2]])
tnp.flip([1,2])
tnp.geomspace(1,100,3)
tnp.logspace(0,2,3)
tnp.inner([1,2],[3,4])
tnp.meshgrid([1,2],[3,4])
tnp.ravel([[1,2]])
tnp.reshape([1,2],(2,1))
tnp.roll([1,2,3],1)
tnp.squeeze([[1]])
tnp.stack([[1],[2]])
tnp.swapaxes([[1,2]],0,1)
tnp.take_along_axis(tnp.array([[3,1]]),tnp.array([[1,0]]),1)
tnp.tile([1,2],2)
tnp.amax([1,2]), tnp.any([0]), tnp.nextafter(1.,2.)
[tnp.ndarray is tf.Tensor, tnp.float16 is np.float16, tnp.float32 is np.float32, tnp.float64 is np.float64, tnp.int8 is np.int8, tnp.int16 is np.int16, tnp.int32 is np.int32, tnp.int64 is np.int64, tnp.uint8 is np.uint8, tnp.uint16 is np.uint16, tnp.uint32 is np.uint32, tnp.uint64 is np.uint64, tnp.bool_ is np.bool_, tnp.complex64 is np.complex64, tnp.complex128 is np.complex128, tnp.complex_ is np.complex128, tnp.float_ is np.float64, tnp.int_ is np.int64, tnp.object_ is np.object_, tnp.string_ is np.bytes_, tnp.unicode_ is np.str_, tnp.inexact is np.inexact]
[tnp.iinfo(np.int8).max, float(tnp.finfo(np.float32).max), tnp.issubdtype(np.int8, np.integer)]
[tnp.result_type(np.int32, 1.5).name, tnp.result_type(1, 2).name, tnp.result_type(tf.constant(1.0), 2).name, np.dtype(tnp.promote_types(np.int32, np.float32)).name]
[tnp.shape([1, 2]).as_list(), tnp.moveaxis(tnp.ones((2, 3, 4)), [0, 1], [-1, 0]).shape.as_list(), tnp.empty((2,)).shape.as_list(), tnp.empty_like([[1, 2]]).shape.as_list()]
tnp.sqrt(tnp.array([1.0, 4.0]))
tnp.hypot(3.0, 4.0)
tnp.exp2(3.0)
tnp.logaddexp(1.0, 2.0)
tnp.logaddexp2(1.0, 2.0)
[f(x) for f in (tnp.arccos, tnp.arcsin, tnp.arctan, tnp.arctanh, tnp.cos, tnp.sin, tnp.tan, tnp.cosh, tnp.sinh, tnp.tanh, tnp.arcsinh, tnp.exp, tnp.expm1, tnp.log1p, tnp.deg2rad, tnp.rad2deg, tnp.ceil, tnp.floor, tnp.negative, tnp.square, tnp.absolute, tnp.reciprocal, tnp.conj, tnp.conjugate)]
[f(x + 2.5) for f in (tnp.arccosh, tnp.log, tnp.log2, tnp.log10)]
[f(tnp.array([1.0, float('inf'), float('nan'), -float('inf')])) for f in (tnp.isfinite, tnp.isinf, tnp.isnan, tnp.isneginf, tnp.isposinf)]
[tnp.arctan2(x, 2.0), tnp.subtract(x, 1), tnp.multiply(x, [1, 2, 3]), tnp.minimum(x, 0), tnp.remainder(7, 3)]
[f(x, 0.0) for f in (tnp.greater, tnp.greater_equal, tnp.less, tnp.less_equal, tnp.not_equal)]
[tnp.logical_or(1, 0), tnp.logical_xor([1, 0], 1), tnp.logical_not([0, 2]), tnp.bitwise_or(1, 2), tnp.bitwise_xor(3, 1)]
[tnp.iscomplex([1j, 1]), tnp.isrealobj(1.0), tnp.imag([1 + 2j])]
[tnp.amin([3, 1]), tnp.min([3, 1]), tnp.argmin([3, 1]), tnp.cumprod([1, 2, 3]), tnp.nanprod([2.0, float('nan')])]
[tnp.asarray([1]), tnp.asanyarray([1]), tnp.ascontiguousarray(3), tnp.atleast_1d(1), tnp.atleast_3d([[1, 2]])]
[tnp.broadcast_to([1], (2, 2)), tnp.zeros_like([1.5]), tnp.ones_like([1, 2])]
[tnp.dstack([[1], [2]]), tnp.hstack([[1], [2]]), tnp.hstack([[[1]], [[2]]])]
[tnp.fliplr([[1, 2]]), tnp.flipud([[1], [2]]), tnp.triu([[1, 2], [3, 4]])]
[tnp.hsplit(tnp.ones((2, 4)), 2), tnp.vsplit(tnp.ones((4, 1)), [1, 2]), tnp.dsplit(tnp.ones((1, 1, 2)), 2)]
tnp.random.seed(3); result = [tnp.random.rand(2), tnp.random.randn(2), tnp.random.randint(5, size=(2,)), tnp.random.uniform(0, 1, (2,)), tnp.random.random((2,)), tnp.random.standard_normal(2)]
tnp.random.poisson(2.0, (2,)).dtype.name
tnp.random.randint(0, 3, dtype=np.int8)
tnp.reshape([[1, 2], [3, 4]], -1, order='F')
tnp.reshape([1, 2], (2,), order='K')
tnp.pad([1, 2], 1, 'edge')
tnp.var(x)
tnp.std(x, keepdims=True)
tnp.mean(x, axis=0, dtype=np.float32)
tnp.diag([[1, 2], [3, 4]], k=1)
tnp.take([[1, 2], [3, 4]], [1], axis=1)
tnp.allclose(x, x + 1e-9)
tnp.arange(5, 0)
tnp.arange(0, 1, 0)
tnp.sort([[3, 1], [2, 0]], axis=None)
tnp.sort([1], order='x')
tnp.matmul([1, 2], [[1], [2]])
tnp.matmul(1, 2)
tnp.cross([1, 2], [3, 4])
tnp.vander([1, 2, 3], 2, increasing=True)
tnp.linspace(0, 1, 4, endpoint=False)
tnp.average(x, returned=True)
"""

# What NumPy does and TensorFlow refuses or fails at; headrace does what NumPy does.
_AS_NUMPY = r"""
tnp.sqrt(4)
tnp.around([25, 35], -1)
tnp.round(2.567, 2)
tnp.logaddexp(1, 2)
tnp.exp2(3)
tnp.hypot(3, 4)
tnp.var([1, 2], ddof=1)
tnp.pad([1, 2, 3], 1, 'reflect')
tnp.concatenate([[[1]], [[2]]], axis=None)
tnp.linspace([0, 1], [2, 3], 3, axis=1)
"""

_X = uniform(-0.9, 0.9, 3, dtype="float64")


def _row(text, **options):
    assign = "" if "result =" in text else "result = "
    inputs = {"x": _X} if "x" in text else {}
    return row(f"tnp = tf.experimental.numpy\n{assign}{text}", grad=False, **inputs, **options)


ROWS = [
    *[_row(text) for text in _EXPRESSIONS.strip().splitlines()],
    *[_row(text, ours="as NumPy; TensorFlow fails") for text in _AS_NUMPY.strip().splitlines()],
    *[
        row(f"tf.experimental.numpy.{code}", x=normal(3, 3, dtype="float64"), dtype="float64")
        for code in (
            "mean(x)", "sum(x, axis=0)", "var(x, axis=1)", "matmul(x, x)", "dot(x, x[0])", "outer(x[0], x[1])",
            "clip(x, -0.5, 0.5)", "where(x > 0, x, 2 * x)", "einsum('ij,kj->ik', x, x)", "cumsum(x, axis=1)", "diagonal(x)",
            "tril(x)", "roll(x, 1, 0)", "take_along_axis(x, [[1, 0, 2]], 1)", "sinc(x)", "logaddexp(x, 0.0)",
        )
    ],
]
