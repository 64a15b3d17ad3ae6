from py_autodoc.to_torch.op import OpContext
from py_autodoc.to_torch.registry import rule


@rule("Wobble", domain="com.microsoft")
def wobble(op: OpContext) -> None:
    """A sine of a sine."""
    op.out(f"torch.sin(torch.sin({op.t(0)}))")
