"""Probes of the attention that runs."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Mapping
from typing import Any

from torch import Tensor

import qkv

watching: list[list[qkv.Probe]] = []  # the lists that calls are added to


@contextlib.contextmanager
def watch() -> Generator[list[qkv.Probe], None, None]:
    """A list of a qkv.Probe of each call of qkv.torch, in the order of the calls, as long as this lasts.

    Whatever makes the call: attention(), scaled_dot_product_attention() or a model that is patched, on any thread. A
    probe keeps q, k and lse of its call, O(T * D), and computes any part of the weights when it is asked. It reads them
    in place: do not change them while it lives. Raises ValueError for a call with `ragged`, of which there is no probe.
    """
    probes: list[qkv.Probe] = []
    watching.append(probes)
    try:
        yield probes
    finally:
        watching[:] = [one for one in watching if one is not probes]


def tell(q: Tensor, k: Tensor, lse: Tensor, options: Mapping[str, Any]) -> None:
    """Adds the call to the lists that are watched."""
    if not watching:
        return
    if "ragged" in options:
        raise ValueError(
            "watch: expected calls without ragged, got one with it: there is no probe of these; give the documents as "
            'a mask, "documents(…)"'
        )
    probe = qkv.Probe(q, k, lse, **options)
    for probes in watching:
        probes.append(probe)
