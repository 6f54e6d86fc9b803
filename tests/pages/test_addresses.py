"""Whatever an address says: a state that its own address leads back to, or a sentence."""

from __future__ import annotations

import time

import pytest
from browser import SITE
from page_visits import NEXT_FRAME, opened, shown

pytestmark = pytest.mark.slow

#: What no number is written as.
NO_NUMBERS = [
    *["NaN", "Infinity", "1e999", "0x10", "1_000", "1,5", "½", "٣", "%ZZ", "1.2.3", "0.3=4", "--1", "."],
    "<img src=x onerror=alert(1)>",
]

#: An address that breaks one rule, and words of the sentence that says which; a rule a row.
OF_A_LAW = {
    "#D=0": "D must be a whole number", "#D=7.5&C=1": "D must be a whole number",
    "#C=0": "C must be a whole number", "#D=15&C=4": "does not divide D",
    "#q=1.0000001": "q must be a finite number",
}  # fmt: skip
SEED = {"#seed=-1": "seed must be a whole number", "#seed=1000000001": "seed must be a whole number"}
REFUSED = {
    "counting": OF_A_LAW | SEED | {"#D=1&C=1": "D must be a whole number"},
    "paint": SEED | {
        "#sets=ABC": "row of 36 letters from A to I", f"#sets={'A' * 36}": "nine sets must have 4 patches",
        "#q=-0.1": "q must be a finite number",
    },
    "descent": OF_A_LAW | {
        "#degree=2.5": "degree must be a whole number", "#degree=4": "degree must be 3, 5, 7 or 9",
        "#linear=-1e-9": "linear must be a finite number", "#D=32&C=4": "Choose fewer patches",
        "#diagonal=1001": "The diagonal", "#alpha=1001": "alpha must be a finite number",
        "#rate=-1": "rate must be a finite number", "#score_rate=-1": "score_rate must be a finite number",
        "#steps=1.5": "steps must be a whole number", "#steps=100001": "A page can take 100,000 steps",
    },
    "valleys": OF_A_LAW | {
        "#D=20&C=4": "D must be at most 16", "#D=16&C=16": "C must be from 2 to half of D",
        "#D=4&C=1": "C must be from 2 to half of D", "#q=0": "q must be above 0",
        "#diagonal=-10.001": "diagonal must be a finite number",
        "#gamma=3.1": "gamma must be a finite number", "#rho=-3.1": "rho must be a finite number",
    },
    "shuffle": SEED | {
        "#encodings=Vit": "network: vit or deit", "#links=0": "links must be a whole number",
        "#links=19111": "links must be at most 19,110", "#piece=-1": "piece must be a whole number",
        "#piece=197": "There are 196 pieces; piece", "#together=0.5": "together must be a whole number",
        "#together=101": "together goes from 0, the heap, to 100",
    },
    "look": SEED | {
        "#steps=0": "steps must be a whole number", "#neurons=501": "neurons must be a whole number",
        "#patterns=2": "patterns must be a whole number", "#patterns=11": "The patterns are basis vectors",
        "#relevant=2": "relevant must be a finite number",
        "#confusion=-1": "confusion must be a finite number",
        "#rate=10.1": "rate must be a finite number", "#label=0": "The label is 1 or -1",
        "#relevant=0.2&confusion=0.2": "α* (relevant) must give more tokens",
        "#relevant=0.8&confusion=0.4": "an input has only 20", "#gone=1..2": "list of tokens such as 3.5.7",
        "#gone=21": "tokens 1 to 20; gone names others", "#gone=3.3": "gone must name each token once",
        f"#gone={'.'.join(map(str, range(1, 21)))}": "gone names all tokens 1 to 20",
        "#loss=Hinge": "loss: hinge or logistic", "#removed=now": "moment: after or before",
    },
    "epochs": {
        "#patch=0": "patch must be a whole number", "#patch=65": "There are 64 patches; patch",
        "#epoch=-1": "epoch must be a whole number", "#epoch=41": "The record has 40 epochs; epoch",
    },
}  # fmt: skip
every_explorable = pytest.mark.parametrize("name", REFUSED)

