"""Whatever an address says: a state that its own address leads back to, or a sentence."""

from __future__ import annotations

import time

import pytest
from browser import SITE
from malformed import RULES, addresses, expected
from page_visits import NEXT_FRAME, opened, shown

pytestmark = pytest.mark.slow

EACH = 1500  # addresses an explorable: 10,500 in all
every_explorable = pytest.mark.parametrize("name", RULES)

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
TYPED = """all => all.map(address => {
  const url = new URL(location.href);
  url.hash = address;
  return url.hash || '#';
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


def read(page, all_of_them: list[str]) -> list[dict]:
    return page.evaluate(READ, all_of_them)


@every_explorable
def test_malformed_addresses_are_read_or_refused_with_a_sentence(browser, name):
    """The page's reader agrees with a second one on each: the state, or what is wrong with it first."""
    with opened(browser, name, HARD[name][0]) as page:
        (nothing,) = read(page, [""])
        defaults = nothing["state"]
        tried = addresses(name, list(defaults), EACH)
        before = page.evaluate("() => [location.hash, window.explorable.setting()]")
        answers = read(page, tried)
        assert page.evaluate("() => [location.hash, window.explorable.setting()]") == before
    said, states = set(), 0
    for address, answer in zip(tried, answers, strict=True):
        wanted, where = expected(name, defaults, address), (address[:300], answer)
        assert "thrown" not in answer and answer["took"] < 1000, where
        if isinstance(wanted, dict):
            assert answer.get("state") == wanted and answer["returns"], where
            states += 1
        else:
            assert wanted in answer.get("refused", "") and answer["refused"].endswith("."), where
            said.add(wanted)
    assert EACH / 5 < states < 0.7 * EACH
    assert {rule.words for rule in RULES[name]} <= said  # each rule was broken somewhere


@every_explorable
def test_a_refused_address_changes_nothing(browser, name):
    """Neither itself nor the setting nor what is drawn, also where the theme asks for a new drawing."""
    with opened(browser, name, HARD[name][0], reduced_motion="reduce") as page:
        page.wait_for_function(f"() => !/^Step \\d+ of/.test({SENTENCE})")
        before = page.evaluate(SHOWN)
        typed = page.evaluate(TYPED, addresses(name, list(before["setting"]), 100))
        refused = [(hash, answer) for hash, answer in zip(typed, read(page, typed)) if "refused" in answer]
        assert len(refused) > 25
        for k, (hash, answer) in enumerate(refused[:25]):
            page.evaluate(GO, hash)
            page.evaluate("k => { document.documentElement.dataset.theme = k % 2 ? 'light' : 'dark'; }", k)
            page.evaluate(NEXT_FRAME)
            assert page.evaluate(SENTENCE) == answer["refused"]
            assert page.locator(".pa-stale .pa-sentence, .pa-sentence.pa-refused").count() == 1
            assert page.evaluate(SHOWN) == before | {"address": hash}


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
