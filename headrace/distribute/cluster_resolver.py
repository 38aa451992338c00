"""The public names of `tf.distribute.cluster_resolver`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.distribute.cluster_managers import ExecutableLocation as _KubernetesExecutableLocation
    from headrace._src.distribute.cluster_managers import KubernetesClusterResolver as KubernetesClusterResolver
    from headrace._src.distribute.cluster_managers import SlurmClusterResolver as SlurmClusterResolver
    from headrace._src.distribute.cluster_resolvers import ClusterResolver as ClusterResolver
    from headrace._src.distribute.cluster_resolvers import SimpleClusterResolver as SimpleClusterResolver
    from headrace._src.distribute.cluster_resolvers import TFConfigClusterResolver as TFConfigClusterResolver
    from headrace._src.distribute.cluster_resolvers import UnionClusterResolver as _UnionResolver
    from headrace._src.distribute.tpus import TPUClusterResolver as TPUClusterResolver
    KubernetesExecutableLocation = _KubernetesExecutableLocation
    UnionResolver = _UnionResolver
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
