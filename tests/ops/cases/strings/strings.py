"""Rows of `ops/strings/editing.py` and of `ops/strings_{number,format,hash,regex}.py`."""

from rows import COMPLEXES, FLOATS, INTS, each, integers, normal, row, uniform, value

WORDS = value(["", "a", "Hello World", "héllo wörld", " \t\n x \v\f\r", "ABC\x00def", "x" * 100])
MATRIX = value([["a", "bb", "ccc"], ["dddd", "", "é"]])
BYTES = value([b"\xff\xfe", b"\x80abc", b"ab\xc3", b"\xe2\x82\xac", b""])
NUMBERS = [1.5, -2.25, 0.0, -0.0, 1e20, 1e-7, 123456.789, float("inf"), float("-inf"), float("nan")]


def text(code, **options):
    """A row without gradients."""
    return row(code, grad=False, **options)


JOIN = [
    text("tf.strings.join([a, a])", a=WORDS),
    text("tf.strings.join([a, '-', a], separator='/')", a=MATRIX),
    text("tf.strings.join(['x', 'y'], separator=', ')"),
    text("tf.strings.join([])"),
    text("tf.strings.join([['a', 'b'], ['c']])"),
    text("tf.strings.join([[['a']], ['c']])"),
    text("tf.strings.join([[], 'c'])"),
    text("tf.strings.join([1, 'a'])"),
    text("tf.strings.join('ab')"),
    text("tf.strings.join(a)", a=MATRIX),
    text("tf.strings.join(['a', 'b'], separator=b'\\xff')"),
    text("tf.raw_ops.StringJoin(inputs=[a, a, 'z'], separator='|')", a=MATRIX),
    text("tf.raw_ops.StringJoin(inputs=[])"),
]

LENGTH = [
    text("tf.strings.length(a)", a=WORDS),
    text("tf.strings.length(a, unit='UTF8_CHAR')", a=WORDS),
    text("tf.strings.length(a, unit='UTF8_CHAR')", a=BYTES),
    text("tf.strings.length(a, unit='BYTE')", a=MATRIX),
    text("tf.strings.length('abc')"),
    text("tf.strings.length(a, unit='CHAR')", a=WORDS),
    text("tf.strings.length(3)"),
    text("tf.strings.length(tf.zeros([0, 2], tf.string))"),
    text("tf.raw_ops.StringLength(input=a, unit='UTF8_CHAR')", a=MATRIX),
]

CASE = [
    text("tf.strings.lower(a)", a=WORDS),
    text("tf.strings.upper(a)", a=WORDS),
    text("tf.strings.lower(a)", a=BYTES),
    text("tf.strings.lower(['ABCÉΣ ΑΣ', 'İ', 'ẞ', 'ÀÉÎÕÜ'], encoding='utf-8')"),
    text("tf.strings.upper(['abcéß ǆ ŉ', 'ıi', 'ﬁ', 'àéîõü'], encoding='utf-8')"),
    text("tf.strings.lower([b'\\xc3A', b'\\xffB'], encoding='utf-8')"),
    text("tf.strings.upper([b'\\xc3a\\xe1\\x80'], encoding='utf-8')"),
    text("tf.strings.lower(a, encoding='utf8')", a=WORDS),
    text("tf.strings.upper(a, encoding='UTF-8')", a=WORDS),
    text("tf.strings.lower(1.5)"),
    text("tf.strings.strip(a)", a=WORDS),
    text("tf.strings.strip('\\x1c a\\x00 ')"),
    text("tf.strings.strip(tf.zeros([2, 0], tf.string))"),
    text("tf.raw_ops.StringStrip(input=a)", a=MATRIX),
    text("tf.raw_ops.StringLower(input=a, encoding='')", a=MATRIX),
    text("tf.raw_ops.StringUpper(input=a, encoding='utf-8')", a=MATRIX),
]

