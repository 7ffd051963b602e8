"""Attention in NumPy and float64, written as docs/semantics.md has it: what the tests hold qkv to."""

import numpy


def scores(q, k, mask=None, bias=None, scale=None, softcap=None):
    """[B, Hq, Tq, Tk] after scale, softcap, bias and mask."""
    k = numpy.repeat(k, q.shape[1] // k.shape[1], axis=1)
    x = numpy.einsum("bhid,bhjd->bhij", q, k) * (q.shape[-1] ** -0.5 if scale is None else scale)
    if softcap is not None:
        x = softcap * numpy.tanh(x / softcap)
    if bias is not None:
        x = x + bias
    return x if mask is None else numpy.where(mask, x, -numpy.inf)


def softmax(x, sinks=None):
    """Weights and lse; a row that sees nothing has weights 0."""
    top = x.max(axis=-1, keepdims=True, initial=-numpy.inf)
    if sinks is not None:
        top = numpy.maximum(top, numpy.asarray(sinks)[:, None, None])
    top = numpy.where(numpy.isneginf(top), 0, top)
    e = numpy.exp(x - top)
    z = e.sum(axis=-1, keepdims=True)
    if sinks is not None:
        z = z + numpy.exp(numpy.asarray(sinks)[:, None, None] - top)
    with numpy.errstate(divide="ignore", invalid="ignore"):
        return numpy.where(z > 0, e / z, 0), (top + numpy.log(z))[..., 0]


def attention(q, k, v, sinks=None, factors=None, **options):
    """out [B, Hq, Tq, Dv] and lse [B, Hq, Tq]. Weights are multiplied by `factors`, those of dropout."""
    q, k, v = (numpy.asarray(x, dtype=numpy.float64) for x in (q, k, v))
    w, lse = softmax(scores(q, k, **options), sinks)
    if factors is not None:
        w = w * factors
    return numpy.einsum("bhij,bhjd->bhid", w, numpy.repeat(v, q.shape[1] // v.shape[1], axis=1)), lse


def gradients(d_out, q, k, v, mask=None, scale=None):
    """d_q, d_k, d_v of attention without softcap, bias and sinks."""
    group = q.shape[1] // k.shape[1]
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    w, _ = softmax(scores(q, k, mask=mask, scale=scale))
    wide = numpy.repeat(v, group, axis=1)
    d_w = numpy.einsum("bhid,bhjd->bhij", d_out, wide)
    d_s = w * (d_w - (w * d_w).sum(axis=-1, keepdims=True)) * scale

    def of_key_heads(x):
        return x.reshape(x.shape[0], -1, group, *x.shape[2:]).sum(axis=2)

    d_q = numpy.einsum("bhij,bhjd->bhid", d_s, numpy.repeat(k, group, axis=1))
    d_k = of_key_heads(numpy.einsum("bhij,bhid->bhjd", d_s, q))
    return d_q, d_k, of_key_heads(numpy.einsum("bhij,bhid->bhjd", w, d_out))
