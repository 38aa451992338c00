"""A decoder of 10 million parameters, written with ops: training, and generation with a key-value cache.

With bfloat16, weights and activations are rounded to it for matrix products; sums, norms and losses stay float32, as
PyTorch's autocast does it.
"""

from workloads.training import Adam, function, torch_step
from workloads.weights import noise

LAYERS, WIDTH, HEADS, HIDDEN, VOCABULARY, CONTEXT = 6, 320, 8, 1280, 4096, 128
BATCH = 8
PROMPTS, GENERATED = 4, 64
TRAINED_TOKENS, GENERATED_TOKENS = BATCH * CONTEXT, PROMPTS * GENERATED
_PER_LAYER = {"qkv": (WIDTH, 3 * WIDTH), "joined": (WIDTH, WIDTH), "up": (WIDTH, HIDDEN), "down": (HIDDEN, WIDTH)}


def _parameters():
    """Names and first values: embeddings, then norms and products of each layer, then the output's."""
    ones = lambda: noise("scale", WIDTH, scale=0.02) + 1
    yield "tokens", noise("tokens", VOCABULARY, WIDTH, scale=0.1)
    yield "positions", noise("positions", CONTEXT, WIDTH, scale=0.1)
    for number in range(LAYERS):
        yield f"norm1_{number}", ones()
        yield f"norm2_{number}", ones()
        for name, shape in _PER_LAYER.items():
            yield f"{name}_{number}", noise(f"{name}_{number}", *shape, scale=0.05)
    yield "norm", ones()
    yield "logits", noise("logits", WIDTH, VOCABULARY, scale=0.05)


def _text():
    """Tokens, and each one's next."""
    tokens = noise("text", BATCH, CONTEXT + 1).view("int32") % VOCABULARY
    return tokens[:, :-1].copy(), tokens[:, 1:].copy()