SUBSTR = [
    text(f"tf.strings.substr(['hello', 'wörld'], {pos}, {size}, unit='{unit}')")
    for pos, size in ((0, 3), (1, 100), (-3, 2), (5, 1), (2, 0), (6, 1), (7, 1), (-5, 2), (-6, 1), (1, -1))
    for unit in ("BYTE", "UTF8_CHAR")
] + [
    text("tf.strings.substr(['hello', 'world'], [1, -2], [3, 10])"),
    text("tf.strings.substr('hello', [0, 1], [1, 2])"),
    text("tf.strings.substr(['hello'], [0, 1], [1, 2])"),
    text("tf.strings.substr([['hello'], ['abcde']], [0, 1], [1, 2])"),
    text("tf.strings.substr([['hello', 'abcde']], [[0], [1]], [[1], [2]], unit='UTF8_CHAR')"),
    text("tf.strings.substr([[['hello']]], 0, 2)"),
    text("tf.strings.substr([[['hello']]], [[[1]]], [[[2]]])"),
    text("tf.strings.substr([[['hello']]], [0, 1], [1, 2])",
         ours="TensorFlow broadcasts up to two dimensions; headrace any number"),
    text("tf.strings.substr(['hello'], [0, 1], 1)"),
    text("tf.strings.substr(['hello'] * 3, [0, 1], [1, 1])"),
    text("tf.strings.substr(['hello'], tf.constant(0), tf.constant(1, tf.int64))"),
    text("tf.strings.substr(['hello'], tf.constant(1, tf.int64), tf.constant(2, tf.int64))"),
    text("tf.strings.substr(['hello'], 0.5, 1)"),
    text("tf.strings.substr(['hello'], 0, 1, unit='X')"),
    text("tf.strings.substr('', 0, 3, unit='UTF8_CHAR')"),
    text("tf.strings.substr('', 1, 3, unit='UTF8_CHAR')"),
    text("tf.strings.substr([b'\\x80\\x80abc\\xff'], 1, 2, unit='UTF8_CHAR')"),
    text("tf.strings.substr([b'\\x80\\x80abc\\xff'], -2, 2, unit='UTF8_CHAR')"),
    text("tf.strings.substr(tf.zeros([0], tf.string), 1, 2)"),
    text("tf.raw_ops.Substr(input=a, pos=[[0], [0]], len=[[1], [1]])", a=MATRIX),
]  # fmt: skip

REDUCE_JOIN = [
    text("tf.strings.reduce_join(a)", a=MATRIX),
    text("tf.strings.reduce_join(a, 0)", a=MATRIX),
    text("tf.strings.reduce_join(a, [0, 1], separator='-')", a=MATRIX),
    text("tf.strings.reduce_join(a, [1, 0], separator='-')", a=MATRIX),
    text("tf.strings.reduce_join(a, [])", a=MATRIX),
    text("tf.strings.reduce_join(a, -1, keepdims=True)", a=MATRIX),
    text("tf.strings.reduce_join(a, keepdims=True, separator=', ')", a=MATRIX),
    text("tf.strings.reduce_join(a, 2)", a=MATRIX),
    text("tf.strings.reduce_join(a, [0, 0])", a=MATRIX),
    text("tf.strings.reduce_join(a, [0, -2])", a=MATRIX),
    text("tf.strings.reduce_join('a')"),
    text("tf.strings.reduce_join('a', 0)"),
    text("tf.strings.reduce_join(tf.zeros([2, 0], tf.string), 1)"),
    text("tf.strings.reduce_join(tf.zeros([2, 0], tf.string), 0)"),
    text("tf.strings.reduce_join(tf.zeros([2, 0], tf.string))"),
    text("tf.strings.reduce_join(a, [[0]])", a=MATRIX),
    text("tf.strings.reduce_join(a, tf.constant([0], tf.int64))", a=MATRIX),
    text("tf.strings.reduce_join(tf.reshape(list('abcdefgh'), [2, 2, 2]), [2, 0], separator='+')"),
    text("tf.raw_ops.ReduceJoin(inputs=a, reduction_indices=1, keep_dims=True, separator='')", a=MATRIX),
]

