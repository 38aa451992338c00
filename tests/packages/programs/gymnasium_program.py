"""Gymnasium: an agent that learns CartPole by policy gradients."""

import gymnasium
import numpy as np
import tensorflow as tf
from checks import check

tf.random.set_seed(0)


def episode(environment, policy, seed):
    observation, _ = environment.reset(seed=seed)
    seen, chosen, rewards, over = [], [], [], False
    rng = np.random.default_rng(seed)
    while not over:
        probability = float(tf.nn.sigmoid(policy(observation[None])[0, 0]))
        action = int(rng.random() < probability)
        seen.append(observation)
        chosen.append(action)
        observation, reward, ended, cut, _ = environment.step(action)
        rewards.append(reward)
        over = ended or cut
    return np.array(seen, np.float32), np.array(chosen, np.float32), np.array(rewards, np.float32)


def learned():
    environment = gymnasium.make("CartPole-v1")
    hidden = tf.keras.layers.Dense(16, "tanh", kernel_initializer=tf.keras.initializers.GlorotUniform(1))
    policy = tf.keras.Sequential([tf.keras.Input((4,)), hidden, tf.keras.layers.Dense(1, kernel_initializer="zeros")])
    optimizer = tf.keras.optimizers.Adam(0.02)
    lengths = []
    for number in range(40):
        seen, chosen, rewards = episode(environment, policy, number)
        returns = np.cumsum(rewards[::-1])[::-1]
        weights = (returns - returns.mean()) / (returns.std() + 1e-6)
        with tf.GradientTape() as tape:
            logits = policy(seen)[:, 0]
            loss = tf.reduce_mean(weights * tf.nn.sigmoid_cross_entropy_with_logits(labels=chosen, logits=logits))
        optimizer.apply_gradients(zip(tape.gradient(loss, policy.trainable_variables), policy.trainable_variables))
        lengths.append(len(rewards))
    return lengths


check("policy gradients", lambda: bool(np.mean(learned()[-10:]) > 25))
check("first steps", lambda: episode(gymnasium.make("CartPole-v1"), lambda x: tf.zeros([1, 1]), 3)[2].shape)