#: Each is handed to the page's own reader; a state is written and read again.
READ = """all => all.map(address => {
  const { Refused, writeAddress } = window.patchAssociation;
  const { read } = window.explorable;
  const begun = performance.now();
  const answer = {};
  try {
    answer.state = read(address);
    const again = read(writeAddress(answer.state));
    answer.returns = Object.keys(again).join() === Object.keys(answer.state).join()
      && Object.entries(again).every(([key, value]) => Object.is(value, answer.state[key]));
  } catch (error) {
    answer[error instanceof Refused ? 'refused' : 'thrown'] = error.message;
  }
  return {...answer, took: performance.now() - begun};
})"""
SHOWN = """() => ({
  address: location.hash,
  setting: window.explorable.setting(),
  stage: [...document.querySelector('.pa-stage').querySelectorAll('*')]
    .filter(part => !part.matches('.pa-sentence') && !part.children.length)
    .map(part => part.outerHTML).join(''),
})"""
#: A reader who types another address; true where the page has another one then.
GO = """address => new Promise(done => {
  const before = location.href;
  const later = () => requestAnimationFrame(() => requestAnimationFrame(done));
  addEventListener('hashchange', later, {once: true});
  location.hash = address;
  if (location.href === before) later();
})"""
SENTENCE = "document.querySelector('.pa-sentence').textContent"

DESCENT = """
#D=1000&C=1000 #D=396&C=198 #D=1000&C=1&q=1 #D=1000&C=2&q=0 #D=1&C=1 #alpha=1000 #linear=1e308&q=0
#diagonal=1000&alpha=-1000 #diagonal=-1000 #diagonal=5e-324&linear=1.3&alpha=-1&rate=3
#rate=1e308&score_rate=1e308 #steps=0 #alpha=1000&q=0 #q=5e-324 #linear=0&alpha=0 #degree=9&D=24&C=12
"""
VALLEYS = """
#q=5e-324 #q=1 #diagonal=10&gamma=-3&rho=3 #diagonal=-10&gamma=3&rho=3 #D=16&C=8 #D=4&C=2&q=1e-9
#D=16&C=2&q=1&diagonal=-10&gamma=-3&rho=3 #D=6&C=3&gamma=3
"""
LOOK = """
#rate=10 #rate=10&loss=logistic&seed=3 #neurons=1&steps=1 #neurons=500&patterns=10 #rate=0
#relevant=1&confusion=0 #relevant=0.05&confusion=0&patterns=10&gone=1.2.3.4.5.6.7.8.9.10&removed=before
#gone=1.2.3.4.5.6.7.8.9.10.11.12.13.14.15.16.17.18.19&removed=before #rate=5&neurons=500&steps=5000&seed=2
"""
#: A start that is soon computed, and states that are hard to compute or to draw, each within the rules.
HARD = {
    "counting": ("", ["#D=1000&C=1", "#D=1000&C=1000&q=1", "#D=2&C=1&q=0", "#D=997&C=997&q=5e-324"]),
    "paint": ("#seed=2", ["#q=1", "#q=0", "#seed=1e9", "#q=5e-324&seed=0"]),
    "descent": ("", DESCENT.split()),
    "valleys": ("#D=8&C=2", VALLEYS.split()),
    "shuffle": ("", ["#links=1", "#links=19110", "#piece=196&together=50", "#together=100&links=200"]),
    "look": ("#steps=100", LOOK.split()),
    "epochs": ("", ["#epoch=0&patch=64", "#epoch=40&patch=1", "#epoch=-0"]),
}


def settled(page) -> dict:
    """What is shown, once two seconds change nothing: outlines are drawn in frames of their own."""
    shown_before = None
    while (now := page.evaluate(SHOWN)) != shown_before:
        shown_before = now
        page.wait_for_timeout(2000)
    return now


def read(page, all_of_them: list[str]) -> list[dict]:
    return page.evaluate(READ, all_of_them)