SEGMENT_JOIN = [
    text("tf.strings.unsorted_segment_join(['a', 'b', 'c'], [0, 1, 0], 3, separator=',')"),
    text("tf.strings.unsorted_segment_join(a, [1, 1], 2, separator=':')", a=MATRIX),
    text("tf.strings.unsorted_segment_join(a, [[1, 0, 0], [0, 0, 1]], 2)", a=MATRIX),
    text("tf.strings.unsorted_segment_join(['a', 'b'], np.array([1, 0]), tf.constant(2, tf.int64))"),
    text("tf.strings.unsorted_segment_join(['a', 'b', 'c'], [0, 3, 0], 3)"),
    text("tf.strings.unsorted_segment_join(['a', 'b', 'c'], [0, -1, 0], 3)"),
    text("tf.strings.unsorted_segment_join(['a', 'b', 'c'], [0, 1], 3)"),
    text("tf.strings.unsorted_segment_join(['a', 'b', 'c'], 0, 3)"),
    text("tf.strings.unsorted_segment_join(['a'], [0], -1)"),
    text("tf.strings.unsorted_segment_join(['a'], [0], [1])"),
    text("tf.strings.unsorted_segment_join(tf.constant([], tf.string), tf.constant([], tf.int32), 2)"),
    text("tf.raw_ops.UnsortedSegmentJoin(inputs=['x'], segment_ids=[0], num_segments=1, separator='_')"),
]

REGEX_TEXTS = value([
    "", "a", "baac", "héllo wörld", "ab\ncd\n", "foo bar 123", "aKſK s", "ΑΒγ d", "x{2}[a]-\\_", "a\v b",
])  # fmt: skip
PATTERNS = [
    "a*", "", "[aeiou]", r"(\w)(\w)", r"\s+", r"^.", r".$", "(?i)k", "(?i)[^S]", r"\p{Greek}", r"\pL+",
    r"\P{Lu}",    "[[:alpha:]]", "[[:^alpha:]]", r"\Q{2}\E", "(?P<first>a)", "(?U)a+", "a+?", "a{2}",
    "a{,2}", "(?s).+",
    "(?m)^.",    "(?m)$", r"\bb|o\B", "a|b|c", "|a", "(?:a|b)+", r"[\w-]", r"[]\[]", r"\x61", r"\x{e9}",
    r"\141", r"\C",
    "[^a]",    "x*|b", r"\d{1,2}", "(a)|(b)", r"\z", r"\A",
]  # fmt: skip
BAD_PATTERNS = [
    "(?=a)", "(?!a)", "(?<=a)", r"(a)\1", "(", ")", "a**", "a++", "a{1001}", "(a{500}){3}", "[b-a]", "[a",
    r"\Z",    r"[a-\d]", r"\p{Foo}", "[[:foo:]]", "(?x)a", "*", "a|*", "\\", r"\y", r"\x{110000}",
    "(?<n>a)", r"\8",
]  # fmt: skip
REGEX = [
    *(text(f"tf.strings.regex_replace(a, {pattern!r}, '<\\\\0>')", a=REGEX_TEXTS) for pattern in PATTERNS),
    *(text(f"tf.strings.regex_full_match(a, {pattern!r})", a=REGEX_TEXTS) for pattern in PATTERNS[::2]),
    *(text(f"tf.strings.regex_replace(a, {pattern!r}, 'x')", a=REGEX_TEXTS) for pattern in BAD_PATTERNS),
    *(text(f"tf.strings.regex_full_match(a, {pattern!r})", a=REGEX_TEXTS) for pattern in BAD_PATTERNS[::4]),
    text("tf.strings.regex_replace(a, '.', '-')", a=BYTES),
    text("tf.strings.regex_replace(a, '[^x]', '-')", a=BYTES),
    text("tf.strings.regex_replace(a, '', '-')", a=BYTES),
    text("tf.strings.regex_replace(a, r'\\W', '-')", a=BYTES),
    text("tf.strings.regex_replace(['abc'], '(b)(c)', r'[\\2\\1\\0]')"),
    text("tf.strings.regex_replace(['abc'], '(b)', r'[\\2]')"),
    text("tf.strings.regex_replace(['abcb'], '(b)', r'[\\x]')"),
    text("tf.strings.regex_replace(['abcb'], '(b)', r'[\\x]', replace_global=False)"),
    text("tf.strings.regex_replace(['abcb'], '(b)', r'[\\\\]')"),
    text("tf.strings.regex_replace(['abcb'], 'b', 'x', replace_global=False)"),
    text("tf.strings.regex_replace(['foo'], tf.constant('f'), 'g')"),
    text("tf.strings.regex_replace(['foo'], 'f', tf.constant('\\\\0\\\\0'))"),
    text("tf.strings.regex_replace(['foo'], ['f'], 'g')"),
    text("tf.strings.regex_replace(['foo'], 'f', ['g'])"),
    text("tf.strings.regex_replace(1, 'f', 'g')"),
    text("tf.strings.regex_full_match(['abc', 'ab'], tf.constant('a|ab'))"),
    text("tf.strings.regex_full_match(['abc', 'ab'], tf.constant('('))"),
    text("tf.strings.regex_full_match('abc', 'a.c')"),
    text("tf.raw_ops.RegexReplace(input=a, pattern='a', rewrite='b', replace_global=False)", a=MATRIX),
    text("tf.raw_ops.StaticRegexReplace(input=a, pattern='a', rewrite='b')", a=MATRIX),
    text("tf.raw_ops.RegexFullMatch(input=a, pattern='c+')", a=MATRIX),
    text("tf.raw_ops.StaticRegexFullMatch(input=a, pattern='c+')", a=MATRIX),
]

