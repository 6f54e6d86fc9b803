"""Arguments that work for the faces of the rooms ``transfer``, ``certify`` and ``images``."""

import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import torch
from flint import arb
from hypothesis import strategies as st
from spoilers import arrays, counts, functions, not_negative, optional, positive, things, words
from strategies import not_probabilities

import patch_association as pa
from patch_association import exact, images
from patch_association.images.locality import grid_distances
from patch_lab import certify, transfer

SETS = pa.Partition([0, 0, 1, 1])
LAW = pa.SpatialData(SETS, 3, 0.5)
HARD = exact.BlockAttention.hard(SETS)
X, Y = (tensor.numpy() for tensor in LAW.sample(6, 0))
FEW = dict(sizes=[2, 3], seeds=[0])
SEVERAL = transfer.SeveralFeatures([SETS, pa.Partition([0, 1, 0, 1])], 3, 0.5)
HEADS = transfer.Heads([HARD, HARD])
GRID = dict(sizes=[10, 20, 40], errors=[[0.3, 0.1, 0.0], [0.2, 0.1, 0.0]])
#: One cell of a sweep a number of patches; what distinguishes them is ``model``.
CELLS = [
    {"num_patches": D, "model": model, "samples": 5, "errors": [0.1, 0.2]} for D in (4, 8) for model in "ab"
]

#: The numbers of certificates are exact.
HALF, TENTH = Fraction(1, 2), Fraction(1, 10)
ATOMS = certify.atoms(6, 2, "2/5")
FIELD = certify.RoundedField(ATOMS, 1, TENTH)
RATES = dict(rate=TENTH, score_rate=TENTH)
FALLS = dict(
    chart="towards", target="rho", sign=1, alpha=(0.05, 0.1), y=(0.3, 0.6), z=(0.3, 0.6), drop=0, extra=()
)
TRAP = SimpleNamespace(inequalities=lambda *rates: {"rho falls": certify.Inequality(**FALLS)})
ENDS = dict(alpha=(Fraction(1, 4), HALF), slab=Fraction(1, 8), Y=Fraction(1, 4))

#: A ViT of one layer under timm's names, as :func:`vit_of` reads it, and as one of ours.
LAYER = {"norm1": (8,), "attn.qkv": (24, 8), "attn.proj": (8, 8), "norm2": (8,)}
SHAPES = {f"blocks.0.{name}": shape for name, shape in LAYER.items()} | {
    "blocks.0.mlp.fc1": (8, 8),
    "blocks.0.mlp.fc2": (8, 8),
    "norm": (8,),
    "head": (2, 8),
    "patch_embed.proj": (8, 1, 2, 2),
}
THEIRS = {
    "pos_embed": torch.zeros(1, 4, 8),
    **{f"{name}.weight": torch.zeros(shape) for name, shape in SHAPES.items()},
    **{f"{name}.bias": torch.zeros(shape[0]) for name, shape in SHAPES.items()},
}
OURS = images.vit_of(THEIRS, heads=2)
DIGITS = images.load("digits", train_size=5, test_size=5)
ONE = images.ViT(images.ViTConfig(image_size=8, channels=1, patch_size=4, depth=1, heads=1, width=4))

