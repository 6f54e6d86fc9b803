"""Both descents: how they end when they diverge, and what they refuse."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small import small_law

from patch_association.exact.risk import PopulationRisk
from patch_association.training import (
    Constant,
    Diverged,
    Samples,
    descend,
    descend_population,
    realistic_start,
    recorded_steps,
)


def test_divergence_names_seed_step_and_rate():
    law = small_law()
    samples = Samples.draw(law, 300, [3, 8])
    start = realistic_start(law, [3, 8])
    start.value[1] += 3e3 * law.feature  # seed 8 starts out of bounds, seed 3 does not
    start.scores[1, 0, 1] += 30
    message = r"seed 8 diverged at step 0 with rate 0.01 for v and 0.02 for A"
    with pytest.raises(Diverged, match=message) as caught:
        descend(samples, start, Constant(0.01, 0.02), steps=5)
    assert caught.value.seeds == (8,) and caught.value.at == 0 and caught.value.run.steps.size == 0
    run = descend(samples, start, Constant(0.01, 0.02), steps=5, on_divergence="flag")
    assert run.diverged_at.tolist() == [-1, 0]
    assert np.isnan(run.margin[:, 1]).all() and np.isnan(run.loss[1:, 1]).all() and not run.exact[:, 1].any()
    alone = descend(Samples.draw(law, 300, [3]), realistic_start(law, [3]), Constant(0.01, 0.02), steps=5)
    assert np.abs(run.loss[:, 0] - alone.loss[:, 0]).max() < 1e-14
    # Too large a rate blows up on its way.
    with pytest.raises(Diverged) as caught:
        descend(samples, realistic_start(law, [3, 8]), Constant(50.0, 50.0), steps=200)
    assert 0 < caught.value.at < 200 and caught.value.run.steps.size == caught.value.at
    assert np.isfinite(caught.value.run.loss).all()


def test_population_divergence():
    risk = PopulationRisk(16, 4, 0.3)
    with pytest.raises(Diverged, match=r"^diverged at step \d+ with rate 100 for v and 100 for A") as caught:
        descend_population(risk, Constant(100.0, 100.0), steps=50)
    run = descend_population(risk, Constant(100.0, 100.0), steps=50, on_divergence="flag")
    assert run.diverged_at == caught.value.at > 0 and run.steps.tolist() == list(range(run.diverged_at))
    assert descend_population(risk, Constant(0.01), steps=5).diverged_at is None


@given(st.integers(0, 300), st.integers(1, 400))
def test_every_kth_step_and_the_last(steps, every):
    chosen = recorded_steps(steps, every)
    assert chosen[0] == 0 and chosen[-1] == steps and (np.diff(chosen) > 0).all()
    assert all(t % every == 0 or t == steps for t in chosen)
    assert recorded_steps(steps).tolist() == list(range(steps + 1))
    assert recorded_steps(steps, [steps, 0, steps]).tolist() == sorted({0, steps})
