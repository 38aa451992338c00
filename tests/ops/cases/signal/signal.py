"""Rows of `ops/signal/fourier.py`, `ops/signal/framing.py`, `ops/signal/window_functions.py`, `ops/signal/cosine_transforms.py`, `ops/signal/mel.py`."""

from rows import COMPLEXES, each, integers, normal, row

_REAL = "float32 float64"
_CUT = "TF's gradient fails for signals that are cut off"
_NO_GRADIENT = "TF has no gradient of real transforms along three axes"
_NONE = "TF's CPU has no kernel"

ROWS = [
    # Complex transforms
    *[
        row(f"tf.signal.{name}(a)", a=normal(2, 3, 4), dtype=dtype)
        for name in ("fft", "ifft", "fft2d", "ifft2d", "fft3d", "ifft3d")
        for dtype in COMPLEXES.split()
    ],
    *[
        row("tf.signal.fft(a)", a=normal(*shape), dtype="complex64")
        for shape in ((1,), (5,), (0,), (2, 0), (0, 2), ())
    ],
    *[
        row("tf.signal.fft2d(a)", a=normal(*shape), dtype="complex64")
        for shape in ((4,), (0, 2), (5, 7), (1, 1))
    ],
    row("tf.signal.fft3d(a)", a=normal(4, 2), dtype="complex64"),
    row("tf.signal.ifft3d(a)", a=normal(2, 2, 2, 3), dtype="complex128"),
    row("tf.signal.fft(a)", a=normal(4)),
    row("tf.signal.fft([1, 2, 3])"),
    row("tf.signal.ifft([1.0, 2.0, 3.0])"),
    # Real transforms
    *[
        row(f"tf.signal.{name}(a)", a=normal(*shape), dtype=dtype)
        for name, shape in (
            ("rfft", (3, 6)),
            ("rfft", (5,)),
            ("rfft", (1,)),
            ("rfft2d", (2, 4, 6)),
            ("rfft2d", (3, 5)),
        )
        for dtype in _REAL.split()
    ],
    *[
        row(f"tf.signal.{name}(a)", a=normal(*shape), dtype=dtype)
        for name, shape in (
            ("irfft", (3, 4)),
            ("irfft", (2,)),
            ("irfft2d", (2, 4, 4)),
        )
        for dtype in COMPLEXES.split()
    ],
    *[row(f"tf.signal.rfft(a, [{n}])", a=normal(2, 5)) for n in (5, 6, 8, 11)],
    *[row(f"tf.signal.rfft(a, [{n}])", a=normal(2, 5), grad=False) for n in (1, 2, 3, 4)],
    *[row(f"tf.signal.rfft(a, [{n}])", a=normal(2, 5), ours=_CUT) for n in (1, 2, 3, 4)],
    *[row(f"tf.signal.irfft(a, [{n}])", a=normal(2, 4), dtype="complex64") for n in (6, 7, 9)],
    *[
        row(f"tf.signal.irfft(a, [{n}])", a=normal(2, 4), dtype="complex64", grad=False)
        for n in (1, 2, 5, 10)
    ],
    *[row(f"tf.signal.irfft(a, [{n}])", a=normal(2, 4), dtype="complex64", ours=_CUT) for n in (1, 2, 5, 10)],
    row("tf.signal.rfft2d(a, [8, 7])", a=normal(4, 6)),
    row("tf.signal.rfft2d(a, [3, 5])", a=normal(4, 6), grad=False),
    row("tf.signal.rfft2d(a, [3, 5])", a=normal(4, 6), ours=_CUT),
    row("tf.signal.irfft2d(a, [4, 7])", a=normal(4, 4), dtype="complex64"),
    row("tf.signal.irfft2d(a, [2, 3])", a=normal(4, 4), dtype="complex64", grad=False),
    row("tf.signal.rfft3d(a, [3, 4, 5])", a=normal(2, 3, 4), grad=False),
    row("tf.signal.irfft3d(a, [2, 3, 5])", a=normal(2, 3, 3), dtype="complex128", grad=False),
    *[
        row("tf.signal.rfft3d(a)", a=normal(*shape), dtype=dtype, grad=grad, ours=ours)
        for shape in ((2, 4, 6), (2, 3, 2, 5))
        for dtype in _REAL.split()
        for grad, ours in ((False, None), (True, _NO_GRADIENT))
    ],
    *[
        row("tf.signal.irfft3d(a)", a=normal(2, 3, 3), dtype=dtype, grad=grad, ours=ours)
        for dtype in COMPLEXES.split()
        for grad, ours in ((False, None), (True, _NO_GRADIENT))
    ],
    row("tf.signal.rfft([1.0, 2.0, 3.0])"),
    row("tf.signal.rfft(a, tf.constant([6]))", a=normal(6)),
    row("tf.signal.rfft(a, np.array([6]))", a=normal(6)),
    row("tf.signal.rfft(a, 3)", a=normal(4)),
    row("tf.signal.rfft(a, [3, 3])", a=normal(4)),
    row("tf.signal.rfft(a, [-1])", a=normal(4)),
    row("tf.signal.rfft(a, [0])", a=normal(4), ours="raises instead of aborting"),
    row("tf.signal.irfft(a)", a=normal(1), dtype="complex64", ours="raises instead of aborting"),
    *[row("tf.signal.rfft(a)", a=normal(*shape), grad=False) for shape in ((0,), (2, 0), (0, 2), ())],
    row("tf.signal.rfft(a)", a=normal(4), dtype="float16"),
    row("tf.signal.rfft(a)", a=normal(4), dtype="int32"),
    row("tf.signal.irfft(a)", a=normal(4)),
    row("tf.signal.rfft2d(a)", a=normal(4)),
    row("tf.raw_ops.RFFT(input=a, fft_length=[4])", a=normal(4), fd=False),  # complex64 only
    row("tf.raw_ops.RFFT(input=a, fft_length=[6])", a=normal(4)),
    row("tf.raw_ops.RFFT(input=a, fft_length=[3], Tcomplex=tf.complex128)", a=normal(4)),
    row("tf.raw_ops.RFFT(input=a, fft_length=3)", a=normal(4)),
    row("tf.raw_ops.IRFFT(input=a, fft_length=[10])", a=normal(4), dtype="complex64"),
    # Any axes
    *[
        row(f"tf.signal.{name}(a{options})", a=normal(2, 3, 4), dtype=dtype, ours=_NONE)
        for name, dtypes in (
            ("fftnd", COMPLEXES),
            ("ifftnd", COMPLEXES),
            ("rfftnd", _REAL),
            ("irfftnd", COMPLEXES),
        )
        for dtype in dtypes.split()
        for options in (
            "",
            ", axes=[0]",
            ", axes=[2, 0]",
            ", fft_length=[4, 3]",
            ", fft_length=[2, 5], axes=[0, -1]",
            ", norm='ortho'",
            ", norm='forward', axes=[1]",
            ", norm='backward'",
        )
    ],
    *[
        row(f"tf.signal.fftnd(a, {options})", a=normal(2, 3), dtype="complex64", ours=_NONE)
        for options in (
            "norm='other'",
            "axes=[0, 0]",
            "axes=[5]",
            "fft_length=[0]",
            "fft_length=[1, 2], axes=[0]",
        )
    ],
    row("tf.fftnd(a, [2, 3], [0, 1])", a=normal(2, 3), dtype="complex64", ours=_NONE),
    row("tf.ifftnd(a, [2, 3], [0, 1])", a=normal(2, 3), dtype="complex64", ours=_NONE),
    row("tf.rfftnd(a, [2, 3], [0, 1])", a=normal(2, 3), ours=_NONE, fd=False),
    row("tf.irfftnd(a, [2, 4], [0, 1])", a=normal(2, 3), dtype="complex64", ours=_NONE, fd=False),
    # Shifts
    *[
        row(f"tf.signal.{name}(a{axes})", a=normal(4, 5))
        for name in ("fftshift", "ifftshift")
        for axes in ("", ", axes=0", ", axes=(1,)", ", axes=[0, 1]", ", axes=[-1]", ", axes=(0, 5)")
    ],
    row("tf.signal.fftshift([1, 2, 3, 4, 5])"),
    # Frames
    *[
        row(f"tf.signal.frame(a, {length}, {step}, pad_end={end})", a=normal(2, n))
        for n in (10, 3)
        for length, step in ((4, 3), (2, 5), (3, 3))
        for end in (False, True)
    ],
    row("tf.signal.frame(a, 4, 3, axis=1)", a=normal(2, 10, 3)),
    row("tf.signal.frame(a, 4, 3, axis=0, pad_end=True, pad_value=2.0)", a=normal(10, 3)),
    row("tf.signal.frame(a, 4, 3, pad_end=True, pad_value=7)", a=integers(0, 9, 2, 10)),
    row("tf.signal.frame(a, tf.constant(4), tf.constant(3))", a=normal(10)),
    row("tf.signal.frame([1, 2, 3, 4], 2, 2)"),
    *[row("tf.signal.frame(a, 4, 3)", a=normal(*shape), grad=False) for shape in ((0,), (0, 5), ())],
    row("tf.signal.frame(a, 4, 3, pad_end=True)", a=normal(0), grad=False),
    *[
        row(f"tf.signal.frame(a, {options})", a=normal(2, 10))
        for options in ("0, 3", "4, 0", "-1, 3", "[4], 3", "4, 3, axis=5")
    ],
    *[row(f"tf.signal.overlap_and_add(a, {step})", a=normal(2, 3, 4)) for step in (1, 2, 3, 4, 5, 6)],
    row("tf.signal.overlap_and_add(a, 2)", a=normal(3, 4), dtype="float64"),
    row("tf.signal.overlap_and_add(a, 2)", a=integers(0, 9, 3, 4)),
    row("tf.signal.overlap_and_add(a, 2)", a=normal(2, 2, 3, 4)),
    *[
        row("tf.signal.overlap_and_add(a, 2)", a=normal(*shape), grad=False)
        for shape in ((0, 4), (3, 0), (4,))
    ],
    *[row(f"tf.signal.overlap_and_add(a, {step})", a=normal(3, 4)) for step in ("0", "1.0", "[1]")],
    # Short-time transforms
    *each(_REAL, "tf.signal.stft(a, 6, 4)", a=normal(2, 20)),
    *[
        row(f"tf.signal.stft(a, {options})", a=normal(20))
        for options in (
            "8, 4",
            "6, 4, fft_length=16",
            "6, 4, window_fn=None",
            "6, 4, pad_end=True",
            "5, 3, window_fn=tf.signal.hamming_window",
            "6, 4, window_fn=lambda n, dtype: tf.ones([n], dtype)",
        )
    ],
    row("tf.signal.stft(a, 6, 4, fft_length=4)", a=normal(20), grad=False),
    row("tf.signal.stft(a, 6, 4)", a=normal(20), dtype="float16"),
    row("tf.signal.stft(a, 6, 4)", a=normal(20), dtype="int32"),
    row("tf.signal.stft(a, 6, 4)", a=normal()),
    *each(COMPLEXES, "tf.signal.inverse_stft(a, 6, 4)", a=normal(4, 5)),
    *[
        row(f"tf.signal.inverse_stft(a, {options})", a=normal(2, 4, 5), dtype="complex64")
        for options in (
            "8, 4",
            "6, 4, fft_length=8",
            "6, 4, window_fn=None",
            "8, 4, window_fn=tf.signal.inverse_stft_window_fn(4)",
            "10, 4, fft_length=8",
        )
    ],
    row("tf.signal.inverse_stft(a, 6, 4, fft_length=4)", a=normal(4, 5), dtype="complex64", grad=False),
    row("tf.signal.inverse_stft(a, 6, 4)", a=normal(5), dtype="complex64"),
    row(
        "tf.signal.inverse_stft(tf.signal.stft(a, 8, 4), 8, 4, window_fn=tf.signal.inverse_stft_window_fn(4))",
        a=normal(20),
    ),
    *[
        row(f"tf.signal.inverse_stft_window_fn({step})(8, tf.{dtype})")
        for step in (2, 3, 4, 8)
        for dtype in ("float32", "float64")
    ],
    row("tf.signal.inverse_stft_window_fn(4, tf.signal.hamming_window)(8, tf.float64)"),
    # Windows
    *[
        row(f"tf.signal.{name}({n}, dtype=tf.{dtype})")
        for name in ("hann_window", "hamming_window")
        for n in (0, 1, 5, 6, 16)
        for dtype in ("float32", "float64")
    ],
    *[
        row(f"tf.signal.{name}({n}, periodic=False)")
        for name in ("hann_window", "hamming_window")
        for n in (5, 6)
    ],
    *each("float16 bfloat16", "tf.signal.hann_window(6, dtype=tf.{T})", rtol=0.01, atol=0.01),
    *[
        row(f"tf.signal.{name}({n})")
        for name in ("kaiser_window", "kaiser_bessel_derived_window", "vorbis_window")
        for n in (0, 1, 4, 5, 6)
    ],
    *[
        row(f"tf.signal.{name}(6, dtype=tf.float64)")
        for name in ("kaiser_window", "kaiser_bessel_derived_window", "vorbis_window")
    ],
    row("tf.signal.kaiser_window(7, beta=3.0)"),
    row("tf.signal.kaiser_window(6, 4.0, tf.float16)"),
    row("tf.signal.kaiser_bessel_derived_window(8, 4.0)"),
    row("tf.signal.hann_window(tf.constant(6))"),
    *[row(f"tf.signal.hann_window({options})") for options in ("-1", "[3]", "5.0", "5, dtype=tf.int32")],
    row("tf.signal.vorbis_window(5, tf.int32)"),
    row("tf.signal.kaiser_window(5, 12.0, tf.int32)"),
    # Cosine transforms
    *[
        row(f"tf.signal.{name}(a, type={kind}, norm={norm})", a=normal(2, n), dtype=dtype)
        for name in ("dct", "idct")
        for kind in (1, 2, 3, 4)
        for norm in (None, "'ortho'")
        for n, dtype in ((5, "float32"), (6, "float64"))
        if not (kind == 1 and norm)
    ],
    *[
        row(f"tf.signal.dct(a, type={kind}, n={n})", a=normal(2, 5), grad=n > 5)
        for kind in (1, 2, 3, 4)
        for n in (3, 8)
    ],
    *[row(f"tf.signal.idct(a, n={n})", a=normal(2, 5)) for n in (3, 8)],
    row("tf.signal.dct([1.0, 2.0])"),
    row("tf.signal.dct(a)", a=normal(1)),
    row("tf.signal.dct(a)", a=normal(0), grad=False),
    *[
        row(f"tf.signal.dct(a, {options})", a=normal(4))
        for options in ("n=0", "n=-1", "type=5", "axis=0", "norm='other'", "type=1, norm='ortho'")
    ],
    row("tf.signal.dct(a, type=1)", a=normal(1)),
    row("tf.signal.dct(a)", a=normal(4), dtype="float16"),
    row("tf.signal.dct(a)", a=normal(4), dtype="int32"),
    *[
        row(f"tf.signal.mdct(a, {options})", a=normal(2, 18))
        for options in (
            "4",
            "8",
            "8, norm='ortho'",
            "8, window_fn=None",
            "8, pad_end=True",
            "4, window_fn=tf.signal.kaiser_bessel_derived_window",
            "6",
            "8, norm='other'",
        )
    ],
    row("tf.signal.mdct(a, 8)", a=normal(16), dtype="float64"),
    row("tf.signal.mdct(a, 8)", a=normal()),
    *[
        row(f"tf.signal.inverse_mdct(a{options})", a=normal(2, 3, 4))
        for options in ("", ", norm='ortho'", ", window_fn=None", ", window_fn=None, norm='ortho'")
    ],
    row("tf.signal.inverse_mdct(a)", a=normal(2, 3)),
    row("tf.signal.inverse_mdct(a)", a=normal(3)),
    # Mel scale
    row("tf.signal.linear_to_mel_weight_matrix()"),
    *[
        row(f"tf.signal.linear_to_mel_weight_matrix({options})")
        for options in (
            "3, 5",
            "10, 65, 16000, 80.0, 7600.0",
            "4, 33, dtype=tf.float64",
            "0",
            "lower_edge_hertz=-1.0",
            "lower_edge_hertz=4000.0",
            "upper_edge_hertz=5000.0",
            "sample_rate=0",
            "dtype=tf.int32",
            "5, 17, sample_rate=tf.constant(8000)",
        )
    ],
    *each(_REAL, "tf.signal.mfccs_from_log_mel_spectrograms(a)", a=normal(2, 3, 5)),
    row("tf.signal.mfccs_from_log_mel_spectrograms(a)", a=normal(2, 0)),
    row("tf.signal.mfccs_from_log_mel_spectrograms(a)", a=normal()),
]
