"""What tests of old versions share: the files that they wrote, unpacked once."""

import fixtures
import pytest

import headrace as tf

tf.install_as_tensorflow()


@pytest.fixture(scope="session")
def old_version(tmp_path_factory):
    """A function from the name of a version to the folder with what it wrote."""
    folders = {}

    def folder(version):
        if version not in folders:
            folders[version] = fixtures.unpack_old_version(version, tmp_path_factory.mktemp(f"old_{version}"))
        return folders[version]

    return folder
