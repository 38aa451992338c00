"""Rows of `state/former_ops.py`: the stacks and TensorArrays of 1.x graphs."""

from rows import row

_RAW = "r = tf.raw_ops\n"
_ARRAY = (
    f"{_RAW}h, f = r.TensorArrayV3(size=3, dtype=tf.float32, element_shape=[2], clear_after_read=%s, dynamic_size=%s)\n"
    "write = lambda i, v: r.TensorArrayWriteV3(handle=h, index=i, value=v, flow_in=f)\n"
    "read = lambda i: r.TensorArrayReadV3(handle=h, index=i, flow_in=f, dtype=tf.float32)\n"
)
_USUAL, _KEPT, _GROWING = _ARRAY % (True, False), _ARRAY % (False, False), _ARRAY % (True, True)
_LOOSE = f"{_RAW}h, f = r.TensorArrayV3(size=2, dtype=tf.int32)\n"
_GRADIENT = (
    "g, gf = r.TensorArrayGradV3(handle=h, flow_in=f, source='gradients')\n"
    "again, _ = r.TensorArrayGradV3(handle=h, flow_in=f, source='gradients')\n"
    "add = lambda to, i, v: r.TensorArrayWriteV3(handle=to, index=i, value=v, flow_in=gf)\n"
)
_STACK = f"{_RAW}h = r.StackV2(max_size=%s, elem_type=tf.float32)\npush = lambda x: r.StackPushV2(handle=h, elem=x)\n"
_POP = "r.StackPopV2(handle=h, elem_type=tf.float32)"

ROWS = [
    row(code, grad=False, lower=False)
    for code in (
        f"{_STACK % -1}push(4.0)\npush([5.0, 6.0])\nresult = [{_POP}, {_POP}]",
        f"{_STACK % -1}result = push([5.0, 6.0])\nr.StackCloseV2(handle=h)",
        f"{_STACK % -1}{_POP}",
        f"{_STACK % 1}push(4.0)\npush(5.0)",
        f"{_USUAL}write(1, [4.0, 5.0])\nresult = read(1)",
        f"{_USUAL}result = read(2)",
        f"{_USUAL}write(1, [4.0, 5.0])\nread(1)\nread(1)",
        f"{_KEPT}write(1, [4.0, 5.0])\nresult = [read(1), read(1)]",
        f"{_USUAL}write(1, [4.0, 5.0])\nwrite(1, [6.0, 7.0])",
        f"{_USUAL}write(3, [4.0, 5.0])",
        f"{_USUAL}read(3)",
        f"{_USUAL}write(0, [4.0, 5.0, 6.0])",
        f"{_GROWING}write(5, [4.0, 5.0])\nresult = [r.TensorArraySizeV3(handle=h, flow_in=f), read(5)]",
        f"{_USUAL}r.TensorArrayScatterV3(handle=h, indices=[2, 0], value=[[1.0, 2.0], [3.0, 4.0]], flow_in=f)\n"
        "result = [read(0), read(2)]",
        f"{_USUAL}r.TensorArrayScatterV3(handle=h, indices=[0], value=[[1.0, 2.0], [3.0, 4.0]], flow_in=f)",
        f"{_USUAL}write(0, [1.0, 2.0])\nwrite(2, [3.0, 4.0])\n"
        "result = r.TensorArrayGatherV3(handle=h, indices=[2, 0], flow_in=f, dtype=tf.float32, element_shape=[2])",
        f"{_USUAL}result = r.TensorArrayGatherV3(\n"
        "    handle=h, indices=tf.zeros([0], tf.int32), flow_in=f, dtype=tf.float32, element_shape=[2]\n)",
        f"{_LOOSE}r.TensorArraySplitV3(handle=h, value=[1, 2, 3], lengths=tf.constant([1, 2], tf.int64), flow_in=f)\n"
        "result = [*r.TensorArrayConcatV3(handle=h, flow_in=f, dtype=tf.int32)]",
        f"{_LOOSE}r.TensorArraySplitV3(handle=h, value=[1, 2, 3], lengths=tf.constant([1, 1], tf.int64), flow_in=f)",
        f"{_LOOSE}r.TensorArrayReadV3(handle=h, index=0, flow_in=f, dtype=tf.int32)",
        f"{_USUAL}r.TensorArrayCloseV3(handle=h)\nresult = f",
        f"{_KEPT}write(1, [4.0, 5.0])\n{_GRADIENT}add(g, 1, [1.0, 2.0])\nadd(again, 1, [10.0, 20.0])\n"
        "result = [r.TensorArrayReadV3(handle=g, index=i, flow_in=gf, dtype=tf.float32) for i in (0, 1)]",
        f"{_KEPT}write(1, [4.0, 5.0])\n"
        "g, gf = r.TensorArrayGradWithShape(handle=h, flow_in=f, shape_to_prepend=[3], source='jacobian')\n"
        "result = r.TensorArrayReadV3(handle=g, index=1, flow_in=gf, dtype=tf.float32)",
        f"{_RAW}r.TensorArrayV3(size=-1, dtype=tf.int32)",
    )
]
