"""What a GPU does in a second of training at the paper's size. ``gpu.py [--tiny] [--minutes M] [--out FILE]``

Rows, all made in one process on one card: our runs side by side (both kinds of attention, patches of 4 and
2 pixels, five runs; compiled and as they are; tokens in float32 and bfloat16), ResNet-18 and VGG-19 (five
runs), our loop for one run (``train``), and timm's ViT of the same shape, compiled, in bfloat16, with
PyTorch's fused AdamW. Each row has images a second, operations of an image (forward and backward, by
:mod:`patch_lab.images.flops`), what of the card's bfloat16 peak that is, and the most memory that was held.
Rows that fail say so; rows for which the time is up are named. ``--tiny`` runs the same code on two cores
of a processor, in seconds; its numbers mean nothing.

At the end a profile of one recorded step: the kernels that take most of it. The table goes to
``benchmarks/gpu.json``.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from patch_association.images.vit import ViT, ViTConfig
from patch_lab.images.data.augment import normalize
from patch_lab.images.data.sets import ImageSet
from patch_lab.images.flops import vit_flops
from patch_lab.images.training.config import TrainConfig, preset
from patch_lab.images.training.feed import ResidentFeed
from patch_lab.images.training.processes import processes
from patch_lab.images.training.step import TrainStep, make_optimizer
from patch_lab.images.training.together import Together
from patch_lab.images.training.trainer import make_model, started
from patch_lab.kit.files import write_atomically
from patch_lab.kit.records import provenance

sys.path.append(str(Path(__file__).parents[1] / "tests" / "images"))
from vision_shim import load_torchvision  # pyright: ignore[reportMissingImports]

HERE = Path(__file__).parent

#: Dense bfloat16 operations a second by the makers' data sheets, for the share of the peak.
PEAKS = {"H100": 989e12, "H200": 989e12, "A100": 312e12}
RUNS = 5
STEPS = 20
SHOWN = 12
_TINY = dict(depth=1, heads=2, width=16, mlp_width=16, batch_size=8, device="cpu", precision="float32")


def main() -> int:
    """Measure what the time allows, and write the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tiny", action="store_true", help="the same code, small, on a processor")
    parser.add_argument(
        "--minutes", type=float, default=9.0, help="no row is begun after so many (default: 9)"
    )
    parser.add_argument("--out", type=Path, default=HERE / "gpu.json")
    asked = parser.parse_args()
    if not asked.tiny and not torch.cuda.is_available():
        parser.error("there is no GPU that PyTorch can use: --tiny tries the code on a processor")
    end = time.monotonic() + 60 * asked.minutes
    data = made_up(48 if asked.tiny else 8192)
    own = _TINY if asked.tiny else {}
    rows: list[dict] = []
    for name, row in measurements(own, data):
        if time.monotonic() > end:
            rows.append({"name": name, "left out": "the time was up"})
        else:
            rows.append({"name": name} | attempted(row))
        print(json.dumps(rows[-1]), flush=True)
        about = provenance(0.0, "cpu" if asked.tiny else "cuda")
        rows[-1]["commit"] = about["commit"]
        table = {name: about[name] for name in ("hardware", "date")}
        table |= {"torch": torch.__version__, "rows": rows}
        write_atomically(asked.out, json.dumps(table, indent=1) + "\n")
    return 0


def made_up(n: int) -> ImageSet:
    """Noise of 32 pixels in a hundred classes: how long a step takes does not depend on what it shows."""
    images = torch.randint(256, (n, 3, 32, 32), generator=torch.Generator().manual_seed(0)).byte()
    labels = torch.arange(n) % 100
    classes = tuple(map(str, range(100)))
    return ImageSet("noise", "made up", classes, images, labels, images[:64], labels[:64])


