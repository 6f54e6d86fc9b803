"""Every outcome of Assumption 1, one by one: the slow truth that the exact formulas are held to."""

import itertools

import torch

from patch_association.structure import Partition


def outcomes(partition: Partition, q: float):
    """All (s, y) with positive probability: s (n, D), y (n,), probability (n,), float64.

    The noise is orthogonal to w* and has mean zero given (s, y), so it neither enters F nor the mean
    gradient when v lies on w*.
    """
    D, C, L = partition.num_patches, partition.set_size, partition.num_sets
    rows, labels, chances = [], [], []
    chance = {-1: q / 2, 0: 1 - q, 1: q / 2}
    for signal in range(L):
        outside = [j for j in range(D) if partition.labels[j] != signal]
        for y in (-1, 1):
            for values in itertools.product((-1, 0, 1), repeat=D - C):
                p = 0.5 / L
                for value in values:
                    p *= chance[value]
                if p > 0:
                    s = [float(y)] * D
                    for j, value in zip(outside, values):
                        s[j] = float(value)
                    rows.append(s)
                    labels.append(float(y))
                    chances.append(p)

    def as_tensor(x):
        return torch.tensor(x, dtype=torch.float64)

    return as_tensor(rows), as_tensor(labels), as_tensor(chances)


def family_scores(partition: Partition, beta: float, gamma: float, rho: float) -> torch.Tensor:
    """(D, D) scores of Lemma 4.1."""
    same = torch.from_numpy(partition.same_set)
    A = torch.where(same, torch.tensor(gamma, dtype=torch.float64), torch.tensor(rho, dtype=torch.float64))
    return A.fill_diagonal_(beta)


def enumerated(partition, law, degree, linear, A, v, w):
    """(loss, dA, dv, F y, probability) with autograd over every score and every coordinate of v.

    Written for its own sake, from (T): sums spelled out, no line shared with the library.
    """
    s, y, p = law
    D = partition.num_patches
    A, v = A.clone().requires_grad_(), v.clone().requires_grad_()
    S = torch.exp(A) / torch.exp(A).sum(dim=1, keepdim=True)
    X = s[:, :, None] * w  # (n, D, d)
    z = D * torch.einsum("ij,njk,k->ni", S, X, v)
    yF = y * (z**degree + linear * z).sum(dim=1)
    loss = (p * torch.logaddexp(torch.zeros_like(yF), -yF)).sum()
    dA, dv = torch.autograd.grad(loss, (A, v))
    return loss.item(), dA - torch.diag(dA.diagonal()), dv, yF.detach(), p
