"""Bytes to values and back; knows no ops."""
