"""Arguments that work, for every public function; those of some rooms have files of their own."""

from pathlib import Path

import numpy as np
import torch
from public_calls_exact import CALLS as EXACT
from public_calls_exact import SPECIAL as EXACT_SPECIAL
from public_calls_rooms import CALLS as ROOMS
from public_calls_rooms import SPECIAL as ROOMS_SPECIAL
from small_sweeps import CELLS, measure

import patch_association as pa
from patch_association import images as models
from patch_association import shallow as shallow_vit
from patch_association import training
from patch_association.data import GaussianData
from patch_lab import beyond, figures, records, sweeps
from patch_lab import ledger as claims
from patch_lab.images import data as pictures
from patch_lab.images import training as runs

PACKAGE = Path(pa.__file__).parent
SETS = pa.Partition([0, 0, 1, 1])
LAW = pa.SpatialData(SETS, 2, 0.5)
DRAWN = LAW.sample(6, 0)
MADE = pa.Samples.draw(LAW, 6, seeds=[0])
PATTERNS = shallow_vit.PatternData(6, 0.5, 1 / 6, num_patterns=3, dim=4)
TOKENS = shallow_vit.population(PATTERNS)
WEIGHTS = shallow_vit.initial_weights(PATTERNS, num_neurons=4)
PAIR = dict(num_patches=4, set_size=2)
RISK = pa.PopulationRisk(4, 2, 0.5)
SPECIAL = {**EXACT_SPECIAL, **ROOMS_SPECIAL}
ATTENTION = dict(
    X=torch.ones(1, 4, 2), P=torch.ones(4, 2), W_Q=torch.eye(2), W_K=torch.eye(2), W_V=torch.eye(2)
)