def measurements(own: dict[str, Any], data: ImageSet) -> Iterator[tuple[str, Callable[[], dict]]]:
    """Names of the rows and what measures them, the ones that matter most first."""
    base = replace(preset("cifar100"), val_size=0, epochs=2, warmup_epochs=0.0, **own)
    kinds = ("vanilla", "positional")

    def ours(tokens=torch.float32, **changes):
        config = replace(base, **changes)
        return lambda: side_by_side(config, data, tokens)

    for kind in kinds:
        yield f"{kind}, {RUNS} side by side, compiled", ours(attention=kind, compile=True)
    for seeds in (1, 2, 3):
        config = replace(base, compile=True)
        name = f"both kinds of {seeds} seeds, {2 * seeds} side by side, compiled"
        yield name, partial(pairs, config, data, seeds)
    yield "timm's ViT, compiled, bfloat16", lambda: by_timm(base, data)
    for kind in kinds:
        yield f"{kind}, {RUNS} side by side", ours(attention=kind)
    for kind in kinds:
        yield f"{kind}, our loop, one run", partial(by_loop, replace(base, attention=kind), data)
    for kind in kinds:
        low = ours(torch.bfloat16, attention=kind, compile=True)
        yield f"{kind}, {RUNS} side by side, compiled, tokens in bfloat16", low
    for model in ("resnet18", "vgg19"):
        yield f"{model}, {RUNS} side by side", ours(model=model)
    for kind in kinds:
        yield (
            f"{kind}, patches of 2, {RUNS} side by side, compiled",
            ours(attention=kind, patch_size=2, compile=True),
        )
    for kind in kinds:
        config = replace(base, attention=kind, compile=True)
        yield f"where a step's time goes, {kind}, compiled", partial(profiled, config, data)


def attempted(row: Callable[[], dict]) -> dict:
    """A row's numbers with the most memory that was held, or what went wrong."""
    gpu = torch.cuda.is_available()
    if gpu:
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    began = time.perf_counter()
    try:
        numbers = row()
    except Exception:
        return {"failed": traceback.format_exc(limit=3)}
    if gpu:
        numbers["memory_gb"] = round(torch.cuda.max_memory_allocated() / 1e9, 2)
        peak = next((top for name, top in PEAKS.items() if name in torch.cuda.get_device_name()), None)
        if peak and "gflop_an_image" in numbers:
            numbers["share_of_peak"] = round(
                1e9 * numbers["gflop_an_image"] * numbers["images_per_s"] / peak, 4
            )
    return numbers | {"row_s": round(time.perf_counter() - began, 1)}


def side_by_side(config: TrainConfig, data: ImageSet, tokens=torch.float32) -> dict:
    """Several seeds of one setting."""
    return _together([replace(config, seed=seed) for seed in range(RUNS)], data, tokens)


def pairs(config: TrainConfig, data: ImageSet, seeds: int) -> dict:
    """Both kinds of some seeds."""
    kinds = ("vanilla", "positional")
    return _together([replace(config, seed=s, attention=k) for s in range(seeds) for k in kinds], data)


def _together(configs, data, tokens=torch.float32) -> dict:
    began = time.perf_counter()
    with Together(configs, data, tokens=tokens) as runs:
        step = runs.start()
        ready = time.perf_counter() - began
        step_s = seconds(step)
        ahead = seconds(lambda: runs._prepared(1), 1)
    batch = configs[0].batch_size
    shown = len(configs) * batch
    operations = [_operations(config, data) for config in configs]
    return {
        "images_per_s": round(shown / step_s, 1),
        "step_ms": round(1e3 * step_s, 3),
        "ready_s": round(ready, 1),
        "pictures_ahead_per_s": round(runs.steps * len(runs.feeds) * batch / ahead, 1),
        "gflop_an_image": round(sum(operations) / len(operations) / 1e9, 4),
    }


def _operations(config: TrainConfig, data: ImageSet) -> float:
    """Of an image, forward and backward; those that are done once for a batch have their share."""
    if config.model == "vit":
        return vit_flops(_shape(config, data)).step(config.batch_size) / config.batch_size
    from torch.utils.flop_counter import FlopCounterMode

    from patch_lab.images import convolution

    model = getattr(convolution, config.model)(len(data.classes), data.channels).eval()
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        model(torch.zeros(1, data.channels, data.image_size, data.image_size))
    return 3.0 * counter.get_total_flops()


