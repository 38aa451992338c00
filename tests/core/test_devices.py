"""Device names, against what TensorFlow 2.21 answers."""

import pickle

import pytest
from tables import check

from headrace._src.core.devices import DeviceSpec, MutableDeviceSpec, canonical_name, merged_name

NAMES = {
    "DeviceSpec": DeviceSpec,
    "d": DeviceSpec(job="w", replica=1, task=2, device_type="gpu", device_index=3),
}

ROWS = [
    ("d", "<DeviceSpec(job=w, replica=1, task=2, device_type=GPU, device_index=3)>"),
    ("d.to_string()", "'/job:w/replica:1/task:2/device:GPU:3'"),
    ("DeviceSpec()", "<DeviceSpec(job=None, replica=None, task=None, device_type=None, device_index=None)>"),
    ("DeviceSpec().to_string()", "''"),
    ('DeviceSpec(device_type="CPU").to_string()', "'/device:CPU:*'"),
    ("DeviceSpec(device_index=1).to_string()", "''"),
    ('DeviceSpec(device_type="cpu").device_type', "'CPU'"),
    ('DeviceSpec(device_type="foo").device_type', "'foo'"),
    ("DeviceSpec(job=3).to_string()", "'/job:3'"),
    ('DeviceSpec(replica="1").replica', "1"),
    ('DeviceSpec(replica="x")', ValueError),
    ("DeviceSpec(task=1.7).task", "1"),
    (
        'DeviceSpec.from_string("/job:a/replica:1/task:2/device:GPU:3")',
        "<DeviceSpec(job=a, replica=1, task=2, device_type=GPU, device_index=3)>",
    ),
    (
        'DeviceSpec.from_string("/gpu:0")',
        "<DeviceSpec(job=None, replica=None, task=None, device_type=GPU, device_index=0)>",
    ),
    (
        'DeviceSpec.from_string("/CPU:0")',
        "<DeviceSpec(job=None, replica=None, task=None, device_type=CPU, device_index=0)>",
    ),
    (
        'DeviceSpec.from_string("Cpu:0")',
        "<DeviceSpec(job=None, replica=None, task=None, device_type=CPU, device_index=0)>",
    ),
    (
        'DeviceSpec.from_string("cpu")',
        "<DeviceSpec(job=None, replica=None, task=None, device_type=CPU, device_index=None)>",
    ),
    (
        'DeviceSpec.from_string("gpu:*")',
        "<DeviceSpec(job=None, replica=None, task=None, device_type=GPU, device_index=None)>",
    ),
    (
        'DeviceSpec.from_string("/device:GPU:*")',
        "<DeviceSpec(job=None, replica=None, task=None, device_type=GPU, device_index=None)>",
    ),
    (
        'DeviceSpec.from_string("/device:cpu:0")',
        "<DeviceSpec(job=None, replica=None, task=None, device_type=CPU, device_index=0)>",
    ),
    (
        'DeviceSpec.from_string("/device:XLA_CPU:0")',
        "<DeviceSpec(job=None, replica=None, task=None, device_type=XLA_CPU, device_index=0)>",
    ),
    (
        'DeviceSpec.from_string("/device:foo:1")',
        "<DeviceSpec(job=None, replica=None, task=None, device_type=foo, device_index=1)>",
    ),
    (
        'DeviceSpec.from_string("/tpu:1")',
        "<DeviceSpec(job=None, replica=None, task=None, device_type=TPU, device_index=1)>",
    ),
    (
        'DeviceSpec.from_string("custom:1")',
        "<DeviceSpec(job=None, replica=None, task=None, device_type=CUSTOM, device_index=1)>",
    ),
    (
        'DeviceSpec.from_string("")',
        "<DeviceSpec(job=None, replica=None, task=None, device_type=None, device_index=None)>",
    ),
    (
        'DeviceSpec.from_string("/")',
        "<DeviceSpec(job=None, replica=None, task=None, device_type=None, device_index=None)>",
    ),
    (
        "DeviceSpec.from_string(None)",
        "<DeviceSpec(job=None, replica=None, task=None, device_type=None, device_index=None)>",
    ),
    (
        'DeviceSpec.from_string("/job:")',
        "<DeviceSpec(job=, replica=None, task=None, device_type=None, device_index=None)>",
    ),
    (
        'DeviceSpec.from_string("/job:a//task:1")',
        "<DeviceSpec(job=a, replica=None, task=1, device_type=None, device_index=None)>",
    ),
    (
        'DeviceSpec.from_string("/job:a/job:b")',
        "<DeviceSpec(job=b, replica=None, task=None, device_type=None, device_index=None)>",
    ),
    ('DeviceSpec.from_string("/job")', ValueError),
    ('DeviceSpec.from_string("/device:GPU")', ValueError),
    ('DeviceSpec.from_string("/device:GPU:0:1")', ValueError),
    ('DeviceSpec.from_string("/task:x")', ValueError),
    ('DeviceSpec.from_string("/job:*/task:*")', ValueError),
    ('DeviceSpec.from_string("/foo:1")', ValueError),
    ('DeviceSpec.from_string("/TPU_SYSTEM:0")', ValueError),
    ('DeviceSpec.from_string("/gpu:0/cpu:0")', ValueError),
    ('DeviceSpec.from_string("foo")', ValueError),
    ('DeviceSpec.from_string("cpu:")', ValueError),
    ("d.replace(task=5).to_string()", "'/job:w/replica:1/task:5/device:GPU:3'"),
    ("d.replace(job=None).to_string()", "'/replica:1/task:2/device:GPU:3'"),
    ("d.replace(foo=1)", TypeError),
    ('d.make_merged_spec(DeviceSpec(job="x", task=9)).to_string()', "'/job:x/replica:1/task:9/device:GPU:3'"),
    (
        'DeviceSpec(job="x").make_merged_spec(DeviceSpec(device_type="GPU")).to_string()',
        "'/job:x/device:GPU:*'",
    ),
    ('d.parse_from_string("/job:z").to_string()', "'/job:z'"),
    ("(d.job, d.replica, d.task, d.device_type, d.device_index)", "('w', 1, 2, 'GPU', 3)"),
    ('d == DeviceSpec(job="w", replica=1, task=2, device_type="GPU", device_index=3)', "True"),
    ("d == d.to_string()", "False"),
    ("d != DeviceSpec()", "True"),
    ("hash(d) == hash(d.replace())", "True"),
    ('setattr(d, "job", "q")', AttributeError),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "expected"), ROWS)