CALLS = {
    **EXACT,
    **ROOMS,
    pa.Partition: dict(labels=[0, 0, 1, 1]),
    pa.SpatialData: dict(partition=SETS, dim=2, q=0.5, noise_std=1.0, feature=[1.0, 0.0]),
    GaussianData: dict(partition=SETS, dim=2, filters="shared", seed=0),
    pa.association: dict(scores=np.eye(4), partition=SETS),
    pa.SimplifiedViT: dict(num_patches=4, dim=2, degree=3, linear=0.1, diagonal=1.0, init_std=0.1, seed=0),
    pa.self_attention: ATTENTION,
    pa.positional_attention: ATTENTION,
    pa.Constant: dict(rate=0.1, score_rate=0.1),
    training.Clipped: dict(rate=0.1, score_rate=0.1, clip=0.1),
    pa.Samples: dict(law=LAW, X=DRAWN[0][None], y=DRAWN[1][None], seeds=[0], chunk=5),
    training.StreamedSamples: dict(law=LAW, n=5, seeds=[0], chunk=5),
    pa.HeldOut: dict(law=LAW, n=5, seed=0),
    training.idealized_start: dict(law=LAW, num_seeds=1, diagonal=1.0, degree=3, linear=0.1),
    pa.realistic_start: dict(law=LAW, seeds=[0], diagonal=1.0, init_std=0.1),
    training.perturbed_start: dict(law=LAW, seed=0, omega=0.1, alpha=0.1),
    training.recorded_steps: dict(steps=3, record=2),
    training.loss_and_gradients: dict(
        X=DRAWN[0][None],
        y=DRAWN[1][None],
        scores=torch.zeros(1, 4, 4).double(),
        value=torch.ones(1, 2).double(),
        degree=3,
        linear=0.1,
        prefactor=4.0,
        scale=1.0,
    ),
    pa.descend: dict(
        samples=MADE,
        start=pa.realistic_start(LAW, [0]),
        step=pa.Constant(0.01),
        steps=2,
        degree=3,
        linear=0.1,
        prefactor=4.0,
        scale=1.0,
        record=1,
        snapshots=[0],
        on_divergence="raise",
    ),
    pa.descend_population: dict(
        risk=RISK,
        step=pa.Constant(0.01),
        steps=2,
        diagonal=1.0,
        alpha=0.1,
        gamma=0.0,
        rho=0.0,
        record=1,
        on_divergence="raise",
    ),
    beyond.Bench: dict(
        kind="content",
        seeds=1,
        num_patches=4,
        dim=2,
        diagonal=1.0,
        degree=3,
        linear=0.1,
        score_std=0.1,
        value_std=0.1,
        form_std=0.1,
        seed=0,
    ),
    beyond.CrossedData: dict(num_groups=2, num_keys=2, set_size=2, q=0.5, key_length=2.0, noise_std=0.2),
    beyond.Design: dict(layers=1, heads=1, width=1, encoding_dim=4, encoding_std=1.0, diagonal=1.0),
    beyond.Network: dict(design=beyond.Design(), seeds=1, num_patches=4, dim=2, seed=0),
    beyond.RarePatterns: dict(num_tokens=8, num_relevant=4, spread=0.3, noise_std=0.2),
    beyond.PartlyInformed: dict(partition=SETS, knowledge=0.5, seed=0, units=2),
    beyond.blind_error: dict(**PAIR, q=0.5, num_classes=2),
    beyond.null_recall: dict(scores=np.eye(4), partition=SETS, draws=3, seed=0),
    beyond.shuffled_inputs: dict(data=LAW, n=3, seed=0),
    beyond.p_value: dict(scores=np.eye(4), partition=SETS, draws=3, seed=0),
    claims.Ledger.at: dict(path=PACKAGE / "claims" / "table" / "setting.toml"),
    claims.Number: dict(value=1.0, kind="exact", tolerance=0.0),
    claims.exact: dict(value=1.0),
    claims.sampled: dict(estimate=1.0, tolerance=0.1),
    claims.chapter: dict(name="setting/structure"),
    claims.check: dict(claim_id="jelassi2022-definition-2.1"),
    records.load: dict(name="limits"),
    records.read: dict(path=PACKAGE / "records" / "data" / "limits.json"),
    records.parse: dict(text='{"name": "a", "command": "b", "config": {}, "results": []}'),
    records.encode: dict(array=np.ones(2), dtype="f2"),
    records.decode: dict(text=records.encode(np.ones(2))),
    shallow_vit.PatternData: dict(
        num_tokens=6,
        relevant=0.5,
        confusion=1 / 6,
        num_patterns=3,
        dim=4,
        noise=0.1,
        noise_kind="gaussian",
        counts="fixed",
        ties="redraw",
    ),
    shallow_vit.pattern_sets: dict(sizes=[2, 2], dim=8, spread=0.3, seed=0),
    shallow_vit.initial_weights: dict(
        data=PATTERNS,
        seeds=(0,),
        num_neurons=4,
        reading="assumption",
        head="shared",
        value_error=0.1,
        score_error=0.1,
        output_std=0.1,
        longest=1.0,
    ),
    shallow_vit.population: dict(data=PATTERNS, max_atoms=10_000),
    shallow_vit.remove: dict(tokens=TOKENS, share=0.5, kind="irrelevant", seed=0),
    shallow_vit.keep_attended: dict(tokens=TOKENS, weights=WEIGHTS, count=2),
    shallow_vit.with_neighbors: dict(tokens=PATTERNS.sample(4, 0), width=2),
    shallow_vit.train: dict(
        tokens=TOKENS,
        weights=WEIGHTS,
        steps=1,
        rate=0.1,
        variant="trained",
        loss="hinge",
        margin=1.0,
        seed=0,
    ),
    shallow_vit.loss_and_gradient: dict(
        weights=WEIGHTS, tokens=TOKENS, attention="softmax", loss="hinge", margin=1.0
    ),
    shallow_vit.output: dict(weights=WEIGHTS, tokens=TOKENS, attention="softmax"),
    shallow_vit.measure: dict(weights=WEIGHTS, tokens=TOKENS, attention="softmax"),
    sweeps.run_sweep: dict(
        sweep=sweeps.Sweep("demo", "", CELLS[:1], measure), jobs=1, backend="loky", limit=0
    ),
    sweeps.rerun: dict(name="limits"),
    pictures.load: dict(name="digits", train_size=5, test_size=5),
    pictures.GridPermutation: dict(image_size=8, tile=2, seed=0),
    models.ViTConfig: dict(image_size=8, patch_size=2, depth=1, heads=2, width=8, mlp_width=8, num_classes=2),
    runs.TrainConfig: dict(
        val_size=5,
        image_size=8,
        tile=2,
        tile_seed=0,
        epochs=5,
        batch_size=4,
        lr=0.1,
        weight_decay=0.1,
        beta2=0.9,
        warmup_epochs=1.0,
        label_smoothing=0.1,
        clip=1.0,
        seed=0,
        workers=0,
        threads=1,
        checkpoint_seconds=1.0,
        minutes=0.0,
        augment="none",
        precision="auto",
        model="vit",
    ),
    models.residual_cnn: dict(num_classes=2, widths=(4,)),
    runs.preset: dict(name="smoke"),
    runs.with_settings: dict(config=runs.TrainConfig(), settings=["lr=0.1"]),
    figures.set_palette: dict(num_sets=4),
    figures.look: dict(quantity="same set"),
    figures.new_figure: dict(rows=1, columns=1, width="column", height=2.0),
}
