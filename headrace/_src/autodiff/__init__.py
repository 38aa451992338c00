"""Tapes, forward accumulators and custom gradients."""