CALLS = {
    transfer.crossing: dict(sizes=[10, 20, 40], mean_errors=[0.3, 0.1, 0.0], target=0.05),
    transfer.growth_fits: dict(num_patches=[4, 9, 16], complexities=[10.0, 20.0, 30.0], powers=(1, 2)),
    transfer.sample_complexity: dict(**GRID, target=0.05, level=0.9, resamples=5, seed=0),
    transfer.slope_interval: dict(
        num_patches=[4, 9],
        sizes=[GRID["sizes"], [20, 40, 80]],
        errors_by_patches=[GRID["errors"]] * 2,
        target=0.05,
        level=0.9,
        resamples=5,
        seed=0,
    ),
    transfer.coactivation: dict(X=X, y=Y, w=np.ones(3)),
    transfer.first_moment: dict(X=X, y=Y),
    transfer.likelihood_sets: dict(active=X[:, :, 0] > 0, set_size=2, passes=2),
    transfer.refined_feature: dict(X=X, y=Y, set_size=2, rounds=1),
    transfer.draw_reads: dict(data=LAW, attention=HARD, n=3, seeds=[0]),
    transfer.fine_tune: dict(
        reads=transfer.draw_reads(LAW, HARD, 3, [0]),
        attention=HARD,
        **FEW,
        step=pa.Constant(0.01),
        steps=1,
        degree=3,
        linear=0.1,
        init_std=0.1,
    ),
    transfer.usual_step: dict(num_patches=4, ratio=1.0),
    transfer.error_table: dict(
        learner=lambda data, samples, seed: transfer.Outcome(0.5), data=LAW, sizes=[2, 3], seeds=[0]
    ),
    transfer.train_from_scratch: dict(
        data=LAW,
        samples=4,
        seed=0,
        step=pa.Constant(0.01),
        steps=1,
        diagonal=1.0,
        linear=0.1,
        init_std=0.1,
        dtype=torch.float64,
    ),
    transfer.with_fixed_attention: dict(
        data=LAW, attention=HARD, **FEW, step=pa.Constant(0.01), steps=1, linear=0.1, draws=5
    ),
    transfer.fit_logistic: dict(X=X, y=Y, penalty=1.0),
    transfer.linear_test_error: dict(W=np.ones((4, 3)), data=LAW, draws=5, seed=0),
    transfer.tuned_logistic: dict(X=X, y=Y, X_val=X, y_val=Y, penalties=[1.0]),
    transfer.Heads: dict(attentions=[HARD, HARD]),
    transfer.SeveralFeatures: dict(partitions=[SETS, SETS], dim=3, q=0.5),
    transfer.draw_several: dict(data=SEVERAL, heads=HEADS, n=3, seeds=[0]),
    transfer.reassign: dict(partition=SETS, fraction=0.5, seed=0),
    transfer.several_errors: dict(
        value=torch.ones(2, 6).double(), heads=HEADS, data=SEVERAL, degree=3, linear=0.1, draws=5, seed=0
    ),
    transfer.shared_attention: dict(partitions=[SETS, SETS], gamma=1.0),
    transfer.overlap_rule: dict(active=X[:, :, 0] > 0, set_size=2),
    transfer.averaged_by_patches: dict(cells=CELLS, over="model"),
    transfer.by_patches: dict(cells=CELLS),
    transfer.errors_by_size: dict(cells=CELLS[:2]),
    certify.Inequality: FALLS,
    certify.Descent: dict(engine=FIELD, **RATES, start=(TENTH, 0, 0)),
    certify.ahead: dict(box=(arb(1), arb(2), arb(1))),
    certify.End: dict(alpha=ENDS["alpha"], Y=HALF, near=Fraction(1, 4), beyond=Fraction(1, 8), X=HALF),
    certify.no_movement: dict(num_patches=6, set_size=2, degree=3),
    certify.Field: dict(atoms=ATOMS, beta=1, linear="1/10"),
    certify.atoms: dict(num_patches=6, set_size=2, q="2/5", degree=3),
    certify.RoundedField: dict(atoms=ATOMS, beta=1, linear="1/10"),
    certify.Options: dict(arithmetic="arb", tell=print),
    certify.Run: dict(
        num_patches=6,
        set_size=2,
        q="2/5",
        **RATES,
        alpha=TENTH,
        steps=3,
        expect=((1, 1),),
        degree=3,
        diagonal="1",
        linear=TENTH,
    ),
    certify.lead_run: dict(q="3/10", rate="1/200", diagonal=1, steps=3),
    certify.prove_trap: dict(trap=TRAP, engine=FIELD, rates=(TENTH, TENTH), options=certify.Options()),
    certify.prove: dict(name="nothing-moves", options=certify.Options()),
    certify.quick: dict(together=1.0),
    certify.Away: dict(**ENDS, X0=HALF, X=Fraction(3, 4)),
    certify.Towards: dict(**ENDS, X=HALF),
    images.encoding_locality: dict(P=np.eye(9)),
    images.neighbor_recall: dict(similarities=-grid_distances(3), grid=3, k=4),
    images.similarity: dict(P=np.eye(3)),
    images.attention_maps: dict(model=ONE, data=DIGITS, pictures=2, layer=0),
    images.positional_share: dict(attention=torch.eye(4).expand(1, 6, 1, 4, 4)),
    images.attention_of: dict(model=OURS, images=torch.zeros(1, 1, 4, 4)),
    images.encodings_of: dict(model=THEIRS),
    images.vit_of: dict(model=THEIRS, heads=2),
    images.assemble: dict(similarities=np.exp(-grid_distances(3)), links=12),
    images.cosines: dict(similarities=np.exp(-grid_distances(3))),
}

