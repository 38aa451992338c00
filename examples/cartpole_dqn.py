"""Deep Q-learning: a network learns to balance a pole on a cart.

    python examples/cartpole_dqn.py [--episodes 300] [--quick]

The environment is gymnasium's CartPole-v1 when gymnasium is installed, else the same physics written down here.
Ends as soon as the pole stands for 195 of 200 steps, over 10 episodes on average.
"""

import argparse
import math
import sys
import time

import numpy as np

import headrace as tf

try:
    import gymnasium
except ImportError:
    gymnasium = None

LIMIT = 200  # steps of an episode


class CartPole:
    """A pole on a cart that is pushed left (0) or right (1): Barto, Sutton and Anderson's equations of motion.

    The state is position, speed, angle, speed of the angle; a step lasts 0.02 s and earns 1.
    """

    GRAVITY, CART, POLE, HALF_LENGTH, FORCE, SECONDS = 9.8, 1.0, 0.1, 0.5, 10.0, 0.02

    def reset(self, seed=None):
        if seed is not None:
            self._random = np.random.default_rng(seed)
        self._state = self._random.uniform(-0.05, 0.05, size=4)
        return self._state.astype(np.float32), {}

    def step(self, action):
        _, speed, angle, turn = self._state
        sine, cosine, mass = math.sin(angle), math.cos(angle), self.CART + self.POLE
        push = self.FORCE if action == 1 else -self.FORCE
        common = (push + self.POLE * self.HALF_LENGTH * turn**2 * sine) / mass
        turning = (self.GRAVITY * sine - cosine * common) / (
            self.HALF_LENGTH * (4 / 3 - self.POLE * cosine**2 / mass)
        )
        pulling = common - self.POLE * self.HALF_LENGTH * turning * cosine / mass
        self._state = np.array([speed, pulling, turn, turning]) * self.SECONDS + self._state
        fallen = bool(abs(self._state[0]) > 2.4 or abs(self._state[2]) > 12 * math.pi / 180)
        return self._state.astype(np.float32), 1.0, fallen, False, {}


class Memory:
    """The last transitions, to learn from in random order."""

    def __init__(self, size):
        self._size, self._count = size, 0
        self._states, self._next = np.zeros((size, 4), np.float32), np.zeros((size, 4), np.float32)
        self._actions, self._rewards = np.zeros(size, np.int32), np.zeros(size, np.float32)
        self._ended = np.zeros(size, np.float32)

    def __len__(self):
        return min(self._count, self._size)

    def keep(self, state, action, reward, following, ended):
        i = self._count % self._size
        self._states[i], self._actions[i], self._rewards[i] = state, action, reward
        self._next[i], self._ended[i] = following, ended
        self._count += 1

    def draw(self, count, random):
        rows = random.integers(0, len(self), size=count)
        return self._states[rows], self._actions[rows], self._rewards[rows], self._next[rows], self._ended[rows]


def network():
    return tf.keras.Sequential([
        tf.keras.Input((4,)),
        tf.keras.layers.Dense(64, activation="relu"),
        tf.keras.layers.Dense(64, activation="relu"),
        tf.keras.layers.Dense(2),
    ])  # fmt: skip


class Player:
    """Chooses actions by a network of their worth, and learns it from what happened."""

    def __init__(self, discount=0.99, rate=5e-4):
        self.values, self.target = network(), network()
        self.discount = discount
        self.optimizer = tf.keras.optimizers.Adam(rate)
        self.learn = tf.function(self._learn)
        self.judge = tf.function(lambda states: self.values(states))
        self.follow()

    def follow(self):
        """The target network takes over what has been learned."""
        self.target.set_weights(self.values.get_weights())

    def act(self, state, random, curiosity):
        if random.random() < curiosity:
            return int(random.integers(2))
        return int(tf.argmax(self.judge(state[np.newaxis])[0]))

    def _learn(self, states, actions, rewards, following, ended):
        # Double Q-learning: one network chooses the next action, the other says what it is worth.
        best = tf.one_hot(tf.argmax(self.values(following), axis=1), 2)
        worth = tf.reduce_sum(self.target(following) * best, axis=1)
        wanted = rewards + self.discount * worth * (1.0 - ended)
        with tf.GradientTape() as tape:
            chosen = tf.reduce_sum(self.values(states) * tf.one_hot(actions, 2), axis=1)
            loss = tf.reduce_mean(tf.keras.losses.huber(wanted[:, tf.newaxis], chosen[:, tf.newaxis]))
        gradients = tape.gradient(loss, self.values.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.values.trainable_variables))
        return loss


def play(environment, player, episodes, goal, random):
    """Plays and learns; returns how long the pole stood in each episode."""
    memory, stood, steps = Memory(10_000), [], 0
    start = time.perf_counter()
    for episode in range(episodes):
        state, _ = environment.reset(seed=1) if episode == 0 else environment.reset()
        curiosity = max(0.01, 0.5 * 0.95**episode)
        stood.append(0)
        while stood[-1] < LIMIT:
            action = player.act(state, random, curiosity)
            following, _, fallen, _, _ = environment.step(action)
            # A fall costs 1, all else nothing: worths between -1 and 0 are learned faster than counts of steps.
            memory.keep(state, action, -1.0 if fallen else 0.0, following, fallen)
            state, steps = following, steps + 1
            stood[-1] += 1
            if len(memory) >= 200:
                player.learn(*memory.draw(64, random))
            if steps % 200 == 0:
                player.follow()
            if fallen:
                break
        recent = np.mean(stood[-10:])
        if episode % 10 == 9:
            print(f"episode {episode + 1}: {recent:.0f} steps on average, {time.perf_counter() - start:.0f} s")
        if len(stood) >= 10 and recent >= goal:
            break
    return stood


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--episodes", type=int, default=300)
    options.add_argument("--quick", action="store_true", help="until it is better than chance, for tests")
    chosen = options.parse_args()

    tf.keras.utils.set_random_seed(1)
    environment = gymnasium.make("CartPole-v1") if gymnasium else CartPole()
    print("environment:", "gymnasium's CartPole-v1" if gymnasium else "CartPole of this file")
    goal = 60 if chosen.quick else 195  # pushing at random, the pole stands for 22 steps
    stood = play(environment, Player(), chosen.episodes, goal, np.random.default_rng(1))
    best = max(np.convolve(stood, np.ones(10) / 10, mode="valid"), default=0)
    ends = stood.count(LIMIT)
    print(f"{len(stood)} episodes; the best ten in a row {best:.0f} steps on average; to the end in {ends}")
    if best < goal:
        sys.exit(f"the player did not learn: {goal} steps on average were expected")


if __name__ == "__main__":
    main()
