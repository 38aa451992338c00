"""Rows of `ops/linalg/einsum.py`."""

from rows import COMPLEXES, FLOATS, each, normal, row


def _pair(equation, x, y, **options):
    return row(f"tf.einsum({equation!r}, x, y)", x=normal(*x), y=normal(*y), **options)


ROWS = [
    *each(
        f"{FLOATS} {COMPLEXES} int32 int64", "tf.einsum('ij,jk->ik', a, b)", a=normal(2, 3), b=normal(3, 4)
    ),
    *each(
        f"{FLOATS} {COMPLEXES} int32 int64",
        "tf.einsum('bij,bkj->bik', a, b)",
        a=normal(2, 2, 3),
        b=normal(2, 4, 3),
    ),
    *each(f"{FLOATS} {COMPLEXES}", "tf.einsum('bii->b', a)", a=normal(3, 2, 2)),
    *each(f"{FLOATS} {COMPLEXES}", "tf.einsum('ij->', a)", a=normal(3, 2)),
    *[
        _pair(equation, x, y, dtype="float64")
        for equation, x, y in (
            ("ij,jk", (2, 3), (3, 4)),
            ("ij,kj", (2, 3), (4, 3)),
            ("i,j->ij", (2,), (3,)),
            ("i,j->ji", (2,), (3,)),
            ("i,i->", (3,), (3,)),
            ("i,i->i", (3,), (3,)),
            ("ij,ij->j", (2, 3), (2, 3)),
            ("ij,ji->i", (2, 3), (3, 2)),
            ("ijk,kl->lij", (2, 3, 4), (4, 5)),
            ("ijk,klj->il", (2, 3, 4), (4, 5, 3)),
            ("abcd,adbe->abce", (2, 3, 4, 5), (2, 5, 3, 6)),
            ("ii,ij->j", (3, 3), (3, 2)),
            ("iij,jk->ik", (3, 3, 2), (2, 4)),
            ("iij,jk->k", (3, 3, 2), (2, 4)),
            ("ijk,l->l", (2, 3, 4), (5,)),
            ("aA,Aa->a", (2, 3), (3, 2)),
            (",->", (), ()),
            (",i->i", (), (3,)),
            ("...ij,...jk->...ik", (2, 3), (3, 4)),
            ("...ij,...jk->...ik", (5, 2, 3), (5, 3, 4)),
            ("...ij,jk->...ik", (5, 2, 3), (3, 4)),
            ("ij,...jk->...ik", (2, 3), (5, 3, 4)),
            ("...ij,...jk->...ik", (5, 1, 2, 3), (6, 3, 4)),
            ("...ij,...jk->ki...", (1, 2, 3), (6, 3, 4)),
            ("i...j,j...k->...ik", (2, 5, 3), (3, 5, 4)),
            ("i...,i...->...", (2, 3), (2, 3)),
            ("...a,...b->...ab", (2, 3), (5, 1, 4)),
            ("...,...->...", (2, 3), (3,)),
            ("...ii,...i->...", (4, 3, 3), (4, 3)),
            ("a...a,b->b...", (3, 4, 3), (2,)),
            ("ij,jk->ik", (2, 0), (0, 4)),
            ("ij,jk->ik", (0, 3), (3, 4)),
        )
    ],
    row("tf.einsum('ij,jk->ik', a, b)", a=normal(70, 60), b=normal(60, 50), fd=False),
    *[
        row(f"tf.linalg.einsum({equation!r}, a)", a=normal(*shape), dtype="float64")
        for equation, shape in (
            ("ij->ji", (2, 3)),
            ("ij->j", (2, 3)),
            ("ii->i", (3, 3)),
            ("ii->", (3, 3)),
            ("ii", (3, 3)),
            ("ba", (2, 3)),
            ("iijj->ij", (2, 2, 3, 3)),
            ("iii->i", (2, 2, 2)),
            ("ijkj->ki", (2, 3, 4, 3)),
            ("...ij->...ji", (5, 4, 2, 3)),
            ("i...->...", (2, 3, 4)),
            ("i...i->...", (3, 4, 3)),
            ("i j -> j i", (2, 3)),
            ("abc->cb", (0, 3, 2)),
            ("", ()),
            ("->", ()),
        )
    ],
    row("tf.einsum('i,j,k->ijk', a, b, c)", a=normal(2), b=normal(3), c=normal(4)),
    row("tf.einsum('ij,jk,kl->il', a, b, c)", a=normal(2, 3), b=normal(3, 4), c=normal(4, 5)),
    row(
        "tf.einsum('ij,jk,kl,lm->im', a, b, c, d)",
        a=normal(2, 3),
        b=normal(3, 4),
        c=normal(4, 5),
        d=normal(5, 2),
    ),
    row(
        "tf.einsum('ij,jk,kl->il', a, b, c, optimize='optimal')",
        a=normal(2, 3),
        b=normal(3, 4),
        c=normal(4, 5),
    ),
    row(
        "tf.einsum('ij,jk,kl->il', a, b, c, optimize='auto')", a=normal(2, 3), b=normal(3, 4), c=normal(4, 5)
    ),
    row("tf.einsum('ij,jk,kl->il', a, b, c, optimize=None)", a=normal(2, 3), b=normal(3, 4), c=normal(4, 5)),
    row(
        "tf.einsum('i,ij,ij,j->', a, b, c, d, optimize='branch-2')",
        a=normal(2),
        b=normal(2, 3),
        c=normal(2, 3),
        d=normal(3),
    ),
    row("tf.einsum('...a,...b,...c->a...', a, b, c)", a=normal(2, 3), b=normal(5, 1, 4), c=normal(2, 4)),
    row("tf.einsum('i,i,i->i', a, b, c)", a=normal(3), b=normal(3), c=normal(3), dtype="complex128"),
    row("tf.raw_ops.Einsum(inputs=[a], equation='i->ii')", a=normal(3)),
    row("tf.raw_ops.Einsum(inputs=[a, b], equation='i,j->iji')", a=normal(3), b=normal(2)),
    row("tf.raw_ops.Einsum(inputs=[a], equation='a->aaa')", a=normal(3), dtype="complex64"),
    # Errors.
    row("tf.einsum('ij,jk->ik', a, b)", a=normal(2, 3), b=normal(1, 4)),
    row("tf.einsum('ij,jk->ik', a, b)", a=normal(2, 3, 4), b=normal(3, 4)),
    row("tf.einsum('ii->', a)", a=normal(3, 2)),
    row("tf.einsum('ii->i', a)", a=normal(3, 1)),
    row("tf.einsum('i->ii', a)", a=normal(3)),
    row("tf.einsum('ij,jk->iz', a, b)", a=normal(2, 3), b=normal(3, 4)),
    row("tf.einsum('...ij,...jk->ik', a, b)", a=normal(5, 2, 3), b=normal(5, 3, 4)),
    row("tf.einsum('...,...', a, b)", a=normal(2, 3), b=normal(2, 3)),
    row("tf.einsum('...ij,...jk->...ik', a, b)", a=normal(5, 2, 3), b=normal(4, 3, 4)),
    row("tf.einsum('i1,1k->ik', a, b)", a=normal(2, 3), b=normal(3, 4)),
    row("tf.einsum('ij->ji->ij', a)", a=normal(2, 3)),
    row("tf.einsum('ij')"),
    row("tf.einsum('ij,jk->ik', a)", a=normal(2, 3)),
    row("tf.einsum('ij,jk->ik', a, b, foo=1)", a=normal(2, 3), b=normal(3, 4)),
    row("tf.einsum('ij,jk,kl->il', a, b, c, optimize='foo')", a=normal(2, 3), b=normal(3, 4), c=normal(4, 5)),
    row("tf.einsum('ab,b->a', a, b)", a=normal(2, 3), b=normal(3, dtype="float64")),
    row("tf.raw_ops.Einsum(inputs=[a, b], equation='aij,jk')", a=normal(5, 2, 3), b=normal(3, 4)),
    row("tf.raw_ops.Einsum(inputs=[a], equation='aij,jk->ak')", a=normal(5, 2, 3)),
    row("tf.raw_ops.Einsum(inputs=[a, b, b], equation='aij,jk,jk->ak')", a=normal(5, 2, 3), b=normal(3, 4)),
    # TensorFlow aborts the process here.
    row("tf.raw_ops.Einsum(inputs=[a], equation='a->b')", a=normal(5), ours="raises instead of aborting"),
    # tensordot
    *each(f"{FLOATS} {COMPLEXES} int32", "tf.tensordot(a, b, 1)", a=normal(2, 3), b=normal(3, 4)),
    *[
        row(f"tf.linalg.tensordot(a, b, {axes})", a=normal(2, 3, 4), b=normal(3, 4, 5))
        for axes in (
            "0",
            "2",
            "4",
            "-1",
            "[1, 0]",
            "(2, 1)",
            "[-1, -2]",
            "[[1, 2], [0, 1]]",
            "[[2, 1], [1, 0]]",
            "[[1, 2], [0]]",
            "[[1], [1]]",
            "[[7], [0]]",
            "[1, 0, 2]",
            "'a'",
            "tf.constant([[1, 2], [0, 1]])",
            "np.array([[1, 2], [0, 1]])",
            "(tf.constant([1, 2]), tf.constant([0, 1]))",
            "tf.constant(2)",
        )
    ],
    row("tf.tensordot(a, b, 0)", a=normal(), b=normal()),
    row("tf.tensordot(a, b, 0)", a=normal(2), b=normal()),
    row("tf.tensordot([1, 2], [3, 4], 1)"),
    row("tf.tensordot(a, b, 1)", a=normal(2, 0), b=normal(0, 3)),
]
