"""Starts of a ViT: heads are shifts to the stated margin, values have the stated product, the rest stays."""

import math

import pytest
import torch
from vision_shim import compare_with

from patch_association.images.vit import STEPS, ViT, ViTConfig, shifts
from patch_lab.images import paired_runs
from patch_lab.images.starts import (
    STARTS,
    VALUES,
    codes,
    halves,
    share,
    shift_heads,
    start_like,
    value_product,
    waves,
)  # fmt: skip
from patch_lab.images.training import train
from patch_lab.images.training.config import TrainConfig
from patch_lab.kit.records import Record


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def small(**changes):
    shape = dict(image_size=8, patch_size=2, num_classes=3, depth=2, heads=4, width=32, mlp_width=12)
    return ViT(ViTConfig(**(shape | changes)), seed=1)


def pictures(n=6):
    return torch.randn(n, 3, 8, 8, generator=generator(1))


@pytest.mark.parametrize("class_token", [False, True])
def test_heads_are_shifts_on_a_grid_of_three_by_four(class_token):
    rows, columns, heads, margin = 3, 4, 9, 2.5
    book = codes(rows, columns, 16, generator())
    P = torch.stack([book[r] + book[rows + c] for r in range(rows) for c in range(columns)])
    tokens = torch.cat([P, torch.zeros(1, 16)]) if class_token else P
    # A layer norm's centering must not see the codes.
    torch.testing.assert_close(P.mean(dim=1), torch.zeros(12), atol=1e-6, rtol=0)
    W_Q, W_K = shift_heads(book, rows, heads, 8, margin, generator(3))
    S = torch.softmax((tokens @ W_Q.mT) @ (tokens @ W_K.mT).mT / 8**0.5, dim=-1)
    for head in range(heads):
        down, right = STEPS[head % 8]
        for r in range(rows):
            for c in range(columns):
                to = min(max(r + down, 0), rows - 1), min(max(c + right, 0), columns - 1)
                scores = [
                    margin * ((k // columns == to[0]) + (k % columns == to[1])) for k in range(rows * columns)
                ]
                want = torch.tensor(scores + [0.0] * class_token).softmax(dim=0)
                torch.testing.assert_close(S[head, r * columns + c], want, atol=1e-5, rtol=0)
                aim = S[head, r * columns + c, to[0] * columns + to[1]]
                assert math.isclose(aim, share(margin, rows, columns, class_token), abs_tol=1e-5)
    if class_token:
        torch.testing.assert_close(S[:, -1], torch.full((heads, 13), 1 / 13))
    assert all((W != 0).all() for W in (W_Q, W_K)), "no number of a head starts at zero and stays there"


@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_sharp_heads_of_our_vit_are_the_shifts_written_by_hand(pooling):
    model = small(attention="positional", pooling=pooling)
    start_like(model, "shifts", margin=20.0)
    with torch.no_grad():
        maps = model(pictures(), return_all=True)[1]["attention"]
    for S in maps:
        torch.testing.assert_close(S, shifts(4, 4, pooling == "cls"), atol=1e-4, rtol=0)


@pytest.mark.parametrize("positions", ["paper", "layers"])
def test_vanilla_layers_lead_by_the_margin_in_the_mean_over_pictures(positions):
    model, margin = small(positions=positions, pooling="cls"), 2.0
    start_like(model, "shifts", "minus", margin, pictures=pictures(40))
    seen = []
    for block in model.blocks:
        block.attention.register_forward_pre_hook(lambda part, inputs: seen.append((part, inputs)))
    with torch.no_grad():
        model(pictures(40))
        target = shifts(4, 4).bool()
        for part, (x, P, _) in seen:
            tokens = x if P is None else x + P
            # Both sides of the scores see P through the layer norm: in the mean its scale is the wanted one.
            z = tokens[:, :16].mean(dim=0)
            q, k = part._queries_keys(z)
            scores = q @ k.mT / 8**0.5
            own = scores[target].mean()
            rest = scores[~target].mean()
            # 2 m on the target; of the others 6 of 15 share its row or column and have m.
            assert 0.7 < (own - rest) / (margin * (2 - 6 / 15)) < 1.3


def test_a_vit_of_timm_starts_as_ours_does():
    timm = compare_with("timm.models.vision_transformer")
    theirs = timm.VisionTransformer(
        img_size=(6, 8), patch_size=2, num_classes=3, embed_dim=32, depth=2, num_heads=4, mlp_ratio=1
    ).eval()
    torch.nn.init.zeros_(theirs.patch_embed.proj.bias)
    torch.nn.init.zeros_(theirs.cls_token)
    before = {name: each.clone() for name, each in theirs.state_dict().items()}
    dark = torch.zeros(1, 3, 6, 8)  # tokens of the first layer are encodings
    start_like(theirs, "shifts", "minus", margin=3.0, pictures=dark)
    moved = {name for name, each in theirs.state_dict().items() if not torch.equal(each, before[name])}
    inside = {f"blocks.{k}.attn.{part}.weight" for k in range(2) for part in ("qkv", "proj")}
    assert moved == {"pos_embed", *inside}
    attn, seen = theirs.blocks[0].attn, []
    product = (attn.qkv.weight[64:].T @ attn.proj.weight.T).detach()
    assert product.diagonal().mean() < -0.2
    attn.register_forward_pre_hook(lambda part, inputs: seen.append(inputs[0]))
    with torch.no_grad():
        theirs(dark)
        q, k, _ = attn.qkv(seen[0])[0].reshape(13, 3, 4, 8).permute(1, 2, 0, 3)  # (heads, 13, 8)
    S = (q @ k.mT / 8**0.5).softmax(dim=-1)  # the class token comes first
    for head in range(4):
        for r in range(3):
            for c in range(4):
                to = min(max(r + STEPS[head][0], 0), 2) * 4 + min(max(c + STEPS[head][1], 0), 3)
                aim = S[head, 1 + r * 4 + c, 1 + to].item()
                assert math.isclose(aim, share(3.0, 3, 4, class_token=True), abs_tol=1e-3)


@pytest.mark.parametrize("values, sign", [("minus", -1), ("plus", 1), ("random", 0)])
def test_the_products_of_values(values, sign):
    width = 200
    product = value_product(values, width, generator())
    assert math.isclose(product.norm(), 0.4 * (2 * width) ** 0.5, rel_tol=0.02), "as long for all three"
    assert math.isclose(product.diagonal().mean(), 0.4 * sign, abs_tol=0.02)
    model = small()
    start_like(model, values=values)
    layer = model.blocks[1].attention.requires_grad_(False)
    found = layer.value.weight.T @ layer.output.weight.T
    assert math.isclose(found.diagonal().mean(), 0.4 * sign, abs_tol=0.06)
    torch.testing.assert_close(layer.value.weight.norm(), layer.output.weight.norm())


def test_the_mimetic_start():
    rank, Z = 3, torch.randn(10, 10, generator=generator())
    A, B = halves(Z, rank)
    singular = torch.linalg.svdvals(Z)
    assert math.isclose((Z - A @ B.T).norm(), singular[rank:].norm(), rel_tol=1e-4), "the best of this rank"
    P = waves(3, 4, 8)
    assert P[6].tolist() == pytest.approx(
        [f(x) for x in (2, 1) for f in (math.sin, lambda x: math.sin(x / 10_000), math.cos,
                                        lambda x: math.cos(x / 10_000))], abs=1e-6)  # fmt: skip
    model = small(width=128)
    start_like(model, "mimetic", "minus")
    weight = model.blocks[0].attention.query_key.weight.detach()
    Q, K = (W.reshape(4, 32, 128) for W in weight.chunk(2))
    traces = (Q * K).sum(dim=(1, 2))  # of W_Q W_K^T
    best = [torch.linalg.svdvals(0.7 * torch.eye(128)).sum() * 32 / 128] * 4
    assert all(0.3 * b < t for t, b in zip(traces, best)), "near the identity, not only as large"


@pytest.mark.parametrize("attention", ["vanilla", "positional"])
@pytest.mark.parametrize("start, values", [*((s, "usual") for s in STARTS), *(("shifts", v) for v in VALUES)])
def test_every_start_keeps_shapes_and_lets_gradients_through(attention, start, values):
    model = small(attention=attention)
    before = {name: each.clone() for name, each in model.state_dict().items()}
    start_like(model, start, values, pictures=pictures())
    after = model.state_dict()
    assert {n: e.shape for n, e in after.items()} == {n: e.shape for n, e in before.items()}
    moved = {name.split(".", 2)[-1] for name in after if not torch.equal(after[name], before[name])}
    of_start = {"usual": set(), "random": {"positions"}, "sums": {"positions"}}
    scores = {"positions", "attention.query_key.weight"}
    of_values = set() if values == "usual" else {"attention.value.weight", "attention.output.weight"}
    assert moved == of_start.get(start, scores) | of_values
    model(pictures()).square().sum().backward()
    for name, each in model.named_parameters():
        assert each.grad is not None and each.grad.isfinite().all()
        if name.endswith("weight") and "attention." in name:
            assert (each.grad.abs().amax(dim=1) > 0).all(), name


def test_refusals():
    positional, vanilla = small(attention="positional"), small()
    for wrong, words in (
        (lambda: start_like(positional, "shift"), "start must be one of usual, random, sums"),
        (lambda: start_like(positional, values="negative"), "values must be one of usual, minus"),
        (lambda: start_like(positional, margin=-1.0), "margin"),
        (lambda: start_like(vanilla, "shifts"), "pictures must be given"),
        (lambda: start_like(small(attention="uniform"), "sums"), "got uniform attention"),
        (lambda: start_like(small(positions="none"), "sums"), "positions='none'"),
        (lambda: start_like(small(width=8), "sums"), "width must be more than"),
        (lambda: start_like(small(heads=8), "shifts", pictures=pictures()), "8 or more, got 4"),
        (lambda: start_like(torch.nn.Linear(2, 2), "sums"), "got Linear"),
        (lambda: TrainConfig(start="theirs"), "start must be one of"),
        (lambda: TrainConfig(model="small_cnn", values="minus"), "of a vit"),
    ):
        with pytest.raises(ValueError, match=words):
            wrong()


def test_a_training_run_begins_there():
    own = dict(dataset="digits", vit="reader", patch_size=2, epochs=1, warmup_epochs=0, train_size=80,
               test_size=20, val_size=20, batch_size=20, threads=1, lr=0.0)  # fmt: skip
    for attention in ("vanilla", "positional"):
        config = TrainConfig(**own, attention=attention, start="shifts", values="minus", position_std=0.5)
        P = train(config, progress=False).model.positions
        torch.testing.assert_close(P.square().mean(dim=(0, 2)), torch.ones(P.shape[1]))
    usual = train(TrainConfig(**own, position_std=0.5), progress=False).model.positions.detach()
    assert math.isclose(usual.std(), 0.5, rel_tol=0.1)


def runs(arm, kind="vanilla", lr=0.1, held_out=0.5, **by_seed):
    """Test accuracies by seed: ``s0=0.5``; the higher the held-out ones end, the lower they begin."""
    settings = dict(arm=arm, kind=kind, lr=lr, val_accuracy=[1 - held_out, held_out], test_n=1000)
    return [settings | {"seed": int(seed[1:]), "test_accuracy": right} for seed, right in by_seed.items()]


def recorded(*cells):
    return Record("starts", "", {}, [row for cell in cells for row in cell])


def test_starts_are_compared_by_their_common_seeds():
    record = recorded(
        runs("usual", s2=0.3, s0=0.1, s1=0.2),
        runs("shifts", s0=0.2, s1=0.4, s3=0.9),
        runs("shifts", "positional", s0=1.0),
    )
    assert paired_runs.points_ahead(record, "vanilla", "shifts") == pytest.approx([10, 20])
    gain = paired_runs.gain(record, "vanilla", "shifts")
    assert gain.value == pytest.approx(15) and gain.n == 2
    later = recorded(runs("usual", s0=0.1, s1=0.1), runs("shifts", s0=0.1, s1=0.1))
    change = paired_runs.change_of_gain(later, record, "vanilla", "shifts", "usual")
    assert change.value == pytest.approx(-15)
    complete = paired_runs.with_whole_seeds(record)
    assert sorted(run["seed"] for run in complete) == [0, 0, 0]


def test_a_rate_is_chosen_by_pictures_held_out_after_the_last_epoch():
    record = recorded(
        runs("usual", lr=0.2, held_out=0.7, s0=0.1, s1=0.1),
        runs("usual", lr=0.1, held_out=0.7, s0=0.2, s1=0.2),
        runs("usual", lr=0.4, held_out=0.6, s0=0.9, s1=0.9),
        runs("shifts", lr=0.4, held_out=0.8, s0=0.3),
    )
    assert {run["lr"] for run in paired_runs.at_best_rate(record.where(arm="usual"))} == {0.1}
    chosen = paired_runs.at_own_rates(record)
    assert {(run["arm"], run["lr"]) for run in chosen} == {("usual", 0.1), ("shifts", 0.4)}


def test_cells_of_many_runs_are_unfolded_with_their_settings():
    cell = {"kind": "vanilla", "epochs": 3, "note": 1, "runs": [{"seed": 0}, {"seed": 1, "epochs": 5}]}
    record = Record("starts", "", {}, [cell])
    unfolded = paired_runs.unfolded(record).results
    assert unfolded == [dict(kind="vanilla", epochs=3, seed=0), dict(kind="vanilla", epochs=5, seed=1)]
    single = recorded(runs("usual", s0=0.1))
    assert paired_runs.unfolded(single).results == single.results
