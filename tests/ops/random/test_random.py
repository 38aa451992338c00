"""Random numbers beyond the rows: distributions, streams, threads, ThreeFry, equal bits from both tiers."""

import threading

import numpy as np
import pytest
from scipy import stats

import headrace as tf
from headrace._src.core.random_state import random_state
from headrace._src.ops.random import lowering as random_lowering
from headrace._src.ops.random import samplers as random_samplers
from headrace._src.ops.random.bits import Philox, ThreeFry

STREAM = Philox.from_seed_pair([1, 2])
COUNT = 40_000

# Each sampler with the distribution function that it should have; seeds are fixed, so results are too.
CONTINUOUS = {
    "uniform": (lambda: tf.random.stateless_uniform([COUNT], [1, 2], -1.0, 3.0), stats.uniform(-1, 4)),
    "normal": (lambda: tf.random.stateless_normal([COUNT], [1, 2], 2.0, 3.0), stats.norm(2, 3)),
    "normal64": (lambda: tf.random.stateless_normal([COUNT], [1, 2], dtype=tf.float64), stats.norm()),
    "truncated": (lambda: tf.random.stateless_truncated_normal([COUNT], [1, 2]), stats.truncnorm(-2, 2)),
    "bounded": (
        lambda: tf.random.stateless_parameterized_truncated_normal([COUNT], [1, 2], 1.0, 2.0, 2.0, 9.0),
        stats.truncnorm(0.5, 4, loc=1, scale=2),
    ),
    "bounded, many sets": (
        lambda: tf.reshape(
            tf.random.stateless_parameterized_truncated_normal([COUNT // 40, 40], [1, 2], tf.zeros([40])),
            [-1],
        ),
        stats.truncnorm(-2, 2),
    ),
    "gamma 0.3": (lambda: tf.random.stateless_gamma([COUNT], [1, 2], 0.3), stats.gamma(0.3)),
    "gamma 1": (lambda: tf.random.stateless_gamma([COUNT], [1, 2], 1.0), stats.gamma(1)),
    "gamma 5": (lambda: tf.random.stateless_gamma([COUNT], [1, 2], 5.0, 2.0), stats.gamma(5, scale=0.5)),
    "threefry uniform": (
        lambda: tf.random.stateless_uniform([COUNT], [1, 2], alg="threefry"),
        stats.uniform(),
    ),
    "threefry normal": (lambda: tf.random.stateless_normal([COUNT], [1, 2], alg="threefry"), stats.norm()),
    "threefry truncated": (
        lambda: tf.random.stateless_truncated_normal([COUNT], [1, 2], alg="threefry"),
        stats.truncnorm(-2, 2),
    ),
}


@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous_distribution(name):
    draw, expected = CONTINUOUS[name]
    numbers = draw().numpy().astype(np.float64)
    assert stats.kstest(numbers, expected.cdf).pvalue > 1e-3
    assert numbers.mean() == pytest.approx(expected.mean(), abs=5 * expected.std() / COUNT**0.5)


DISCRETE = {
    "poisson 3": (lambda: tf.random.stateless_poisson([COUNT], [1, 2], 3.0), stats.poisson(3)),
    "poisson 50": (lambda: tf.random.stateless_poisson([COUNT], [1, 2], 50.0), stats.poisson(50)),
    "binomial few": (lambda: tf.random.stateless_binomial([COUNT], [1, 2], 10.0, 0.3), stats.binom(10, 0.3)),
    "binomial many": (lambda: tf.random.stateless_binomial([COUNT], [1, 2], 90.0, 0.7), stats.binom(90, 0.7)),
    "integers": (
        lambda: tf.random.stateless_uniform([COUNT], [1, 2], 3, 20, tf.int32),
        stats.randint(3, 20),
    ),
    "categorical": (
        lambda: tf.random.stateless_categorical(tf.math.log([[0.1, 0.2, 0.7]]), COUNT, [1, 2])[0],
        stats.rv_discrete(values=([0, 1, 2], [0.1, 0.2, 0.7])),
    ),
}


@pytest.mark.parametrize("name", DISCRETE)
def test_discrete_distribution(name):
    draw, expected = DISCRETE[name]
    values, counts = np.unique(draw().numpy(), return_counts=True)
    wanted = expected.pmf(values) * COUNT
    common = wanted > 5
    ratio = counts[common].sum() / wanted[common].sum()
    assert stats.chisquare(counts[common], wanted[common] * ratio).pvalue > 1e-3
    assert counts[~common].sum() < 0.01 * COUNT


def test_every_order_is_as_likely():
    orders = {}
    for i in range(6000):
        order = tuple(random_samplers.shuffled(STREAM.skip(i), np.arange(3)).tolist())
        orders[order] = orders.get(order, 0) + 1
    assert len(orders) == 6
    assert stats.chisquare(list(orders.values())).pvalue > 1e-3


def _order_of_single_swaps(size):
    order = list(range(size))
    for i, word in enumerate(STREAM.words(size - 1).tolist()):
        other = i + word % (size - i)
        order[i], order[other] = order[other], order[i]
    return np.array(order)


@pytest.mark.parametrize("size", [2, 255, 4095, 4096, 4097])
@pytest.mark.parametrize("dtype", ["int8", "float16", "int32", "float32", "int64", "complex64", "complex128", "O"])
def test_shuffle_is_the_one_of_single_swaps(size, dtype):
    values = np.arange(size).astype(dtype)
    order = _order_of_single_swaps(size)
    assert random_samplers.shuffled(STREAM, values).tolist() == values[order].tolist()
    rows = np.stack([values, values + 1], 1)
    assert random_samplers.shuffled(STREAM, rows).tolist() == rows[order].tolist()
    assert random_samplers.shuffled(STREAM, rows[:, 1]).tolist() == rows[order, 1].tolist()


def test_shuffle_in_parts_is_the_one_of_single_swaps(monkeypatch):
    monkeypatch.setattr(random_samplers, "MANY", 1000)
    assert np.array_equal(random_samplers.shuffled(STREAM, np.arange(5000)), _order_of_single_swaps(5000))


def test_shuffle_moves_bits_that_are_no_usual_number():
    """Signalling NaN and numbers that are not normal: LAPACK only moves them."""
    bits = np.arange(5000, dtype=np.uint32) * 0x10001 + 0x7F800000
    assert np.array_equal(random_samplers.shuffled(STREAM, bits), bits[_order_of_single_swaps(5000)])


def test_index_shuffle_is_a_permutation_for_powers_of_four():
    places = tf.random_index_shuffle(tf.range(65537), [1, 2, 3], 65536).numpy()
    assert sorted(places) == list(range(65537))


@pytest.mark.parametrize("counter", [0, 2**32 - 5, 2**64 - 5, 2**128 - 5, 7 * 2**64 + 2**63])
def test_philox_counters_carry(counter):
    stream = Philox(0x123456789ABCDEF0, counter)
    one_by_one = np.array([stream.block(i) for i in range(40)])
    np.testing.assert_array_equal(stream.blocks(40), one_by_one)
    np.testing.assert_array_equal(stream.blocks_at(np.arange(40, dtype=np.uint64)), one_by_one)
    np.testing.assert_array_equal(stream.skip(7).blocks(33), one_by_one[7:])


def test_large_tensors_are_made_of_the_same_stream_as_small_ones():
    size = 70_001
    whole = random_samplers.normal(STREAM, (size,), np.float32)
    for i in (0, 40_000, 65_536, 69_996):
        piece = random_samplers.normal(STREAM.skip(i // 4), (4,), np.float32)
        np.testing.assert_array_equal(whole[i : i + 4], piece)


# What TensorFlow 2.21 gives in a function with jit_compile=True, seed (1, 2), shape (3, 5), at the beginning.
XLA = {
    "uniform": {
        "float16": [0.7998046875, 0.72265625, 0.5498046875, 0.7353515625],
        "float32": [0.14646708965301514, 0.5456582307815552, 0.5288630723953247, 0.282084584236145],
        "float64": [0.5456582839010438, 0.28208464047146564, 0.6454471243984237, 0.2047234730695],
    },
    "normal": {
        "float16": [-0.658203125, -0.11529541015625, -1.0888671875, -0.10394287109375],
        "float32": [-0.5546244978904724, -1.8799735307693481, 1.1058804988861084, -0.22600825130939484],
        "float64": [1.0784023754147563, -0.2203928818105731, 0.8981377684573291, 0.262626200761973],
    },
    "truncated_normal": {
        "float32": [-0.98401939868927, 0.10945896804332733, 0.06911209225654602, -0.5475519895553589],
        "float64": [0.10945910016828816, -0.5475517993389396, 0.3553311573175068, -0.7784271030195802],
    },
}


@pytest.mark.parametrize(("name", "dtype"), [(name, dtype) for name, rows in XLA.items() for dtype in rows])
def test_threefry_floats(name, dtype):
    function = getattr(tf.random, f"stateless_{name}")
    numbers = function((3, 5), [1, 2], dtype=dtype, alg="threefry").numpy()
    ulps = {"uniform": 0, "normal": 2, "truncated_normal": 8}[name]
    np.testing.assert_array_max_ulp(numbers.ravel()[:4], np.array(XLA[name][dtype], dtype), ulps)


def test_threefry_integers():
    for dtype, wanted in (
        ("uint32", [629071667, 2343584484, 2271449651, 1211544305]),
        ("int64", [-8381125358887444685, 5203543169901498931, -6540346156820057177, 3776481513594039979]),
    ):
        numbers = tf.random.stateless_uniform((3, 5), [1, 2], None, None, dtype, alg="threefry")
        assert numbers.numpy().ravel()[:4].tolist() == wanted
    ranged = tf.random.stateless_uniform((3, 5), [1, 2], -5, 100, tf.int32, alg="threefry")
    assert ranged.numpy().ravel()[:4].tolist() == [72, 19, 81, 15]


@pytest.mark.parametrize(
    ("shape", "last"),
    [
        ((), [629071667]),
        ((3,), [629071667, 2343584484, 2271449651]),
        ((4, 3), [879280621, 2639159036, 3771441878]),
        ((5, 7, 3), [3545823870, 1139760250, 3017331063]),
        ((2, 3, 4), [2776150419, 3174105126, 1126274938]),
    ],
)
def test_threefry_layout(shape, last):
    words = ThreeFry(1 | 2 << 32, 0).words32(shape)
    assert words.shape == shape
    assert words.ravel()[-3:].tolist() == last


def test_threefry_generator():
    # As TensorFlow 2.21 with jit_compile=True.
    g = tf.random.Generator.from_seed(1234, alg="threefry")
    np.testing.assert_allclose(g.normal((2, 3)).numpy()[0], [-0.04759158, 0.6760273, -0.82232153], rtol=1e-6)
    np.testing.assert_allclose(g.uniform((2, 3)).numpy()[1], [0.49852264, 0.7539674, 0.02417886], rtol=3e-7)
    assert g.uniform_full_int((2,)).numpy().tolist() == [15934315838848854319, 16150623440296149585]
    assert g.make_seeds(2).numpy()[0].tolist() == [-4926944070353003557, 26322629542600267]
    assert g.state.numpy().tolist() == [5330, 0]
    assert [part.state.shape[0] for part in g.split(3)] == [2, 2, 2]


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("sampler", ["uniform", "normal", "truncated_normal"])
def test_both_tiers_give_the_same_bits(sampler, dtype):
    import jax

    np_dtype = tf.as_dtype(dtype).as_numpy_dtype
    with jax.enable_x64(True):
        key, counter = random_lowering.scramble(jax.numpy.array([1, 2]))
        draw = lambda: getattr(random_lowering, sampler)(
            random_lowering.Philox(key, counter), (20_001,), np.dtype(np_dtype)
        )
        lowered = np.asarray(jax.jit(draw)())
    eager = getattr(random_samplers, sampler)(STREAM, (20_001,), np.dtype(np_dtype))
    np.testing.assert_array_equal(lowered.view(f"u{lowered.itemsize}"), eager.view(f"u{eager.itemsize}"))


def test_seed_is_shared_by_threads():
    tf.random.set_seed(7)
    expected = [tf.random.uniform((2,)).numpy() for _ in range(2)]
    tf.random.set_seed(7)
    first = tf.random.uniform((2,)).numpy()
    found = []
    thread = threading.Thread(target=lambda: found.append(tf.random.uniform((2,)).numpy()))
    thread.start()
    thread.join()
    np.testing.assert_array_equal([first, found[0]], expected)


def test_streams_of_drawn_seeds_are_not_kept():
    tf.random.set_seed(7)
    for _ in range(50):
        tf.random.uniform((2,))
        tf.random.uniform_candidate_sampler([[1]], 1, 2, True, 9)
    assert not random_state._streams
    tf.random.uniform((2,), seed=1)
    tf.random.uniform((3,), seed=1)
    assert len(random_state._streams) == 1


def test_without_seeds_numbers_differ():
    tf.random.set_seed(None)
    first, second = tf.random.uniform((4,)).numpy(), tf.random.uniform((4,)).numpy()
    assert not np.array_equal(first, second)
    tf.random.set_seed(None)
    assert not np.array_equal(tf.random.uniform((4,)).numpy(), first)


def test_determinism_wants_a_seed(monkeypatch):
    tf.random.set_seed(None)
    monkeypatch.setattr(random_state, "deterministic", True)
    with pytest.raises(RuntimeError, match="seed"):
        tf.random.uniform((2,))
    with pytest.raises(RuntimeError, match="determinism"):
        tf.random.Generator.from_non_deterministic_state()
    tf.random.uniform((2,), seed=1)


def test_generator_draws_are_atomic():
    g = tf.random.Generator.from_seed(5)
    seen = []

    def work():
        for _ in range(50):
            seen.append(g.uniform_full_int((), tf.int64).numpy())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(seen)) == 200


def test_gamma_gradient_is_the_slope_of_the_quantile():
    # At a fixed quantile, x(a) is the inverse distribution function: its slope is what the gradient must be.
    for alpha in (0.2, 1.0, 7.0):
        a = tf.constant(alpha, tf.float64)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(a)
            x = tf.random.stateless_gamma([50], [1, 2], a, dtype=tf.float64)
        slopes = tape.jacobian(x, a, experimental_use_pfor=False).numpy()
        quantiles = stats.gamma(alpha).cdf(x.numpy())
        h = 1e-5 * alpha
        wanted = (stats.gamma(alpha + h).ppf(quantiles) - stats.gamma(alpha - h).ppf(quantiles)) / (2 * h)
        np.testing.assert_allclose(slopes, wanted, rtol=1e-4, atol=1e-9)


def test_bad_gamma_parameters_give_nan():
    result = tf.random.stateless_gamma([2, 3], [1, 2], [np.nan, -5.0, 2.0]).numpy()
    assert np.isnan(result[:, :2]).all()
    assert np.isfinite(result[:, 2]).all()
    rates = tf.random.stateless_poisson([2, 2], [1, 2], [np.nan, 3.0], tf.float32).numpy()
    assert np.isnan(rates[:, 0]).all()
    assert np.isfinite(rates[:, 1]).all()


def test_vocabulary_file(tmp_path):
    path = tmp_path / "words.csv"
    path.write_text("a,1\nb,0\nc,3\n")
    tf.random.set_seed(1)
    candidates, _, counts = tf.random.fixed_unigram_candidate_sampler(
        [[0]], 1, 400, False, 3, vocab_file=str(path), seed=2
    )
    frequencies = np.bincount(candidates.numpy(), minlength=3)
    assert frequencies[1] == 0
    assert frequencies[2] / frequencies[0] == pytest.approx(3, rel=0.3)
    np.testing.assert_allclose(counts.numpy(), np.where(candidates.numpy() == 0, 100, 300))
    path.write_text("a,x\n")
    with pytest.raises(tf.errors.InvalidArgumentError, match="vocab_file"):
        tf.random.fixed_unigram_candidate_sampler([[0]], 1, 4, False, 1, vocab_file=str(path))


def test_too_improbable_bounds_are_an_error_and_no_endless_loop():
    with pytest.raises(tf.errors.InternalError):
        tf.random.stateless_parameterized_truncated_normal([3], [1, 2], np.float32(np.nan), 1.0, -2.0, 2.0)
