"""Operations that call functions: calls, branches, loops, Python code."""
