"""Model (1) as it is printed, one input at a time, with autograd: shares no line with the library."""

import itertools

import torch


def printed_output(head, W_O, W_V, W_K, W_Q, X, attention="softmax"):
    """F(X) for X (L, d): (1/L) sum_l a_(l)^T relu(W_O W_V X^T softmax(X W_K^T W_Q x_l))."""
    columns = X.T  # (d, L), the paper's X
    L = columns.shape[1]
    total = 0
    for place in range(L):
        if attention == "softmax":
            weight = torch.softmax(columns.T @ W_K.T @ W_Q @ columns[:, place], dim=0)
        elif attention == "uniform":
            weight = torch.full((L,), 1 / L, dtype=X.dtype)
        else:
            weight = torch.zeros(L, dtype=X.dtype)
            weight[place] = 1.0
        a = head if head.ndim == 1 else head[place]
        total = total + a @ torch.relu(W_O @ W_V @ columns @ weight)
    return total / L


def printed_mass(W_K, W_Q, X, relevant):
    """The left side of (15), averaged over all l."""
    S = torch.softmax(X @ W_K.T @ W_Q @ X.T, dim=0)  # key by query
    return S[relevant].sum(dim=0).mean()


def mean_loss(weights, r, inputs, labels, chances, attention="softmax", loss="hinge", margin=1.0):
    """The mean loss of trial r over a list of inputs (L, d), and its gradient by autograd."""
    names = ("output", "value", "key", "query")
    leaves = [getattr(weights, name)[r].clone().requires_grad_() for name in names]
    total = 0
    for X, y, p in zip(inputs, labels, chances):
        yF = y * printed_output(weights.head[r], *leaves, X, attention)
        if loss == "hinge":
            total = total + p * torch.relu(margin - yF)
        else:
            total = total + p * torch.log1p(torch.exp(-yF))
    slopes = torch.autograd.grad(total, leaves, allow_unused=True)
    found = {
        name: torch.zeros_like(leaf) if slope is None else slope
        for name, leaf, slope in zip(names, leaves, slopes)
    }
    return total.detach(), found


def every_sequence(data):
    """Every sequence of L patterns with its label and probability, by brute force, ties left out or halved.

    Given its class, tokens are independent draws; the label is the majority.
    """
    chances, L, M = data.chances(), data.num_tokens, data.num_patterns
    rows = []
    for sequence in itertools.product(range(M), repeat=L):
        p = 0.0
        for side in (0, 1):
            product = 0.5
            for pattern in sequence:
                product *= chances[side][pattern]
            p += product
        lead = sequence.count(0) - sequence.count(1)
        if lead:
            rows.append((sequence, 1.0 if lead > 0 else -1.0, p))
        elif data.ties == "coin":
            rows += [(sequence, 1.0, p / 2), (sequence, -1.0, p / 2)]
    total = sum(p for _, _, p in rows)
    return [(sequence, y, p / total) for sequence, y, p in rows]
