"""What no argument of a public function may be, by its name."""

import math
from pathlib import Path

import numpy as np
from hypothesis import strategies as st
from strategies import not_degrees, not_finite, not_integers, not_numbers, not_probabilities

positive = st.one_of(not_integers, st.integers(max_value=0))
counts = st.one_of(not_integers, st.integers(max_value=-1))
reals = st.one_of(not_numbers, not_finite, st.just(10**400))
not_negative = st.one_of(reals, st.floats(max_value=-1e-300))
words = st.sampled_from(["", "nothing of the kind", "ALPHA", "../../etc/passwd"])
things = st.sampled_from([None, 3, "a", [1], {"a": 1}, object()])
arrays = st.sampled_from([None, "a", {"a": 1}, [[1.0], [1.0, 2.0]], [math.nan], np.array([1j])])
functions = st.sampled_from([None, 3, "a", [1]])


def named(words):
    """A list of names."""
    return words.split()


def optional(strategy):
    """The same where None is allowed."""
    return strategy.filter(lambda value: value is not None)


SPOILERS = {
    **dict.fromkeys(
        named(
            "num_patches set_size dim n num_seeds num_groups num_keys layers heads width "
            "encoding_dim num_tokens num_relevant units num_classes draws num_patterns num_neurons "
            "max_atoms nodes num_inputs element_size pooled_sets shift largest points most "
            "image_size patch_size depth mlp_width epochs batch_size num_sets jobs"
        ),
        positive,
    ),
    **dict.fromkeys(named("seed tile_seed steps val_size workers threads tile count moved"), counts),
    **dict.fromkeys(["train_size", "test_size", "limit"], optional(counts)),
    **dict.fromkeys(
        named("q knowledge relevant confusion label_smoothing beta2 share error target fraction"),
        not_probabilities,
    ),
    **dict.fromkeys(named("noise_std init_std score_rate prune longest"), optional(not_negative)),
    **dict.fromkeys(
        named(
            "rate clip linear score_std value_std form_std encoding_std spread omega noise "
            "value_error score_error output_std lr weight_decay warmup_epochs checkpoint_seconds "
            "minutes tolerance ratio per_set chi gap repel growth linear_weight fineness relative accuracy"
        ),
        not_negative,
    ),
    **dict.fromkeys(named("diagonal beta gamma rho margin key_length strength angle lift response"), reals),
    **dict.fromkeys(["alpha", "prefactor"], optional(reals)),
    "scale": st.one_of(reals, st.just(0.0)),
    "degree": not_degrees,
    "chunk": optional(positive),
    **dict.fromkeys(named("labels scores encodings score s X P W_Q W_K W_V y value"), arrays),
    **dict.fromkeys(["feature"], optional(arrays)),
    **dict.fromkeys(
        named("partition law samples start step risk design data tokens weights moments"), things
    ),
    **dict.fromkeys(
        named(
            "ties kind on_divergence name noise_kind counts reading head variant loss attention "
            "backend augment precision model quantity claim_id dtype text"
        ),
        words,
    ),
    "path": st.sampled_from([Path("nowhere.toml"), Path("/nowhere/a.json")]),
    "settings": st.sampled_from([["lr"], ["nothing=1"], ["lr=a"], ["epochs=1.5"], ["seed=" + "9" * 5000]]),
}
