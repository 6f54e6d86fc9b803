"""No noise that an adversary finds moves the output further than the bound."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from shallow_oracle import printed_output

from patch_association.shallow import PatternData, initial_weights, measure, train
from patch_lab.shallow_vit.certificate import noise_bound

NAMES = ("output", "value", "key", "query")


@settings(max_examples=10)
@given(
    radius=st.sampled_from([0.01, 0.1, 0.3]),
    attention=st.sampled_from(["softmax", "uniform", "identity"]),
    seed=st.integers(0, 100),
)
def test_an_adversary_stays_within_the_bound(radius, attention, seed):
    """Projected gradient ascent on every token, through the printed formula."""
    data = PatternData(6, 0.5, 1 / 6, num_patterns=3, dim=4, noise=0.0)
    clean = data.sample(1, seed=seed).X[0]
    weights = initial_weights(data, [seed], num_neurons=8, output_std=0.5, score_error=0.9)
    matrices = [getattr(weights, name)[0] for name in NAMES]
    bound = noise_bound(weights, radius, attention)[0]
    before = printed_output(weights.head[0], *matrices, clean, attention)
    for sign in (1, -1):
        generator = torch.Generator().manual_seed(seed)
        shift = 1e-3 * torch.randn(clean.shape, generator=generator, dtype=torch.float64)
        for _ in range(60):
            shift.requires_grad_()
            F = printed_output(weights.head[0], *matrices, clean + shift, attention)
            (slope,) = torch.autograd.grad(sign * F, shift)
            shift = (shift + radius * slope / (slope.norm(dim=1, keepdim=True) + 1e-12)).detach()
            shift = shift * (radius / shift.norm(dim=1, keepdim=True)).clamp(max=1)
        moved = printed_output(weights.head[0], *matrices, clean + shift, attention) - before
        assert abs(float(moved)) <= bound


def test_two_inputs_are_enough_for_a_risk_of_zero():
    """The chapter's theorem: N = 2, margin 1 + g, twice the bound below g; then draws cannot refute it."""
    data = PatternData(20, 0.4, 0.1, noise=0.001, noise_kind="ball")
    start = initial_weights(data, [0], num_neurons=100)
    run = train(data.balanced(2, seed=1), start, steps=2000, rate=0.1, margin=1.2)
    assert 2 * noise_bound(run.weights, 0.001)[0] <= 0.2
    assert measure(run.weights, data.sample(2000, seed=5)).risk[0] == 0