NUMBER_TEXTS = ["1", "-2", "+3", " 4 ", "0", "-0", "007", "2147483647"]
GOOD_FLOATS = [
    "1", "-2.5", " 3 ", "1e10", "inf", "nan", "-inf", "infinity", "INF", "+inf", "-nan", "nan(12)", "0x10",
    "0x1p3",    "0x.8", "1.", "-.5", ".5e1", "1e+2", "1e400", "1e-400", "1e39", "0.1", "16777217",
    "1.00000017881393432617187499",    "\t1\v", "1e-45", "3.4028236e38",
]  # fmt: skip
BAD_NUMBERS = ["", " ", "a", "1_0", ".", "1f", "1e", "1 2", "0x", "--1", "1\x00", "१", "1,5", "infin", "0b1"]
TO_NUMBER = [
    *(text(f"tf.strings.to_number(a, tf.{dtype})", a=value(NUMBER_TEXTS))
      for dtype in ("float32", "float64", "int32", "int64")),
    *(text(f"tf.strings.to_number(['7', '+8', ' 9 '], tf.{dtype})") for dtype in ("uint32", "uint64")),
    text("tf.strings.to_number(a)", a=value(GOOD_FLOATS)),
    text("tf.strings.to_number(a, tf.float64)", a=value(GOOD_FLOATS)),
    *(text(f"tf.strings.to_number([{bad!r}])") for bad in BAD_NUMBERS),
    *(text(f"tf.strings.to_number([{bad!r}], tf.int32)") for bad in (*BAD_NUMBERS[::2], "1.5", "2147483648")),
    text("tf.strings.to_number(['-2147483649'], out_type=tf.int32)"),
    text("tf.strings.to_number(['-9223372036854775808', '9223372036854775807'], tf.int64)"),
    text("tf.strings.to_number(['9223372036854775808'], tf.int64)"),
    text("tf.strings.to_number(['18446744073709551615'], tf.uint64)"),
    text("tf.strings.to_number(['18446744073709551616'], tf.uint64)"),
    text("tf.strings.to_number(['-1'], tf.uint32)"),
    text("tf.strings.to_number(['-0'], tf.uint32)"),
    text("tf.strings.to_number(['1'], tf.string)"),
    text("tf.strings.to_number(['1'], tf.float16)"),
    text("tf.strings.to_number('12')"),
    text("tf.raw_ops.StringToNumber(string_tensor=['1.25'], out_type=tf.float64)"),
]  # fmt: skip

