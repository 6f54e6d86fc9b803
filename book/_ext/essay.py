"""What the essay "Nobody told it what 'next to' means" shows: its scenes' data, numbers and still pictures.

Everything comes from the engines and records that the chapters use. The scenes in the browser get the data
as a script; where no script runs, the stills stand in the page.
"""

from __future__ import annotations

from functools import cache
from io import BytesIO

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection
from PIL import Image
from scipy.stats import norm

from patch_association.exact.labels import bayes_error
from patch_association.exact.linear import linear_error
from patch_association.images.locality import grid_distances, similarity
from patch_association.images.vit import ViT
from patch_lab.images.puzzle import Assembly, assemble, cosines
from patch_lab.images.sweeps import study
from patch_lab.images.training.config import TrainConfig
from patch_lab.images.training.trainer import make_model
from patch_lab.kit.figures.style import COLORS, INK, PAPER, use_style
from patch_lab.kit.ledger import shipped
from patch_lab.kit.prose import percent
from patch_lab.kit.records import decode, load

#: The setting of the scenes that play model (T): patches, patches in a set, chance of a random feature.
NETWORK = {"D": 36, "C": 4, "q": 0.5}
COUNTING = {"C": 4, "q": 0.3, "least": 16, "most": 196}
#: The samples of the scene of lamps, each with ten runs, and the chance of a random feature in them.
FORGOTTEN = {"sizes": (1000, 4000, 8000), "q": 0.3}

#: Layers and heads of the last scene, from 1: one that looks around its place, and the three most positional.
GAZES = ((1, 3), (2, 1), (2, 3), (3, 2))


@cache
def similarities() -> dict[str, np.ndarray]:
    """(196, 196) inner products of the encodings of two trained networks, and of a random start."""
    start = 0.02 * np.random.default_rng(0).standard_normal((196, 192))
    record = load("vit_encodings")
    return {
        "vit": decode(record.one(model="ViT-Tiny/16")["similarity"]),
        "deit": decode(record.one(model="DeiT-Tiny/16")["similarity"]),
        "start": similarity(start).astype("f2"),
    }


@cache
def sheet(name: str) -> Assembly:
    """The puzzle put together from a network's similarities."""
    return assemble(similarities()[name])


def joined(assembly: Assembly) -> int:
    """How many of the linked pairs are neighbors at a side."""
    side = round(len(assembly.links) ** 0.5)
    return int((assembly.links & (grid_distances(side) == 1)).sum()) // 2


@cache
def heap() -> dict:
    """For each network the strings, where they alone lead, and the place that each piece takes."""
    return {
        name: {
            "links": np.argwhere(np.triu(sheet(name).links)).tolist(),
            "plane": sheet(name).plane.round(3).tolist(),
            "places": sheet(name).places.tolist(),
            "joined": joined(sheet(name)),
            "right": round(196 * sheet(name).at_place),
        }
        for name in ("vit", "start")
    }


@cache
def networks() -> dict[str, dict]:
    """Two networks of CIFAR-10: encodings before training and after every epoch, and what was measured.

    ``encodings`` has (epochs + 1) arrays (64, width); ``metrics`` is the record's, an entry an epoch.
    """
    by_kind = {}
    for run in load("cifar10_study").where(epochs=40, width=64, tile=32, seed=0):
        config = TrainConfig(
            **study.settings(run["model"], run["epochs"], run["tile"], run["seed"], run["width"])
        )
        network = make_model(config, 10, 32, 3)
        assert isinstance(network, ViT)
        start = network.positions[0].detach().numpy()
        P = [start, *decode(run["positions"]).astype(np.float64)]
        by_kind[run["model"]] = {"encodings": P, "metrics": run["metrics"]}
    return by_kind


@cache
def strings() -> dict:
    """The vanilla network's most similar pairs at every epoch, as many as the grid has pairs of neighbors.

    ``links`` holds them as ``64 i + j``, ``near`` how many are neighbors at a side, ``accuracy`` the share of
    validation pictures that are guessed right, ``done`` the first epochs at which nine tenths of the whole
    gain in either are made.
    """
    run = networks()["vanilla"]
    first, second = np.triu_indices(64, 1)
    beside = grid_distances(8) == 1
    count = int(beside.sum()) // 2
    links = []
    near = []
    for P in run["encodings"]:
        top = np.argsort(-cosines(similarity(P))[first, second], kind="stable")[:count]
        links.append((64 * first[top] + second[top]).tolist())
        near.append(int(beside[first[top], second[top]].sum()))
    accuracy = [0.1, *(at["val_accuracy"] for at in run["metrics"])]  # ten classes
    done = [int(np.argmax(np.array(y) >= y[0] + 0.9 * (y[-1] - y[0]))) for y in (near, accuracy)]
    return {"links": links, "near": near, "accuracy": accuracy, "count": count, "done": done}