@every_explorable
def test_malformed_addresses_are_refused_with_a_sentence(browser, name):
    """Each rule, whatever is no number, an unknown key, a key twice; and the page stays as it is."""
    with opened(browser, name, HARD[name][0]) as page:
        before = page.evaluate("() => [location.hash, window.explorable.setting()]")
        (nothing,) = read(page, [""])
        key = next(key for key, value in nothing["state"].items() if isinstance(value, (int, float)))
        wanted = REFUSED[name] | {
            "#__proto__=1": "The address names “__proto__”; known are", "#&β=1": "The address names “β”",
            f"#{key}=1&{key}=1": f"The address gives {key} twice",
            **{f"#{key}={text}": f"The address gives {key} as “{text[:40]}”" for text in NO_NUMBERS},
        }  # fmt: skip
        answers = read(page, list(wanted))
        assert page.evaluate("() => [location.hash, window.explorable.setting()]") == before
    for (address, words), answer in zip(wanted.items(), answers, strict=True):
        assert words in answer.get("refused", "") and answer["refused"].endswith("."), (address, answer)


@every_explorable
def test_a_state_leads_back_to_itself(browser, name):
    """What is written into the address is read as the same state, to the last bit and the sign of zero."""
    start, hard = HARD[name]
    with opened(browser, name, start) as page:
        assert all(
            answer["returns"] and answer["took"] < 1000 for answer in read(page, ["", "#", "#&", *hard])
        )


@every_explorable
def test_a_refused_address_changes_nothing(browser, name):
    """Neither itself nor the setting nor what is drawn, also where the theme asks for a new drawing."""
    with opened(browser, name, HARD[name][0], reduced_motion="reduce") as page:
        page.wait_for_function(f"() => !/^Step \\d+ of/.test({SENTENCE})")
        before = settled(page)
        for k, (address, words) in enumerate(REFUSED[name].items()):
            page.evaluate(GO, address)
            page.evaluate("k => { document.documentElement.dataset.theme = k % 2 ? 'light' : 'dark'; }", k)
            page.evaluate(NEXT_FRAME)
            assert words in page.evaluate(SENTENCE)
            assert page.locator(".pa-stale .pa-sentence, .pa-sentence.pa-refused").count() == 1
            assert page.evaluate(SHOWN) == before | {"address": address}


IS_SHOWN = """wanted => {
  const setting = window.explorable.setting();
  return Object.keys(wanted).every(key => Object.is(setting[key], wanted[key]));
}"""


@every_explorable
def test_the_hardest_states_are_shown_or_refused_with_a_sentence(browser, name):
    start, hard = HARD[name]
    complaints = []
    with opened(browser, name, start) as page:
        page.on("console", lambda message: message.type == "error" and complaints.append(message.text))
        for address in hard:
            begun = time.monotonic()
            page.evaluate(GO, address)
            (answer,) = read(page, [address])
            page.wait_for_function(IS_SHOWN, arg=answer["state"])  # an address is heard of a moment later
            page.wait_for_timeout(200)
            page.evaluate("() => window.dispatchEvent(new Event('resize'))")
            assert page.evaluate(SENTENCE)[-1] in ".…", address
            assert complaints == [], address
            assert time.monotonic() - begun < 20, address


@pytest.mark.parametrize("name", ["book/dynamics/idealized", "book/explore/descent"])
def test_no_page_of_the_book_stumbles_over_an_address_that_does_not_decode(browser, name):
    """`%ZZ` is no letter: `decodeURIComponent` throws."""
    with shown(browser, f"{name}.html#%ZZ") as page:
        page.goto(f"{SITE.as_uri()}/{name}.html#%E2%88")
        page.evaluate(NEXT_FRAME)


def test_a_refusal_in_a_later_frame_is_a_sentence_too(browser):
    with opened(browser, "counting") as page:
        said = page.evaluate(
            """() => new Promise(done => {
              const { inFrames, refuse } = window.patchAssociation;
              let frames = 0;
              const piece = () => { if (frames++) refuse('No way.'); return true; };
              inFrames((...said) => done(said), () => true, piece);
              setTimeout(() => done('nothing was said'), 5000);
            })"""
        )
    assert said == ["No way.", True]