def _shape(config: TrainConfig, data: ImageSet) -> ViTConfig:
    model = make_model(config, len(data.classes), data.image_size, data.channels)
    assert isinstance(model, ViT)
    return model.config


def by_loop(config: TrainConfig, data: ImageSet) -> dict:
    """``train`` as it is, compiled where there is a GPU: augmentation, a step, sums."""
    place = processes(config.device)
    feed = ResidentFeed(data, config, place)
    model = started(config, feed).train()
    gpu = place.device.type == "cuda"
    called = torch.compile(model, mode="reduce-overhead") if gpu else model
    step = TrainStep(called, make_optimizer(model, config), config, feed.mean, feed.std)

    def batches():
        epoch = 0
        while True:
            yield from feed.epoch(epoch)
            epoch += 1

    coming = batches()
    step_s = seconds(lambda: step(*next(coming), 1e-3))
    return _alone(config, data, step_s)


def by_timm(config: TrainConfig, data: ImageSet) -> dict:
    """timm's plain ViT of the same shape: pictures are there, normalized in the step, and not augmented."""
    try:  # timm imports torchvision; some of its builds need help beside their torch
        load_torchvision()
    except (ImportError, OSError) as error:
        print(f"torchvision: {error}")
    from timm.models.vision_transformer import VisionTransformer

    c = _shape(config, data)
    place = processes(config.device)
    model: nn.Module = VisionTransformer(
        img_size=c.image_size, patch_size=c.patch_size, num_classes=c.num_classes, embed_dim=c.width,
        depth=c.depth, num_heads=c.heads, mlp_ratio=c.mlp_width / c.width, class_token=False,
        global_pool="avg",
    ).to(place.device)  # fmt: skip
    gpu = place.device.type == "cuda"
    called = torch.compile(model, mode="reduce-overhead") if gpu else model
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.05, fused=True)
    images = data.train_images[: config.batch_size].to(place.device)
    labels = data.train_labels[: config.batch_size].to(place.device)
    mean, std = (statistic.to(place.device) for statistic in data.statistics())

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(place.device.type, torch.bfloat16, enabled=gpu):
            loss = F.cross_entropy(called(normalize(images, mean, std)), labels, label_smoothing=0.1)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

    return _alone(replace(config, attention="vanilla"), data, seconds(step))


def _alone(config: TrainConfig, data: ImageSet, step_s: float) -> dict:
    return {
        "images_per_s": round(config.batch_size / step_s, 1),
        "step_ms": round(1e3 * step_s, 3),
        "gflop_an_image": round(_operations(config, data) / 1e9, 4),
    }


def seconds(function: Callable[[], object], steps: int = STEPS) -> float:
    """Of a call, the median of three passes, once it is warm."""
    wait = torch.cuda.synchronize if torch.cuda.is_available() else lambda: None
    for _ in range(min(3, steps)):
        function()
    passes = []
    for _ in range(3):
        wait()
        began = time.perf_counter()
        for _ in range(steps):
            function()
        wait()
        passes.append((time.perf_counter() - began) / steps)
    return sorted(passes)[1]


def profiled(config: TrainConfig, data: ImageSet) -> dict:
    """The kernels that take most of a step of five runs, in microseconds a step."""
    from torch.profiler import ProfilerActivity, profile

    configs = [replace(config, seed=seed) for seed in range(RUNS)]
    steps = 5
    gpu = torch.cuda.is_available()
    with Together(configs, data) as runs:
        step = runs.start()
        step()
        activities = [ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if gpu else [])]
        with profile(activities=activities) as profiler:
            for _ in range(steps):
                step()
            if gpu:
                torch.cuda.synchronize()

    def took(event):
        return event.self_device_time_total if gpu else event.self_cpu_time_total

    events = sorted(profiler.key_averages(), key=took, reverse=True)[:SHOWN]
    return {"kernels_us": {event.key[:90]: round(took(event) / steps, 1) for event in events}}


if __name__ == "__main__":
    raise SystemExit(main())