def mirrors(links: list[int]) -> int:
    """How many pairs ``64 i + j`` are a place and its mirror image, left for right, and no neighbors."""
    (row, column), (other, far) = (np.divmod(k, 8) for k in np.divmod(links, 64))
    return int(((row == other) & (column + far == 7) & (np.abs(column - far) > 1)).sum())


@cache
def counting() -> dict:
    """Both listeners' errors against the clutter ``q (D - C) / C^2``, exact, for sets of two sizes."""
    q = COUNTING["q"]
    curves = {}
    for C, sizes in ((4, range(8, 220, 4)), (16, range(32, 1600, 112))):
        curves[str(C)] = [
            [round(q * (D - C) / C**2, 4), round(linear_error(D, C, q, ties="half"), 5)] for D in sizes
        ]
    listening = [[round(q * (D - 4) / 16, 4), round(bayes_error(D, 4, q), 5)] for D in range(8, 220, 4)]
    return {**COUNTING, "curves": curves, "listening": listening, "boundary": boundary()}


def boundary() -> float:
    """The clutter, in units of a set's size squared, at which a sum errs in one of eight inputs."""
    return float(norm.ppf(7 / 8) ** -2)


@cache
def forgotten() -> dict:
    """Ten runs on samples of three sizes: the margin of association at each recorded step, and the error."""
    record = load("transience")
    runs = {}
    for n in FORGOTTEN["sizes"]:
        cell = record.one(n=n, q=FORGOTTEN["q"])
        runs[str(n)] = {
            "margin": np.round(cell["margin"], 6).T.tolist(),  # (records, seeds); exact where above zero
            "error": np.mean(cell["test_error"], axis=0).round(6).tolist(),
        }
    every, steps = (record.config[key] for key in ("every", "steps"))
    return {"runs": runs, "every": every, "steps": steps, "q": FORGOTTEN["q"]}


@cache
def gazes() -> dict:
    """Where four heads of ViT-Tiny look from nine places, in thousandths, on average over pictures."""
    row = load("vit_attention").one(positions="own")
    shares = np.rint(1000 * decode(row["rows"])).astype(int)  # (layers, heads, queries, places)
    heads = [{"layer": n, "head": h, "rows": shares[n - 1, h - 1].tolist()} for n, h in GAZES]
    return {"queries": row["queries"], "heads": heads}


def data() -> dict:
    """What the scenes below the first one get."""
    scenes = {"strings": strings, "counting": counting, "forgotten": forgotten, "gazes": gazes}
    return {"network": NETWORK} | {name: of() for name, of in scenes.items()}


@cache
def numbers() -> dict[str, str]:
    """The numbers of the essay's text by name, as they stand there."""
    S = strings()
    F = forgotten()
    D, C, q = (NETWORK[key] for key in ("D", "C", "q"))
    end = F["runs"][str(FORGOTTEN["sizes"][-1])]
    lit = np.sum(np.array(end["margin"]) > 0, axis=1)
    claims = [claim for claim in shipped() if claim.kind == "claim"]
    failing = [claim for claim in claims if claim.family == "fails"]
    return {
        "tiles": f"{D}",
        "pairs": f"{len(heap()['vit']['links'])}",
        "joined": f"{heap()['vit']['joined']}",
        "joined before": f"{heap()['start']['joined']}",
        "right before": f"{heap()['start']['right']}",
        "joined deit": f"{joined(sheet('deit'))}",
        "strings": f"{S['count']}",
        "near first": f"{S['near'][0]}",
        "near early": f"{S['near'][S['done'][0]]}",
        "near last": f"{S['near'][-1]}",
        "mirrors last": f"{mirrors(S['links'][-1])}",
        "map done": f"{S['done'][0]}",
        "answers done": f"{S['done'][1]}",
        "accuracy early": percent(S["accuracy"][S["done"][0]], 2),
        "accuracy last": percent(S["accuracy"][-1], 2),
        "sum error": percent(linear_error(D, C, q, ties="half"), 2),
        "sets error": percent(bayes_error(D, C, q), 2),
        "boundary": f"{boundary():.4f}",
        "lit most": f"{lit.max()}",
        "lit last": f"{lit[-1]}",
        "inputs most": f"{FORGOTTEN['sizes'][-1]:,}",
        "error when lit": percent(end["error"][int(np.argmax(lit))], 2),
        "error last": percent(end["error"][-1], 2),
        "claims": f"{len(claims)}",
        "failing": f"{len(failing)}",
    }


# ---- stills ------------------------------------------------------------------------------------------------