class Decoder:
    """The parameters, and what all forms of running it share."""

    def __init__(self, tf, dtype):
        self.tf, self.dtype = tf, tf.as_dtype(dtype)
        self.weights = {name: tf.Variable(value) for name, value in _parameters()}

    def product(self, x, name):
        tf = self.tf
        return tf.matmul(tf.cast(x, self.dtype), tf.cast(self.weights[name], self.dtype))

    def norm(self, x, name):
        tf = self.tf
        mean, variance = tf.nn.moments(x, -1, keepdims=True)
        return (x - mean) * tf.math.rsqrt(variance + 1e-5) * self.weights[name]

    def heads(self, x, number):
        """Queries, keys and values of normed places: each batch x places x heads x width of a head."""
        tf = self.tf
        shape = [x.shape[0], x.shape[1], 3, HEADS, WIDTH // HEADS]
        return tf.unstack(tf.reshape(self.product(x, f"qkv_{number}"), shape), axis=2)

    def attended(self, scores, values, number):
        """The values that scores (batch x heads x places x places) choose, joined."""
        tf = self.tf
        chosen = tf.einsum("bhqk,bkhd->bqhd", tf.cast(tf.nn.softmax(tf.cast(scores, tf.float32)), self.dtype), values)
        return self.product(tf.reshape(chosen, [chosen.shape[0], chosen.shape[1], WIDTH]), f"joined_{number}")

    def mlp(self, x, number):
        tf = self.tf
        normed = self.norm(x, f"norm2_{number}")
        return self.product(tf.nn.gelu(self.product(normed, f"up_{number}"), approximate=True), f"down_{number}")


def training(dtype):
    """A step of training on 8 x 128 tokens."""

    def build(tf):
        decoder = Decoder(tf, dtype)
        variables = list(decoder.weights.values())
        adam = Adam(tf, variables)
        x, y = map(tf.constant, _text())
        scale = (WIDTH // HEADS) ** -0.5

        def step(x, y):
            mask = tf.linalg.band_part(tf.ones([CONTEXT, CONTEXT], tf.bool), -1, 0)
            with tf.GradientTape() as tape:
                h = tf.gather(decoder.weights["tokens"], x) + decoder.weights["positions"]
                for number in range(LAYERS):
                    q, k, v = decoder.heads(decoder.norm(h, f"norm1_{number}"), number)
                    scores = tf.einsum("bqhd,bkhd->bhqk", q, k) * tf.cast(scale, q.dtype)
                    scores = tf.where(mask, scores, tf.cast(-1e9, scores.dtype))
                    h += tf.cast(decoder.attended(scores, v, number), tf.float32)
                    h += tf.cast(decoder.mlp(h, number), tf.float32)
                logits = tf.cast(decoder.product(decoder.norm(h, "norm"), "logits"), tf.float32)
                loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
            adam.apply(tape.gradient(loss, variables))
            return loss

        run = function(tf, step)
        return lambda: float(run(x, y))

    return build


def generation(dtype):
    """64 tokens for each of 4 prompts of one token, always the likeliest, in one loop of one compiled function."""

    def build(tf):
        decoder = Decoder(tf, dtype)
        scale = (WIDTH // HEADS) ** -0.5

        def next_token(token, position, caches):
            """One step: the likeliest next token, and the caches with the keys and values of this place."""
            h = tf.gather(decoder.weights["tokens"], token)[:, None] + decoder.weights["positions"][position]
            seen, updated = tf.range(GENERATED) <= position, []
            for number in range(LAYERS):
                q, k, v = decoder.heads(decoder.norm(h, f"norm1_{number}"), number)
                # Places come first in a cache, so that one row of it is written.
                keys, values = (
                    tf.tensor_scatter_nd_update(cache, [[position]], tf.transpose(new, [1, 0, 2, 3]))
                    for cache, new in zip(caches[2 * number : 2 * number + 2], (k, v))
                )
                updated += [keys, values]
                scores = tf.einsum("bqhd,kbhd->bhqk", q, keys) * tf.cast(scale, q.dtype)
                scores = tf.where(seen, scores, tf.cast(-1e9, scores.dtype))
                h += tf.cast(decoder.attended(scores, tf.transpose(values, [1, 0, 2, 3]), number), tf.float32)
                h += tf.cast(decoder.mlp(h, number), tf.float32)
            logits = decoder.product(decoder.norm(h, "norm"), "logits")[:, 0]
            return tf.argmax(tf.cast(logits, tf.float32), -1, tf.int32), updated

        def generate(token):
            caches = [tf.zeros([GENERATED, PROMPTS, HEADS, WIDTH // HEADS], decoder.dtype)] * (2 * LAYERS)
            tokens = tf.TensorArray(tf.int32, GENERATED)
            for position in tf.range(GENERATED):
                token, caches = next_token(token, position, caches)
                tokens = tokens.write(position, token)
            return tokens.stack()

        run, first = function(tf, generate), tf.range(PROMPTS)
        return lambda: float(run(first).numpy().sum())

    return build


class _TorchDecoder:
    def __init__(self, torch):
        self.torch, self.F = torch, torch.nn.functional
        self.weights = {name: torch.nn.Parameter(torch.from_numpy(value)) for name, value in _parameters()}

    def norm(self, x, name):
        return self.F.layer_norm(x, [WIDTH], self.weights[name], eps=1e-5)

    def product(self, x, name):
        return x @ self.weights[name]

    def heads(self, x, number):
        """Queries, keys and values: each batch x heads x places x width of a head."""
        qkv = self.product(self.norm(x, f"norm1_{number}"), f"qkv_{number}").unflatten(-1, (3, HEADS, WIDTH // HEADS))
        return [part.transpose(1, 2) for part in qkv.unbind(2)]

    def joined(self, chosen, number):
        return self.product(chosen.transpose(1, 2).flatten(2), f"joined_{number}")

    def mlp(self, x, number):
        up = self.product(self.norm(x, f"norm2_{number}"), f"up_{number}")
        return self.product(self.F.gelu(up, approximate="tanh"), f"down_{number}")


def _autocast(torch, dtype):
    return torch.autocast("cpu", torch.bfloat16, enabled=dtype == "bfloat16")


def torch_training(dtype):
    def build(torch, compiled):
        decoder, F = _TorchDecoder(torch), torch.nn.functional
        x, y = (torch.from_numpy(part).long() for part in _text())

        def forward():
            with _autocast(torch, dtype):
                h = F.embedding(x, decoder.weights["tokens"]) + decoder.weights["positions"]
                for number in range(LAYERS):
                    q, k, v = decoder.heads(h, number)
                    h = h + decoder.joined(F.scaled_dot_product_attention(q, k, v, is_causal=True), number)
                    h = h + decoder.mlp(h, number)
                logits = decoder.product(decoder.norm(h, "norm"), "logits")
                return F.cross_entropy(logits.flatten(0, 1).float(), y.flatten())

        return torch_step(torch, forward, list(decoder.weights.values()), compiled)

    return build


def torch_generation(dtype):
    def build(torch, compiled):
        decoder, F = _TorchDecoder(torch), torch.nn.functional
        if dtype == "bfloat16":  # for products only; norms and sums stay float32
            for name, value in decoder.weights.items():
                if "norm" not in name and name not in ("tokens", "positions"):
                    decoder.weights[name] = value.detach().bfloat16()
        kind = torch.bfloat16 if dtype == "bfloat16" else torch.float32
        places = torch.arange(GENERATED)
        caches = torch.zeros(LAYERS, 2, PROMPTS, HEADS, GENERATED, WIDTH // HEADS, dtype=kind)

        def next_token(token, position):
            with _autocast(torch, dtype):
                h = F.embedding(token, decoder.weights["tokens"])[:, None] + decoder.weights["positions"][position]
                seen = (places <= position)[None]
                for number in range(LAYERS):
                    q, k, v = decoder.heads(h, number)
                    caches[number, 0].index_copy_(2, position, k)
                    caches[number, 1].index_copy_(2, position, v)
                    keys, values = caches[number]
                    h = h + decoder.joined(F.scaled_dot_product_attention(q, keys, values, attn_mask=seen), number)
                    h = h + decoder.mlp(h, number)
                return decoder.product(decoder.norm(h, "norm"), "logits")[:, 0].float().argmax(-1)

        step = compiled(next_token)
        positions = list(places.split(1))

        def generate():
            caches.zero_()
            token, tokens = torch.arange(PROMPTS), []
            with torch.no_grad():
                for position in positions:
                    token = step(token, position)
                    tokens.append(token)
            return float(torch.stack(tokens).sum())

        return generate

    return build
