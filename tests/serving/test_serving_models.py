"""Versions: which are loaded, how new ones take over, and what broken ones do."""

import pathlib
import shutil
import socket

import pytest
from served_models import asked, save

import headrace as tf
from headrace._src.serving.models import AVAILABLE, END, Models, ModelSettings, VersionPolicy, versions_in


def versions(policy, there):
    return VersionPolicy(*policy).wanted(there)


def test_policies():
    assert versions(("latest", 1), [1, 10, 9]) == [10]
    assert versions(("latest", 2), [1, 10, 9]) == [10, 9]
    assert versions(("all",), [1, 10, 9]) == [10, 9, 1]
    assert versions(("specific", 1, (9, 4)), [1, 10, 9]) == [9]


def test_folders_that_are_versions(tmp_path):
    for name in ("1", "2", "03", "x", "4"):
        (tmp_path / name).mkdir()
    for name in ("1", "03", "x"):
        (tmp_path / name / "saved_model.pb").write_bytes(b"")
    assert {version: pathlib.Path(path).name for version, path in versions_in(str(tmp_path)).items()} == {
        1: "1", 3: "03",
    }  # fmt: skip
    assert versions_in(str(tmp_path / "none")) == {}


class Loader:
    """Stands for loading: remembers what was loaded, and refuses some versions."""

    def __init__(self, *broken):
        self.broken = set(broken)
        self.loaded = []

    def __call__(self, name, version, path):
        if version in self.broken:
            raise tf.errors.DataLossError(None, None, "broken")
        self.loaded.append(version)
        return (name, version)


def folder_with(tmp_path, *numbers):
    for number in numbers:
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "saved_model.pb").write_bytes(b"")
    return str(tmp_path)


def test_a_new_version_takes_over(tmp_path):
    models = Models([ModelSettings("m", folder_with(tmp_path, 1))], Loader(), poll_seconds=0)
    models.start()
    assert models.find("m") == ("m", 1)
    folder_with(tmp_path, 2)
    models.look()
    assert models.find("m") == ("m", 2)
    assert [(one.version, one.state) for one in models.status("m")] == [(2, AVAILABLE), (1, END)]
    shutil.rmtree(tmp_path / "2")
    models.look()
    assert models.find("m") == ("m", 1)


def test_a_broken_version_leaves_the_old_one(tmp_path):
    loader = Loader(2)
    models = Models([ModelSettings("m", folder_with(tmp_path, 1))], loader, poll_seconds=0)
    models.start()
    folder_with(tmp_path, 2)
    models.look()
    assert models.find("m") == ("m", 1)
    (status, _) = models.status("m")
    assert (status.state, status.code, status.message) == (END, tf.errors.DATA_LOSS, "DataLossError: broken")
    loader.broken.clear()
    models.look()
    assert models.find("m") == ("m", 2)


def test_several_versions_and_labels(tmp_path):
    policy = VersionPolicy("specific", versions=(1, 3))
    settings = ModelSettings("m", folder_with(tmp_path, 1, 2, 3), policy, {"old": 1, "gone": 2})
    models = Models([settings], Loader(), poll_seconds=0)
    models.start()
    assert [models.find("m", version)[1] for version in (None, 1, 3)] == [3, 1, 3]
    assert models.find("m", label="old") == ("m", 1)
    with pytest.raises(tf.errors.NotFoundError, match=r"Specific\(m, 2\)"):
        models.find("m", 2)
    with pytest.raises(tf.errors.FailedPreconditionError, match="not available"):
        models.find("m", label="gone")
    models.reload([ModelSettings("m", str(tmp_path), VersionPolicy("all")), ModelSettings("n", str(tmp_path))])
    assert sorted(models.versions("m")) == [1, 2, 3]
    assert models.find("n") == ("n", 3)
    with pytest.raises(tf.errors.InvalidArgumentError, match="two models"):
        models.reload([settings, settings])


@pytest.mark.slow
def test_versions_switch_under_requests(tmp_path):
    save(tmp_path, 1, 1.0)
    settings = tf.serving.ServerSettings(poll_seconds=0.05, grpc_port=None)
    with tf.serving.Server(str(tmp_path), "m", settings) as server:
        url, seen = f"{server.rest_url}/v1/models/m:predict", []
        for version in (2, 3):
            save(tmp_path / "new", version, float(version))
            (tmp_path / "new" / str(version)).rename(tmp_path / str(version))
            while not seen or str(float(version)) not in seen[-1][1]:
                seen.append(asked(url, {"inputs": [[1, 0]]}))
        assert {status for status, _ in seen} == {200}
        (tmp_path / "4").mkdir()
        (tmp_path / "4" / "saved_model.pb").write_bytes(b"broken")
        while b"END" not in asked(f"{server.rest_url}/v1/models/m/versions/4")[1].encode():
            pass
        assert asked(url, {"inputs": [[1, 0]]})[0] == 200


@pytest.mark.parametrize(
    ("place", "text"),
    [("none", "no such folder"), ("empty", "no folder with a number"), ("1", "itself: give the folder that it is in"),
     ("named", "/NAME/1 and give"), ("model.keras", 'export("folder/1") makes one')],
)
def test_a_folder_without_versions_is_told(tmp_path, caplog, place, text):
    (tmp_path / "empty").mkdir()
    (tmp_path / "model.keras").write_bytes(b"")
    folder_with(tmp_path, 1)
    shutil.copytree(tmp_path / "1", tmp_path / "named")
    with caplog.at_level("WARNING", "headrace.serving"):
        Models([ModelSettings("m", str(tmp_path / place))], Loader(), poll_seconds=0).start()
    assert text in caplog.text


@pytest.mark.parametrize(("kind", "flag"), [("rest_port", "--rest_api_port"), ("grpc_port", "--port")])
def test_a_port_that_is_taken(tmp_path, kind, flag):
    save(tmp_path, 1)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ports = {"rest_port": None, "grpc_port": None, kind: taken.getsockname()[1]}
        server = tf.serving.Server(str(tmp_path), "m", tf.serving.ServerSettings(**ports))
        with pytest.raises(tf.errors.UnavailableError, match=f"cannot listen.*`{flag}`"), server:
            pass
