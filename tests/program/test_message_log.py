"""Where messages go."""

import logging
import subprocess
import sys

import headrace as tf

PROGRAM = """
import headrace as tf
v1 = tf.compat.v1
v1.logging.set_verbosity(v1.logging.INFO)
v1.logging.info("step %d", 3)
tf.get_logger().warning("careful")
"""
WITH_LOGGING = """
import logging
logging.basicConfig(format="own: %(message)s")
tf.get_logger().warning("again")
"""


def printed(code):
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == ""
    return run.stderr.splitlines()


def test_messages_are_shown_without_being_asked_for():
    assert printed(PROGRAM) == ["INFO:tensorflow:step 3", "WARNING:tensorflow:careful"]


def test_a_program_that_sets_up_logging_gets_each_message_once():
    assert printed(PROGRAM + WITH_LOGGING)[2:] == ["own: again"]


def test_there_is_one_handler_however_often_the_logger_is_asked_for():
    count = len(tf.get_logger().handlers)
    assert [len(tf.get_logger().handlers) for _ in range(3)] == [count] * 3
    assert tf.get_logger() is logging.getLogger("tensorflow")