def test_as_tensorflow(expression, expected):
    check(expression, expected, NAMES)


def test_the_mutable_spec_of_version_1():
    spec = MutableDeviceSpec(job="a")
    spec.merge_from(MutableDeviceSpec(task=1))
    assert spec.to_string() == "/job:a/task:1"
    spec.job = "b"
    assert spec.to_string() == "/job:b/task:1"
    assert spec.parse_from_string("/cpu:1") is spec
    assert spec.to_string() == "/device:CPU:1"
    spec.device_type, spec.device_index, spec.replica, spec.task = "gpu", None, "2", None
    assert spec.to_string() == "/replica:2/device:GPU:*"


HOST = "/job:localhost/replica:0/task:0/device:CPU:0"


@pytest.mark.parametrize(
    ("device", "name"),
    [
        (None, HOST),
        ("", HOST),
        ("cpu", HOST),
        ("/CPU:0", HOST),
        ("/job:localhost", HOST),
        (DeviceSpec(device_type="CPU"), HOST),
        ("gpu:1", "/job:localhost/replica:0/task:0/device:GPU:1"),
        ("/job:foo/task:3", "/job:foo/replica:0/task:3/device:CPU:0"),
    ],
)
def test_canonical_names(device, name):
    assert canonical_name(device) == name


def test_nested_devices_merge():
    assert merged_name("/job:w/gpu:2", "/task:1") == "/job:w/replica:0/task:1/device:GPU:2"
    assert merged_name("/gpu:2", None) == "/job:localhost/replica:0/task:0/device:GPU:2"
    assert merged_name(None, "/cpu:0") == HOST
    with pytest.raises(ValueError, match="Expecting a string device name"):
        merged_name(None, 3)
    with pytest.raises(ValueError, match="'junk'"):
        merged_name(None, "junk")


def test_pickle():
    spec = DeviceSpec.from_string("/job:a/gpu:*")
    assert pickle.loads(pickle.dumps(spec)) == spec
