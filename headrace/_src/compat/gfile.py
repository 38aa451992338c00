"""`tf.gfile` of 1.x: the functions of `tf.io.gfile` under their old names."""

from typing import TYPE_CHECKING, Any

from headrace._src.op.api import api
from headrace._src.state import gfile

if TYPE_CHECKING:
    from headrace._src.formats.local_files import FileStatistics


@api("compat.v1.gfile.Exists", dispatch=False)
def Exists(filename) -> bool:
    """See `tf.io.gfile.exists`."""
    return gfile.exists(filename)


@api("compat.v1.gfile.IsDirectory", dispatch=False)
def IsDirectory(dirname) -> bool:
    """See `tf.io.gfile.isdir`."""
    return gfile.isdir(dirname)


@api("compat.v1.gfile.Stat", dispatch=False)
def Stat(filename) -> "FileStatistics":
    """See `tf.io.gfile.stat`."""
    return gfile.stat(filename)


@api("compat.v1.gfile.ListDirectory", dispatch=False)
def ListDirectory(dirname) -> list[str]:
    """See `tf.io.gfile.listdir`."""
    return gfile.listdir(dirname)


@api("compat.v1.gfile.MkDir", dispatch=False)
def MkDir(dirname) -> None:
    """See `tf.io.gfile.mkdir`."""
    gfile.mkdir(dirname)


@api("compat.v1.gfile.MakeDirs", dispatch=False)
def MakeDirs(dirname) -> None:
    """See `tf.io.gfile.makedirs`."""
    gfile.makedirs(dirname)


@api("compat.v1.gfile.Remove", dispatch=False)
def Remove(filename) -> None:
    """See `tf.io.gfile.remove`."""
    gfile.remove(filename)


@api("compat.v1.gfile.DeleteRecursively", dispatch=False)
def DeleteRecursively(dirname) -> None:
    """See `tf.io.gfile.rmtree`."""
    gfile.rmtree(dirname)


@api("compat.v1.gfile.Copy", dispatch=False)
def Copy(oldpath, newpath, overwrite=False) -> None:
    """See `tf.io.gfile.copy`."""
    gfile.copy(oldpath, newpath, overwrite)


@api("compat.v1.gfile.Rename", dispatch=False)
def Rename(oldname, newname, overwrite=False) -> None:
    """See `tf.io.gfile.rename`."""
    gfile.rename(oldname, newname, overwrite)


@api("compat.v1.gfile.Glob", dispatch=False)
def Glob(filename) -> list[str]:
    """See `tf.io.gfile.glob`."""
    return gfile.glob(filename)


@api("compat.v1.gfile.Walk", dispatch=False)
def Walk(top, in_order=True) -> Any:
    """See `tf.io.gfile.walk`; `in_order` is its `topdown`."""
    return gfile.walk(top, in_order)
