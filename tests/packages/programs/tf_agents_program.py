"""TF-Agents: environments, a replay buffer, a Q-network and a policy gradient agent that are trained."""

import numpy as np
import tensorflow as tf
import tf_keras
from checks import check
from tf_agents.agents.dqn import dqn_agent
from tf_agents.agents.reinforce import reinforce_agent
from tf_agents.environments import random_py_environment, tf_py_environment
from tf_agents.networks import actor_distribution_network, q_network
from tf_agents.replay_buffers import tf_uniform_replay_buffer
from tf_agents.specs import array_spec
from tf_agents.trajectories import trajectory

tf.random.set_seed(0)


def environment():
    observation = array_spec.BoundedArraySpec((4,), np.float32, -1.0, 1.0)
    action = array_spec.BoundedArraySpec((), np.int32, 0, 1)
    return tf_py_environment.TFPyEnvironment(
        random_py_environment.RandomPyEnvironment(observation, action, episode_end_probability=0.2, seed=1)
    )


def collected(world, policy, steps=6):
    buffer = tf_uniform_replay_buffer.TFUniformReplayBuffer(policy.trajectory_spec, batch_size=1, max_length=50)
    step = world.reset()
    for _ in range(steps):
        action = policy.action(step)
        after = world.step(action.action)
        buffer.add_batch(trajectory.from_transition(step, action, after))
        step = after
    return buffer


def q_learning():
    world = environment()
    network = q_network.QNetwork(world.observation_spec(), world.action_spec(), fc_layer_params=(8,))
    agent = dqn_agent.DqnAgent(
        world.time_step_spec(), world.action_spec(), q_network=network, optimizer=tf_keras.optimizers.Adam(0.01)
    )
    agent.initialize()
    buffer = collected(world, agent.collect_policy)
    data = iter(buffer.as_dataset(sample_batch_size=4, num_steps=2))
    losses = [agent.train(next(data)[0]).loss.numpy() for _ in range(3)]
    return [bool(np.isfinite(losses).all()), int(buffer.num_frames())]


def policy_gradients():
    world = environment()
    network = actor_distribution_network.ActorDistributionNetwork(
        world.observation_spec(), world.action_spec(), fc_layer_params=(8,)
    )
    agent = reinforce_agent.ReinforceAgent(
        world.time_step_spec(), world.action_spec(), actor_network=network, optimizer=tf_keras.optimizers.Adam(0.01)
    )
    agent.initialize()
    buffer = collected(world, agent.collect_policy, 12)
    return bool(np.isfinite(agent.train(buffer.gather_all()).loss.numpy()))


check("environment", lambda: environment().reset().observation.shape.as_list())
check("DQN", q_learning)
check("REINFORCE", policy_gradients)
