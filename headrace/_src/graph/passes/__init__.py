"""Passes: rewriting the operations of a graph into fewer that mean the same, before they run or are compiled."""
