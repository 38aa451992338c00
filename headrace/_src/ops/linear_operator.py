"""LinearOperator, the base class of matrices that are known by what they do rather than by their elements.

(LinearOperator family: written by the linear-operators helper)
"""