AS_STRING = [
    *each(f"{FLOATS} {COMPLEXES} {INTS}", "tf.strings.as_string(a)", a=normal(2, 3), grad=False),
    *each("float32 float64", "tf.as_string(a)", a=value(NUMBERS, None), grad=False),
    *(
        text(f"tf.strings.as_string(a, {options})", dtype=dtype, a=value(NUMBERS))
        for dtype in ("float32", "float64")
        for options in (
            "precision=2", "precision=0", "precision=12", "scientific=True", "shortest=True", "width=12",
            "scientific=True, precision=3", "shortest=True, precision=3", "width=12, fill='0'",
            "width=12, fill='-'", "width=12, fill='+'", "width=12, fill=' '", "fill='+'", "fill=' '",
            "precision=1, width=9, fill='#'", "precision=-5",
        )
    ),
    *(
        text(f"tf.strings.as_string(a, {options})", dtype=dtype, a=value([1, 0, 100]))
        for dtype in ("int8", "int32", "int64", "uint8", "uint64")
        for options in (
            "width=5", "width=5, fill='0'", "width=5, fill='-'", "fill='+'", "fill=' '", "width=-2",
        )
    ),
    text("tf.strings.as_string([-1, -200], width=6, fill='0')"),
    text("tf.strings.as_string([1, 2], precision=3)"),
    text("tf.strings.as_string([1, 2], scientific=True)"),
    text("tf.strings.as_string([1, 2], shortest=True)"),
    text("tf.strings.as_string([1.5], shortest=True, scientific=True)"),
    text("tf.strings.as_string([1.5], fill='x')"),
    text("tf.strings.as_string([1.5], width=3, fill='00')"),
    text("tf.strings.as_string([True, False])"),
    text("tf.strings.as_string([True, False], width=7, fill='-')"),
    text("tf.strings.as_string([True, False], precision=1)"),
    text("tf.strings.as_string(tf.constant([1 + 2j, -1.5j]), precision=1, width=6)"),
    text("tf.strings.as_string(tf.constant([1 + 2j, -1.5j], tf.complex64), shortest=True)"),
    text("tf.strings.as_string(tf.constant([2**64 - 1], tf.uint64), fill='+')"),
    text("tf.strings.as_string(tf.constant([1.1, 65504], tf.float16))"),
    text("tf.strings.as_string(tf.constant([1.1, 65504], tf.bfloat16), shortest=True)"),
    text("tf.strings.as_string(['a', 'bc'])"),
    text("tf.strings.as_string(['a', 'bc'], width=5)"),
    text("tf.strings.as_string(['a', 'bc'], width=5, fill='-')"),
    text("tf.strings.as_string(3.14159)"),
    text("tf.strings.as_string(tf.zeros([0, 3]))"),
    text("tf.strings.as_string(tf.constant([1], tf.qint8))"),
    text("tf.raw_ops.AsString(input=[1.5], precision=3, scientific=False, shortest=False, width=8, fill='')"),
]  # fmt: skip

HASHED = value([bytes((i * 37 + j * 11) % 256 for j in range(i)) for i in range(140)])
HASH = [
    text("tf.strings.to_hash_bucket(a, 2**62)", a=HASHED),
    text("tf.strings.to_hash_bucket_fast(a, 2**62)", a=HASHED),
    text("tf.strings.to_hash_bucket_strong(a, 2**62, key=[7, -9])", a=HASHED),
    text("tf.strings.to_hash_bucket(a, 10)", a=MATRIX),
    text("tf.strings.to_hash_bucket_fast(a, 1)", a=MATRIX),
    text("tf.strings.to_hash_bucket_strong(a, num_buckets=3, key=[1, 2])", a=MATRIX),
    text("tf.strings.to_hash_bucket_strong(a, 3, [1])", a=MATRIX),
    text("tf.strings.to_hash_bucket_fast(a, 0)", a=MATRIX),
    text("tf.strings.to_hash_bucket(a, -1)", a=MATRIX),
    text("tf.strings.to_hash_bucket_fast('scalar', 100)"),
    text("tf.strings.to_hash_bucket_fast(tf.zeros([0], tf.string), 100)"),
    text("tf.strings.to_hash_bucket_fast([1], 100)"),
    text("tf.raw_ops.StringToHashBucket(string_tensor=a, num_buckets=1000)", a=MATRIX),
    text("tf.raw_ops.StringToHashBucketFast(input=a, num_buckets=1000)", a=MATRIX),
    text("tf.raw_ops.StringToHashBucketStrong(input=a, num_buckets=1000, key=[0, 0])", a=MATRIX),
    text("tf.fingerprint(a)", a=HASHED),
    text("tf.fingerprint(a)", a=MATRIX),
    text("tf.fingerprint([[['a', 'b'], ['c', 'd']]])"),
    *each(f"{FLOATS} {COMPLEXES} {INTS} bool", "tf.fingerprint(a)", a=normal(4, 3, 5), grad=False),
    text("tf.fingerprint(tf.zeros([2, 0]))"),
    text("tf.fingerprint(tf.zeros([0, 2]))"),
    text("tf.fingerprint(tf.zeros([2, 0], tf.string))",
         ours="TensorFlow returns memory that it has not written; headrace the fingerprint of nothing"),
    text("tf.fingerprint(1)"),
    text("tf.fingerprint(['a'], method='x')"),
    text("tf.fingerprint([1, 2], 'farmhash64')"),
    text("tf.raw_ops.Fingerprint(data=a, method='farmhash64')", a=integers(0, 9, 3, 100)),
]  # fmt: skip

