"""Running a module, of timm, transformers or torchvision, and seeing its attention and its tokens."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

from patch_association.streams import Stream, generator

#: How attention can be read.
READABLE = (
    "it is read of timm's, transformers' and torchvision's ViTs, and where it passes through "
    "nn.MultiheadAttention or through a layer that is called attn_drop"
)


@contextmanager
def in_evaluation(model):
    """Every part in evaluation mode, and then in its own again: some may be frozen."""
    modes = [(part, part.training) for part in model.modules()]
    model.eval()
    try:
        yield
    finally:
        for part, mode in modes:
            part.training = mode


def run_model(model, images, name, noise=False, **how):
    """What the model returns, with noise behind pictures; what it does not take is refused in its words."""
    behind = generator(0, Stream.NO_PICTURE).standard_normal((int(noise), *images.shape[1:]))
    try:
        return model(torch.cat([images, torch.from_numpy(behind).to(images)]), **how)
    except torch.OutOfMemoryError:
        raise
    except (AssertionError, RuntimeError, ValueError, TypeError) as error:
        came = f"{tuple(images.shape)}, {images.dtype} on {images.device}"
        message = str(error).partition("\n")[0][:200]
        raise ValueError(f"{name} takes other pictures than {came}: {message}") from error


def tokens_that_differ(x) -> torch.Tensor:
    """Which tokens of a picture and of noise, (2, T, width), are patches, (T,): those that differ."""
    apart = (x[0] - x[1]).float().abs().amax(dim=1)
    return apart > 1e-5 * apart.max()


@contextmanager
def tokens_watched(model, first: dict) -> Iterator[None]:
    """Let tokens of the first and last picture be seen, by their number, where a part first takes them."""

    def keep(_, args):
        x = args[0] if args else None
        if isinstance(x, torch.Tensor) and x.ndim == 3 and len(x) > 1 and x.is_floating_point():
            first.setdefault(x.shape[1], x[[0, -1]].detach())

    handles = [part.register_forward_pre_hook(keep) for part in model.modules()]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def attention_seen(model: Any, images, name) -> tuple[list[torch.Tensor], set, dict]:
    """What a module's attention shows of pictures and of noise; the sizes of convolutions; the tokens."""
    seen: list[torch.Tensor] = []
    sizes: set[tuple[int, int]] = set()
    first: dict[int, torch.Tensor] = {}
    wrong: list[str] = []
    with in_evaluation(model), _watched(model, seen, sizes, wrong), tokens_watched(model, first):
        run_model(model, images, name, noise=True)
    if wrong:
        raise ValueError(f"{name} shows no attention of tokens to tokens: {wrong[0]}")
    return seen, sizes, first


@contextmanager
def _watched(model: Any, seen: list, sizes: set, wrong: list) -> Iterator[None]:
    """Let attention be seen, and restore the model."""
    handles = []
    fused = []
    read = set()
    fast = torch.backends.mha.get_fastpath_enabled()
    theirs = [layer for layer in model.modules() if hasattr(layer, "set_attn_implementation")]  # transformers
    inner = {id(layer) for part in theirs for layer in part.modules() if layer is not part}
    theirs = [(part, part.config._attn_implementation) for part in theirs if id(part) not in inner]
    inside = {id(layer) for part, _ in theirs for layer in part.modules()}

    def ask(_, args, how):
        return args, how | {"need_weights": True, "average_attn_weights": False}

    def of_pytorch(layer, args, how, out):
        q = args[0] if args else how["query"]
        k = args[1] if len(args) > 1 else how["key"]
        if q is k or (q.shape == k.shape and torch.equal(q, k)):  # else it asks tokens for something else
            seen.append(out[1])

    def of_transformers(_, args, out):
        layers = getattr(out, "attentions", None) or ()
        seen.extend(S for S in layers if S is not None)

    for part, _ in theirs:
        part.set_attn_implementation("eager")
        if part.config._attn_implementation != "eager":
            wrong.append("load it with attn_implementation='eager', which cannot be set afterwards")

        def all_of_them(_, args, how):
            return args, how | {"output_attentions": True, "return_dict": True}

        handles.append(part.register_forward_pre_hook(all_of_them, with_kwargs=True))
        handles.append(part.register_forward_hook(of_transformers))
    for layer in model.modules():
        if isinstance(layer, nn.Conv2d):
            handles.append(layer.register_forward_hook(lambda _, args, out: sizes.add(tuple(out.shape[-2:]))))
        if id(layer) in inside:
            continue
        if isinstance(layer, nn.MultiheadAttention):
            handles.append(layer.register_forward_pre_hook(ask, with_kwargs=True))
            handles.append(layer.register_forward_hook(of_pytorch, with_kwargs=True))
        elif isinstance(drop := getattr(layer, "attn_drop", None), nn.Module):
            # Unfused, timm passes the attention through its dropout, as DINO and DeiT do: there it is read.
            if hasattr(layer, "fused_attn"):
                fused.append((layer, layer.fused_attn))
                setattr(layer, "fused_attn", False)  # noqa: B010  (a type checker takes it for a tensor)
            if id(drop) not in read:  # two layers, or a layer and what wraps it, may share one
                read.add(id(drop))
                handles.append(drop.register_forward_pre_hook(lambda _, args: seen.append(args[0])))
            handles.append(layer.register_forward_hook(_asked(seen, wrong), with_kwargs=True))
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        yield
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)
        for handle in handles:
            handle.remove()
        for layer, was in fused:
            layer.fused_attn = was
        for part, before in theirs:
            part.set_attn_implementation(before)


def _asked(seen: list, wrong: list):
    """A hook that asks a layer whether what passed through its dropout is attention between its tokens."""
    asking = []

    def ask(layer, args, how, _):
        if asking or not seen or seen[-1].ndim != 4:
            return
        S, x = seen[-1], args[0] if args else None
        heads = getattr(layer, "num_heads", S.shape[1])
        if heads != S.shape[1]:
            wrong.append(
                f"{S.shape[1]} maps pass through attn_drop in {type(layer).__name__}, of {heads} heads"
            )
        if not isinstance(x, torch.Tensor) or x.ndim != 3 or S.shape[2] == 1:
            return
        if S.shape[2] == x.shape[2] // S.shape[1]:  # as many tokens as a head is wide: between either
            other = x.clone()
            other[:, -1] = 1 - x[:, -1]
            asking.append(layer)
            layer(other, *args[1:], **how)
            asking.clear()
            before, after = (A[..., :-1, :-1].float() for A in (S, seen.pop()))
            share = [A / A.sum(dim=-1, keepdim=True) for A in (before, after)]
            between = torch.allclose(*share, rtol=1e-2, atol=1e-6)  # a token is nothing to two others
        else:
            between = S.shape[-1] == x.shape[1]
        if not between:
            wrong.append(f"what passes through attn_drop in {type(layer).__name__} is not between its tokens")

    return ask
