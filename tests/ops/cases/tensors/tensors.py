"""Rows of conversion, operators, indexing and text of tensors: what every program does first."""

from rows import row

# The names that the expressions below use.
_NAMES = """
f = tf.constant([1.0, 2.0])
i = tf.constant([1, 2])
h = tf.constant([1.0, 2.0], tf.float16)
d = tf.constant([1.0], tf.float64)
u = tf.constant([1], tf.uint8)
b = tf.constant([True])
st = tf.constant(["a"])
c = tf.constant([1 + 2j])
"""

_EXPRESSIONS = r"""
f+np.array([1.,2.])
np.array([1.,2.])+f
f+np.array([1,2])
f+1
f+True
i+2.5
i+2.0
i+np.float32(2)
i+np.array([1,2],np.int64)
f+i
f+d
h+1.5
f+[1,2]
i+[1.,2.]
[1,2]+f
2+i
i/2
i//0
i/0
i%0
tf.constant([1,2])//tf.constant([0,1])
u+300
u+(-1)
tf.constant(300,tf.int8)
tf.constant(3000000000)
tf.constant(2**63)
tf.constant(2**64)
tf.constant(2**70)
tf.constant([1,2.5])
tf.constant([1,True])
tf.constant([True,1])
tf.constant([1,'a'])
tf.constant(1.5,tf.int32)
tf.constant(1,tf.float32)
tf.constant(True,tf.float32)
tf.constant(np.array([1,2]))
tf.constant(np.float64(3))
tf.constant(3j)
tf.constant([1,2],shape=(2,2))
tf.constant(5,shape=(2,2))
tf.constant([[1,2],[3]])
tf.constant(None)
tf.convert_to_tensor([tf.constant(1.),2])
tf.constant(f,tf.float64)
tf.constant(f,tf.float32)
tf.convert_to_tensor(f,tf.int32)
tf.convert_to_tensor(np.array([1.,2.]),tf.float32)
tf.convert_to_tensor(np.array([1.,2.]),tf.int32)
tf.convert_to_tensor(np.array([1,2]),tf.float32)
tf.convert_to_tensor(np.array([1,2]),dtype_hint=tf.float32)
tf.convert_to_tensor(2,dtype_hint=tf.float32)
tf.convert_to_tensor(2.5,dtype_hint=tf.int32)
tf.add(f,np.array([1.,2.]))
tf.add(np.array([1.,2.]),f)
tf.add(1,2.5)
tf.add([1,2],[3.,4.])
tf.add(1,2)
tf.add(True,True)
b+b
-b
~b
~i
-u
abs(u)
b&True
i&1
i|i
i^i
f&f
b and True
f==i
f==1
f!=f
f==d
f=="a"
f==None
i==1.0
tf.equal(f,1)
tf.equal(f,tf.constant([1,2,3.]))
f==tf.constant([1,2,3.])
f in [f]
bool(f)
bool(tf.constant(3))
bool(tf.constant(''))
int(tf.constant(2.7))
float(i)
float(i[0])
len(f)
len(tf.constant(1))
list(f)
f[0]
f[5]
f[-1]
f[tf.constant(1)]
f[0:1]
f[...,tf.newaxis]
f[[0,1]]
f[np.array([0])]
f[tf.constant([0,1])]
f[f>1]
f['a']
f[0.5]
f[0,0]
np.add(f,np.array([1.,1.]))
np.sin(f)
f@f
tf.constant([[1.]])@tf.constant([[1]])
"%s %d"%(f,i[0])
f"{f[0]:.2f}"
f"{f}"
repr(tf.constant("x"))
repr(c)
repr(tf.constant(2.5,tf.bfloat16))
[repr(tf.constant(0.3,t)) for t in ("float16","bfloat16","float32","float64","complex64")]
[str(tf.constant(0.3,t)) for t in ("float16","bfloat16","float32","float64","complex64")]
repr(b)
repr(tf.zeros((0,3)))
f**2
2**f
i**-1
i**2
f**i
f.set_shape([3])
tf.constant(1)<2.5
tf.constant(1)<2
not f
tf.constant([1,2]).__complex__()
tf.is_tensor(np.array(1))
tf.cast(2.7,tf.int32)
tf.cast(f,'int8')
tf.cast(tf.constant(-1.5),tf.uint8)
tf.cast(tf.constant(1e20),tf.int32)
tf.cast(tf.constant(float('nan')),tf.int32)
tf.cast(1+2j,tf.float32)
tf.constant(b'abc').numpy()
tf.constant([b'abc']).numpy()
tf.constant(np.array(['a','b']))
tf.constant(np.array([1,None],object))
tf.constant(np.datetime64('2020-01-01'))
tf.constant({})
tf.constant([])
tf.constant([[]])
tf.constant('a',tf.int32)
tf.constant(1,tf.string)
tf.convert_to_tensor(f,'float32')
tf.convert_to_tensor(f,tf.float64)
tf.convert_to_tensor([1,2],tf.uint8)
tf.convert_to_tensor(range(3))
tf.convert_to_tensor((1,2))
tf.convert_to_tensor(tf.float32)
tf.constant(float('inf'),tf.int32)
tf.constant(1e40)
tf.constant(1e40,tf.float16)
tf.constant(70000,tf.uint16)
tf.constant([1,2,3])[::2]
tf.constant([1,2,3])[::0]
tf.constant([1,2,3])[::-1]
tf.constant([1,2,3])[1.0:]
tf.constant(1)[0]
"""

ROWS = [row(f"{_NAMES}result = {text}") for text in _EXPRESSIONS.strip().splitlines()]
