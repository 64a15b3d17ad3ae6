"""Reductions and cumulative operators: a fixed number of FLOPs per input element."""

from __future__ import annotations

from py_autodoc.costs.rules._make import per_input, register

register("", "ReduceSum ReduceMean ReduceMax ReduceMin ReduceProd ArgMax ArgMin", per_input(1))
register("", "ReduceL1 ReduceL2 ReduceSumSquare", per_input(2))  # |x| or x², +
register("", "ReduceLogSum", per_input(1))  # +; one log per output
register("", "ReduceLogSumExp", per_input(4))  # max, −, exp, +
register("", "CumSum CumProd", per_input(1))
register("", "TopK Unique", per_input(1))  # at least one comparison per element