BASE64 = [
    text("tf.io.encode_base64(a)", a=HASHED),
    text("tf.io.encode_base64(a, pad=True)", a=HASHED),
    text("tf.io.decode_base64(tf.io.encode_base64(a))", a=HASHED),
    text("tf.io.decode_base64(['YQ==', 'YWI=', '__79', 'YR', ''])"),
    *(text(f"tf.io.decode_base64([{bad!r}])")
      for bad in ("YQ=", "Y", "+/==", "Y Q", "YQ===", "====", "Y===", "=YQ=", "YWI=YWI=", "é")),
    text("tf.raw_ops.EncodeBase64(input='a', pad=False)"),
    text("tf.raw_ops.DecodeBase64(input='YWJj')"),
]  # fmt: skip

FORMAT = [
    text("tf.strings.format('x={}', a)", a=integers(0, 100, 10)),
    text("tf.strings.format('x={}', a, summarize=-1)", a=integers(0, 100, 10)),
    text("tf.strings.format('x={}', a, summarize=0)", a=integers(0, 100, 10)),
    text("tf.strings.format('{} and {}', [a, b])", a=integers(0, 100, 7), b=integers(0, 100, 6)),
    *(text(f"tf.strings.format('{{}}', tf.reshape(tf.range(120), {shape}), summarize={count})")
      for shape in ([120], [12, 10], [2, 3, 20], [2, 3, 4, 5], [120, 1], [1, 120]) for count in (1, 3)),
    *each(FLOATS, "tf.strings.format('{}', a, summarize=-1)", a=uniform(-1000, 1000, 12), grad=False),
    *each("float32 float64", "tf.strings.format('{}', a, summarize=-1)",
          a=value([1 / 3, 1e10, 1e-5, 123456.7, 1e16, 1e17, 0.1, -0.0, 1e5, 1e6, 1e15, 1e21, 0.0001,
                   16777216.0,                   float("inf"), float("-inf"), float("nan")]), grad=False),
    *each(f"{INTS} bool", "tf.strings.format('{}', a)", a=normal(2, 4), grad=False),
    text("tf.strings.format('{}', tf.zeros([0]))"),
    text("tf.strings.format('{}', tf.zeros([2, 0]))"),
    text("tf.strings.format('{}', tf.zeros([2, 0, 2]))"),
    text("tf.strings.format('{}', tf.zeros([0, 2]))"),
    text("tf.strings.format('{}', tf.constant(True))"),
    text("tf.strings.format('{}', tf.constant('a'))"),
    text("tf.strings.format('{}', tf.constant([b'\\xff\\'\"\\\\\\x01', 'line\\n\\t\\r\\x7f']))"),
    text("tf.strings.format('{}', a)", a=MATRIX),
    text("tf.strings.format('{}', tf.constant([1 + 2j]))",
         ours="TensorFlow writes complex numbers as '?'; headrace as '(1,2)'"),
    text("tf.strings.format('{} {}', [tf.constant('a')])"),
    text("tf.strings.format('{}', [tf.constant('a'), 1])"),
    text("tf.strings.format('%t and {}', [1], placeholder='%t')"),
    text("tf.strings.format('hello', [])"),
    text("tf.strings.format('{}', [[1, 2]])"),
    text("tf.strings.format('{}', 1)"),
    text("tf.strings.format('{}', tf.constant([1, 2], tf.qint8))"),
    text("tf.raw_ops.StringFormat(inputs=[1, 'b'], template='a%sb%s', placeholder='%s', summarize=3)"),
    text("tf.raw_ops.StringFormat(inputs=[1], template='none')"),
]  # fmt: skip

ROWS = [
    *JOIN, *LENGTH, *CASE, *SUBSTR, *REDUCE_JOIN, *SEGMENT_JOIN, *REGEX, *TO_NUMBER, *AS_STRING, *HASH,
    *BASE64, *FORMAT,
]  # fmt: skip
