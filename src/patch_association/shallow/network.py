"""Model (1): one self-attention layer, two layers of neurons, and its gradient by hand.

For one input with tokens x_l (rows of X) of weights f_l, sum_l f_l = 1:

    F(X) = sum_l f_l a_l . relu(W_O z_l),   z_l = sum_i S_il W_V x_i,
    S_il = f_i exp(x_i . M x_l) / sum_r f_r exp(x_r . M x_l),   M = W_K^T W_Q.

Equal weights f_l = 1/|S| give model (1) as printed. With D_l = diag(a_l 1[W_O z_l > 0]) and
g_l = W_O^T D_l 1, the output is F = sum_l f_l g_l . z_l, since relu is homogeneous, and

    dF/dW_O = sum_l f_l (D_l 1) z_l^T,           dF/dW_V = sum_l f_l g_l (sum_i S_il x_i)^T,
    dF/dM   = X^T E X,   E_il = f_l S_il g_l . (W_V x_i - z_l),
    dF/dW_K = W_Q (dF/dM)^T,                     dF/dW_Q = W_K dF/dM.

Everything has a leading axis of R trials: R networks, each with inputs of its own or all with the same.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import torch

from patch_association.checks import finite, made_of
from patch_association.shallow.tokens import Tokens

#: How a token attends: as model (1) says; to all alike (S_il = f_i); to itself alone (a per-token network).
ATTENTION = ("softmax", "uniform", "identity")


@dataclass(frozen=True)
class Weights:
    """The parameters of R networks (1).

    Attributes
    ----------
    head : (R, m) or (R, L, m) tensor
        a, shared by all positions or one a_(l) a position. It is never trained.
    output : (R, m, ma) tensor
        W_O.
    value : (R, ma, d) tensor
        W_V.
    key, query : (R, mb, d) tensors
        W_K, W_Q.

    Raises
    ------
    ValueError
        If the shapes do not fit together.
    """

    head: torch.Tensor
    output: torch.Tensor
    value: torch.Tensor
    key: torch.Tensor
    query: torch.Tensor

    def __post_init__(self):
        R, m, ma = self.output.shape
        d = self.value.shape[-1]
        mb = self.key.shape[-2]
        expected = {"value": (R, ma, d), "key": (R, mb, d), "query": (R, mb, d)}
        got = {name: tuple(getattr(self, name).shape) for name in expected}
        if got != expected or self.head.shape[0] != R or self.head.shape[-1] != m:
            raise ValueError(
                f"the weights must fit output of shape {(R, m, ma)} as {expected} and head as "
                f"{(R, m)} or {(R, 'L', m)}, got {got} and head {tuple(self.head.shape)}"
            )

    @property
    def num_trials(self) -> int:
        return self.output.shape[0]

    def trial(self, r: int) -> Weights:
        """The weights of trial r alone, still with an axis of trials."""
        return Weights(*(getattr(self, field.name)[r : r + 1] for field in fields(self)))

    def to(self, dtype=None, device=None) -> Weights:
        return Weights(*(getattr(self, field.name).to(device=device, dtype=dtype) for field in fields(self)))

    def moved(self, gradient: Weights, rate: float, attention_moves: bool = True) -> Weights:
        """One step of gradient descent; W_K and W_Q stay where ``attention_moves`` is off (Proposition 1).

        Parameters
        ----------
        gradient : Weights
        rate : float
        attention_moves : bool
        """
        step = dict(output=self.output - rate * gradient.output, value=self.value - rate * gradient.value)
        if attention_moves:
            step.update(key=self.key - rate * gradient.key, query=self.query - rate * gradient.query)
        return replace(self, **step)


@dataclass(frozen=True)
class Forward:
    """What a forward pass knows: everything has the axes (R, n, ...)."""

    F: torch.Tensor  # (R, n)
    S: torch.Tensor | None  # (R, n, L, L), key i by query l; identity attention leaves it out
    Z: torch.Tensor  # (R, n, L, ma)
    V: torch.Tensor  # (R, n, L, ma)
    active: torch.Tensor  # (R, n L, m): a_l 1[W_O z_l > 0]
    g: torch.Tensor  # (R, n, L, ma)


def attention_map(weights: Weights, X, share, attention: str = "softmax"):
    """S (R, n, L, L), key i by query l: column l is what token l attends to.

    Parameters
    ----------
    weights : Weights
    X, share : tensors (as in :class:`~patch_association.shallow.tokens.Tokens`)
    attention : str (one of ``ATTENTION``)

    Raises
    ------
    ValueError
        If ``attention`` is another word.
    """
    if attention not in ATTENTION:
        raise ValueError(f"attention must be one of {', '.join(ATTENTION)}, got {attention!r}")
    X = _with_trials(X)
    share = _weights_with_trials(share)
    R = max(weights.num_trials, X.shape[0])
    n = share.shape[1]
    L = X.shape[2]
    if attention == "identity":
        return torch.eye(L, dtype=X.dtype, device=X.device).expand(R, n, L, L)
    if attention == "uniform":
        return share[..., None].expand(R, n, L, L)
    K = X @ weights.key.mT[:, None]  # (R, n, L, d) @ (R, 1, d, mb)
    Q = X @ weights.query.mT[:, None]
    # The weight of a key multiplies its exponential: log f_i is added to its score, -inf where it is absent.
    return torch.softmax(K @ Q.mT + share.log()[..., None], dim=-2)  # (R, n, L, L)


def forward(weights: Weights, tokens: Tokens, attention: str = "softmax") -> Forward:
    """The output of model (1) and what its gradient needs.

    Parameters
    ----------
    weights, tokens, attention : as in :func:`attention_map`; ``tokens`` holds X and the weights of tokens

    Raises
    ------
    ValueError
        If ``attention`` is another word.
    """
    X = _with_trials(tokens.X)
    share = _weights_with_trials(tokens.share)
    S = None if attention == "identity" else attention_map(weights, X, share, attention)
    V = X @ weights.value.mT[:, None]  # (R, n, L, d) @ (R, 1, d, ma)
    n = share.shape[1]
    Z = V if S is None else S.mT @ V  # (R, n, L, ma)
    R = max(weights.num_trials, Z.shape[0])
    ma = V.shape[-1]
    Z = Z.expand(R, n, -1, -1)
    head = weights.head
    output = weights.output
    active = Z.reshape(R, -1, ma) @ output.mT  # (R, n L, ma) @ (R, ma, m)
    active.gt_(0)
    if head.ndim == 2:  # one a for all positions goes into W_O, where it costs nothing
        read = head[..., None] * output
    else:
        active = active.view(R, n, -1, head.shape[-1]).mul_(head[:, None]).view(R, -1, head.shape[-1])
        read = output
    # (R, ma, m) @ (R, m, n L): with the thin matrix on the left it is three times as fast.
    g = (read.mT @ active.mT).mT.reshape(Z.shape)
    F = torch.einsum("rnl,rnla,rnla->rn", share.expand(R, n, -1), g, Z)
    return Forward(F, S, Z, V, active, g)


def output(weights: Weights, tokens: Tokens, attention: str = "softmax") -> torch.Tensor:
    """F(X), shape (R, n).

    Parameters
    ----------
    weights, tokens, attention : as in :func:`forward`, and so the errors
    """
    size = chunk_size(weights, tokens)
    parts = tokens.chunks(size)
    return torch.cat([forward(weights, part, attention).F for part in parts], dim=-1)


def check_inputs(weights, tokens) -> None:
    """Refuse anything but networks and their inputs."""
    made_of("weights", weights, "Weights", "num_trials", "output", "query")
    made_of("tokens", tokens, "Tokens", "X", "y", "share", "probability")


def chunk_size(weights: Weights, tokens: Tokens, entries: int = 4_000_000) -> int:
    """How many inputs at once keep the largest array, (R, n, L, m), below so many entries."""
    check_inputs(weights, tokens)
    R, m = weights.output.shape[:2]
    return max(1, entries // (R * m * tokens.num_tokens))


def backward(
    weights: Weights,
    tokens: Tokens,
    passed: Forward,
    slope,
    attention: str = "softmax",
    attention_moves: bool = True,
) -> Weights:
    """The gradient of sum_n slope_n F(X_n), as weights whose head is zero; slope has shape (R, n).

    Without ``attention_moves`` the gradient by W_K and W_Q is left out (zero).

    Parameters
    ----------
    weights, tokens, attention : as in :func:`forward`, which gave ``passed``
    slope : (R, n) tensor
    attention_moves : bool
    """
    X = _with_trials(tokens.X)
    share = _weights_with_trials(tokens.share)
    R, n, L, ma = passed.Z.shape
    by_query = (slope[..., None] * share)[..., None]  # (R, n, L, 1)
    weighted = (by_query * passed.Z).view(R, -1, ma)
    d_output = (weighted.mT @ passed.active).mT  # ((R, ma, n L) @ (R, n L, m))^T
    if weights.head.ndim == 2:
        d_output = weights.head[..., None] * d_output
    g = by_query * passed.g  # (R, n, L, ma)
    heard = g if passed.S is None else passed.S @ g  # (R, n, L, ma): what each key is told
    # The sum over queries first, then over inputs: (R, ma, n L) @ (R, n L, d).
    tokens_of = X.expand(R, n, L, -1).reshape(R, n * L, -1)
    d_value = heard.reshape(R, -1, ma).mT @ tokens_of
    zero = torch.zeros_like
    if attention != "softmax" or not attention_moves:
        still = zero(weights.key).expand(R, -1, -1), zero(weights.query).expand(R, -1, -1)
        return Weights(zero(weights.head), d_output, d_value, *still)
    along = torch.einsum("rnla,rnla->rnl", g, passed.Z)
    E = passed.S * (passed.V @ g.mT - along[..., None, :])  # (R, n, L, L)
    # sum_n X_n^T E_n X_n; where all inputs share their tokens the sum comes first.
    if X.shape[1] == 1 < n:
        E = E.sum(dim=1, keepdim=True)
        n = 1
        tokens_of = X.expand(R, 1, L, -1).reshape(R, L, -1)
    dM = tokens_of.mT @ (E @ X).reshape(R, n * L, -1)  # (R, d, n L) @ (R, n L, d)
    return Weights(zero(weights.head), d_output, d_value, weights.query @ dM.mT, weights.key @ dM)


def loss_and_slope(F, y, probability, loss: str = "hinge", margin: float = 1.0):
    """The mean loss, shape (R,), and its slope by F, shape (R, n).

    "hinge" is max(margin - y F, 0), the paper's at margin 1; "logistic" is log(1 + exp(-y F)).

    Parameters
    ----------
    F : (R, n) tensor
    y, probability : (n,) or (R, n) tensors
    loss, margin : str, float ("hinge" or "logistic"; the margin is the hinge's)

    Raises
    ------
    ValueError
        If ``loss`` is another word, or ``margin`` is not finite.
    """
    margin = finite("margin", margin)
    yF = y * F
    if loss == "hinge":
        short = margin - yF
        return (probability * short.clamp(min=0)).sum(-1), -y * probability * (short > 0).to(short)
    if loss == "logistic":
        value = torch.nn.functional.softplus(-yF, threshold=60)
        return (probability * value).sum(-1), -y * probability * torch.sigmoid(-yF)
    raise ValueError(f"loss must be 'hinge' or 'logistic', got {loss!r}")


def loss_and_gradient(
    weights: Weights, tokens: Tokens, attention: str = "softmax", loss: str = "hinge", margin: float = 1.0
):
    """The mean loss (R,), F (R, n) and the gradient (as Weights) of R networks on their inputs.

    Parameters
    ----------
    weights, tokens, attention : as in :func:`forward`
    loss, margin : as in :func:`loss_and_slope`

    Raises
    ------
    ValueError
        If an argument is of another class, or a word or the margin does not fit.
    """
    check_inputs(weights, tokens)
    value, F, _, gradient = one_pass(weights, tokens, attention, loss, margin)
    return value, F, gradient


#: Entries of the largest array of a trial, (n, L, m), from which trials are computed one after the other: one
#: of them then fills a core's cache, and those of all would be read from memory.
LARGE = 500_000


def one_pass(weights, tokens, attention, loss="hinge", margin=1.0, attention_moves: bool = True):
    """The loss (R,), F and its slope (R, n), and the gradient: all trials at once, or by trial where large.

    The parameters are those of :func:`loss_and_gradient` and :func:`backward`.
    """
    R, m = weights.output.shape[:2]
    large = len(tokens) * tokens.num_tokens * m > LARGE and weights.output.device.type == "cpu"
    if R > 1 and large:
        parts = [
            one_pass(weights.trial(r), tokens.trial(r), attention, loss, margin, attention_moves)
            for r in range(R)
        ]
        value, F, slope, gradients = zip(*parts)
        names = [field.name for field in fields(Weights)]
        joined = (torch.cat([getattr(part, name) for part in gradients]) for name in names)
        return torch.cat(value), torch.cat(F), torch.cat(slope), Weights(*joined)
    passed = forward(weights, tokens, attention)
    value, slope = loss_and_slope(passed.F, tokens.y, tokens.probability, loss, margin)
    gradient = backward(weights, tokens, passed, slope, attention, attention_moves)
    return value, passed.F, slope, gradient


def _with_trials(X):
    """(R or 1, n or 1, L, d)."""
    return X[None] if X.ndim == 3 else X


def _weights_with_trials(share):
    """The weights of the tokens with an axis of trials in front: (R or 1, n, L)."""
    return share[None] if share.ndim == 2 else share
