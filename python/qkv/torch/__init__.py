"""qkv under PyTorch: PyTorch's own function, attention with all of qkv's options, and both put under existing models.

docs/python.md, section PyTorch, says how to use it.
"""

from qkv.torch._attention import attention
from qkv.torch._functional import scaled_dot_product_attention
from qkv.torch._patch import patch, unpatch
from qkv.torch._watch import watch

__all__ = ["attention", "patch", "scaled_dot_product_attention", "unpatch", "watch"]