#: What these arguments may not be, where they mean something else than in other rooms or are only here.
sizes = st.sampled_from([None, "a", [], [0], [1.5], [True], 2.5])
ends = st.sampled_from([None, 3, (0.5,), (HALF, Fraction(1, 4)), (math.nan, 1.0), ("a", "b")])
sides = st.sampled_from([None, 0.5, Fraction(1, 3), -HALF, 0, "1/2", True])
not_exact = st.one_of(
    st.floats(), st.booleans(), st.none(), st.sampled_from(["", "a half", "1/0", "nan", [0.5], 1j])
)
weights = st.sampled_from([None, 3, [1], {"a": 1}, {}, object()])  # a text would be the name of a model
COMMON = dict(
    active=arrays,
    complexities=arrays,
    mean_errors=arrays,
    similarities=arrays,
    errors=arrays,
    w=arrays,
    W=arrays,
    X_val=arrays,
    y_val=arrays,
    attention=things,
    attentions=things,
    cells=things,
    data=things,
    errors_by_patches=things,
    images=things,
    partitions=things,
    reads=things,
    value=things,
    learner=functions,
    level=st.one_of(not_probabilities, st.sampled_from([0.0, 1.0])),
    links=optional(positive),
    grid=positive,
    k=positive,
    layer=counts,
    model=weights,
    over=st.sampled_from(["", "nothing", None, 3]),
    passes=positive,
    penalty=st.one_of(not_negative, st.just(0.0)),
    penalties=st.sampled_from([None, 3, [], [0.0], "a", [math.nan]]),
    pictures=positive,
    powers=st.sampled_from([None, 3, [], [0], "a", [1.5]]),
    ratio=not_negative,
    resamples=positive,
    rounds=counts,
    samples=positive,
    step=st.sampled_from([0, "", 3, "a", [1], object()]),
    seeds=st.sampled_from([None, "a", [], [-1], [0.5], [True], 2.5]),
    sizes=sizes,
)
CERTIFY = dict(
    **dict.fromkeys(("q", "rate", "score_rate", "diagonal", "beta", "linear", "start"), not_exact),
    **dict.fromkeys(("slab", "Y", "X0", "X", "near", "beyond"), sides),
    **dict.fromkeys(("atoms", "engine", "box", "trap", "rates", "expect"), things),
    **dict.fromkeys(("alpha", "y", "z"), ends),
    **dict.fromkeys(("chart", "target", "arithmetic", "name"), words),
    options=things.filter(lambda value: value is not None),
    steps=positive,
    sign=st.sampled_from([0, 2, None, "a"]),
    drop=counts,
    tell=functions,
    together=not_negative,
)
SPECIAL = {
    function: {
        name: chosen[name]
        for chosen in ((CERTIFY if function.__module__.startswith(certify.__name__) else COMMON),)
        for name in arguments.keys() & chosen.keys()
    }
    for function, arguments in CALLS.items()
}
for function in (transfer.draw_several, transfer.several_errors):
    SPECIAL[function]["heads"] = things
for function in (transfer.growth_fits, transfer.slope_interval):
    SPECIAL[function]["num_patches"] = arrays
SPECIAL[images.vit_of]["heads"] = optional(positive)
SPECIAL[certify.Run]["alpha"] = not_exact
SPECIAL[certify.prove_trap]["options"] = things  # here there is no default
