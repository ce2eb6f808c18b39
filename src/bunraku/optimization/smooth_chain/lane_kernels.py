"""Lanes: eight float64 numbers that Numba kernels treat as one, for eight independent problems solved in lock step.

The compiler does not see on its own that a recursion over time may run for several joints at once. Here each value of the kernel
*is* a vector of the machine: ``+ - * /`` with lanes or a float64 act lane by lane, products may be fused with sums.
Memory is flat float64; ``load(memory, i)`` is the i-th group of eight. On machines with narrower vectors the compiler splits them.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

import operator

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core.typing.templates import ConcreteTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

WIDTH = 8
VECTOR = ir.VectorType(ir.DoubleType(), WIDTH)


class Lanes(types.Type):  # type: ignore[misc]
    """Numba type of eight float64 numbers."""

    def __init__(self) -> None:
        super().__init__(name=f"Lanes{WIDTH}")


lanes = Lanes()


@register_model(Lanes)
class LanesModel(models.PrimitiveModel):  # type: ignore[misc]
    """Lanes are one vector of the machine."""

    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, VECTOR)


def _spread(builder, value):
    """The same number in all lanes."""
    if value.type == VECTOR:
        return value
    index = ir.Constant(ir.IntType(32), 0)
    first = builder.insert_element(ir.Constant(VECTOR, ir.Undefined), value, index)
    mask = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH)
    return builder.shuffle_vector(first, ir.Constant(VECTOR, ir.Undefined), mask)


def _register(operation, instruction):
    """Let one binary operator act on lanes, and on lanes and a float64."""
    cases = [(lanes, lanes), (lanes, types.float64), (types.float64, lanes)]
    infer_global(operation)(type("LanesOperator", (ConcreteTemplate,), {"cases": [signature(lanes, *case) for case in cases]}))

    def lower(context, builder, sig, args):
        return getattr(builder, instruction)(*(_spread(builder, value) for value in args), flags=("contract",))

    for case in cases:
        lower_builtin(operation, *case)(lower)


for _operation, _instruction in (
    (operator.add, "fadd"),
    (operator.sub, "fsub"),
    (operator.mul, "fmul"),
    (operator.truediv, "fdiv"),
):
    _register(_operation, _instruction)


def _place(builder, memory, index):
    """Address of the index-th group of eight of a block of memory."""
    return builder.gep(builder.inttoptr(memory, VECTOR.as_pointer()), [index])


@intrinsic
def address(typing_context, array):
    """Where the numbers of a flat array begin. Sweeps work on addresses: an array would be counted in and out at each access."""

    def build(context, builder, sig, args):
        return builder.ptrtoint(context.make_array(sig.args[0])(context, builder, args[0]).data, ir.IntType(64))

    return types.int64(array), build


@intrinsic
def load(typing_context, memory, index):
    """The index-th group of eight of a block of memory."""

    def build(context, builder, sig, args):
        return builder.load(_place(builder, args[0], args[1]), align=8)

    return lanes(types.int64, types.int64), build


@intrinsic
def store(typing_context, memory, index, value):
    """Write the index-th group of eight of a block of memory."""

    def build(context, builder, sig, args):
        builder.store(args[2], _place(builder, args[0], args[1]), align=8)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, lanes), build


@intrinsic
def spread(typing_context, value):
    """A float64 in all lanes."""

    def build(context, builder, sig, args):
        return _spread(builder, args[0])

    return lanes(types.float64), build


def _picked(comparison):
    """Code that takes a lane by lane where the comparison with b holds, else b."""

    def build(context, builder, sig, args):
        a, b = (_spread(builder, value) for value in args)
        return builder.select(builder.fcmp_ordered(comparison, a, b), a, b)

    return build


@intrinsic
def larger(typing_context, a, b):
    """Lane by lane a where a > b, else b; so b where a is NaN."""
    return lanes(a, b), _picked(">")


@intrinsic
def smaller(typing_context, a, b):
    """Lane by lane a where a < b, else b; so b where a is NaN."""
    return lanes(a, b), _picked("<")


@intrinsic
def choose(typing_context, mask, a, b):
    """Lane by lane a where the mask is > 0, else b."""

    def build(context, builder, sig, args):
        return builder.select(builder.fcmp_ordered(">", args[0], ir.Constant(VECTOR, [0.0] * WIDTH)), args[1], args[2])

    return lanes(mask, a, b), build