def still_heap(picture: str) -> str:
    """Both sheets as SVG: the picture at ``picture``, a square, cut and laid as the strings say."""
    parts = []
    for at, name in ((0, "vit"), (16, "start")):
        for k, (row, column) in enumerate(sheet(name).places):
            r, c = divmod(k, 14)
            parts.append(
                f'<svg x="{at + column}" y="{row}" width="1" height="1" viewBox="{c} {r} 1 1">'
                f'<image href="{picture}" width="14" height="14"/></svg>'
            )
    return f'<svg viewBox="0 0 30 14" role="img" aria-label="{STILLS["heap"]}">{"".join(parts)}</svg>'


def still_strings() -> str:
    """The strings at three epochs, as SVG in the page's colors."""
    parts = []
    for at, epoch in enumerate((0, strings()["done"][0], len(strings()["links"]) - 1)):
        x = 9.5 * at + 1
        y = 1.5
        for link in strings()["links"][epoch]:
            r, c = divmod(link // 64, 8)
            s, d = divmod(link % 64, 8)
            style = "pa-same" if abs(r - s) + abs(c - d) == 1 else "pa-other"
            over = f"{x + (c + d) / 2 + 0.12 * (s - r):g} {y + (r + s) / 2 - 0.12 * (d - c):g}"
            parts.append(f'<path class="{style}" d="M{x + c} {y + r}Q{over} {x + d} {y + s}"/>')
        parts.append(f'<text x="{9.5 * at + 0.8}" y="0.8">epoch {epoch}</text>')
    label = STILLS["strings"]
    drawn = 'fill="none" stroke="currentColor" stroke-width="0.07"'
    return f'<svg viewBox="0 0 28 9.5" role="img" aria-label="{label}" {drawn}>{"".join(parts)}</svg>'


def still_grids() -> str:
    """The strings of ViT-Tiny before and after training, as SVG in the page's colors: the exact grid."""
    parts = []
    for at, name in ((0, "start"), (16, "vit")):
        style = "pa-same" if name == "vit" else "pa-other"
        lines = "".join(
            f"M{at + 1 + i % 14} {1 + i // 14}L{at + 1 + j % 14} {1 + j // 14}"
            for i, j in heap()[name]["links"]
        )
        dots = "".join(f"M{at + 1 + k % 14} {1 + k // 14}h0" for k in range(196))
        parts += [f'<path class="{style} pa-lines" d="{lines}"/>', f'<path class="pa-dots" d="{dots}"/>']
    return f'<svg viewBox="0 0 31 15" role="img" aria-label="{STILLS["grids"]}">{"".join(parts)}</svg>'


#: What the stills show, in words.
STILLS = {
    "heap": (
        "Two squares of pieces of a photograph of a cat. Put together by the similarities of a trained "
        "network the cat is whole; put together by those before training the pieces lie in disorder."
    ),
    "strings": (
        "An eight by eight grid of places three times, its most similar pairs joined by strings: at first in "
        "all directions, then mostly between neighbors, with long arcs between mirror images."
    ),
    "grids": (
        "A fourteen by fourteen grid of places twice, its most similar pairs joined by strings. Before "
        "training the strings are a tangle; after it they are exactly the lines of the grid."
    ),
}


def share_picture() -> bytes:
    """The picture that a link to the book shows elsewhere, 1,200 by 630 pixels: a PNG."""
    use_style()
    with plt.rc_context({"svg.fonttype": "path", "figure.constrained_layout.use": False}):
        fig = plt.figure(figsize=(12, 6.3), dpi=100, facecolor=PAPER)
        for left, name, color, words in (
            (0.055, "start", COLORS["other sets"], "before training"),
            (0.53, "vit", COLORS["same set"], "after"),
        ):
            ax = fig.add_axes((left, 0.07, 0.415, 0.69))
            place = np.stack(np.divmod(np.arange(196), 14), axis=-1)[:, ::-1]  # x, y
            lines = place[np.array(heap()[name]["links"])]
            faint = name == "start"
            ax.add_collection(
                LineCollection(
                    list(lines), colors=color, linewidths=0.8 if faint else 2.2, alpha=0.55 if faint else 1
                )
            )
            ax.scatter(*place.T, s=18, color=INK, zorder=3)
            ax.set(xlim=(-0.6, 13.6), ylim=(14.8, -0.6), aspect="equal")
            ax.axis("off")
            ax.text(6.5, 14.6, words, ha="center", va="center", fontsize=19, color=INK)
        fig.text(
            0.5,
            0.875,
            "Nobody told it what “next to” means",
            ha="center",
            va="center",
            fontsize=33,
            color=INK,
            weight="bold",
        )
        file = BytesIO()
        fig.savefig(file, format="png", dpi=100)
        plt.close(fig)
    small = BytesIO()
    Image.open(file).convert("RGB").quantize(64).save(small, format="png", optimize=True)
    return small.getvalue()
