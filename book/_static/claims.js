// The ledger's filter: a search, at each choice how many claims it leaves, and an address for what is asked for,
// #paper=ours&part=dynamics&verdict=undecided&words=... Without script the style sheet filters, and the browser searches.
(() => {
  "use strict";
  const form = document.querySelector(".pa-filter");
  const rows = [...document.querySelectorAll("table.pa-claims tbody tr[id^='claim-']")]; // definitions, too
  const texts = rows.map((row) => `${row.id} ${row.textContent}`.toLowerCase());
  const claims = rows.filter((row) => /\bpa-row-/.test(row.className));
  const folds = new Map(); // of each part its claims
  for (const row of claims) {
    const fold = row.closest("details");
    folds.set(fold, [...(folds.get(fold) ?? []), row]);
  }
  const GROUPS = ["paper", "part", "verdict"];

  const search = document.createElement("fieldset");
  search.innerHTML =
    '<legend>search</legend><label>words <input type="search" name="pa-words"></label> <output></output>';
  form.append(search);
  const [input, said] = [search.querySelector("input"), search.querySelector("output")];

  const belongs = (row, value) => value === "all" || row.classList.contains(`pa-row-${value}`);
  const chosen = () => Object.fromEntries(GROUPS.map((group) => [group, form.elements[`pa-${group}`].value]));

  const show = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    rows.forEach((row, k) => {
      row.hidden = !words.every((word) => texts[k].includes(word));
    });
    const asked = chosen();
    const left = (choices) =>
      claims.filter((row) => !row.hidden && GROUPS.every((group) => belongs(row, choices[group])));
    for (const radio of form.querySelectorAll("[type=radio]")) {
      const { length } = left({ ...asked, [radio.name.replace("pa-", "")]: radio.value });
      radio.parentElement.querySelector(".pa-count").textContent = length;
      radio.parentElement.classList.toggle("pa-none", !length);
    }
    const shown = new Set(left(asked));
    said.textContent = `${shown.size} of ${claims.length} claims shown`;
    for (const [fold, all] of folds) {
      const here = all.filter((row) => shown.has(row)).length;
      const whole = here === all.length;
      fold.querySelector("summary").textContent = whole
        ? `The ${all.length} claims`
        : `${here || "None"} of the ${all.length} claims`;
    }
    return shown;
  };

  /** Whoever asks for some sees them: their parts open, and for words the definitions that have them. */
  const unfold = (shown, words) => {
    for (const row of rows)
      if (shown.has(row) || (words && !row.hidden && !claims.includes(row)))
        row.closest("details").open = true;
  };

  const write = () => {
    const asked = Object.entries({ ...chosen(), words: input.value.trim() });
    const said = asked.filter(([, value]) => value && value !== "all");
    const address = location.href.replace(/#.*|$/, said.length ? `#${new URLSearchParams(said)}` : "");
    history.replaceState(null, "", address);
  };

  const read = () => {
    if (!location.hash.includes("=")) return;
    const asked = new URLSearchParams(location.hash.slice(1));
    for (const group of GROUPS) {
      const radios = [...form.elements[`pa-${group}`]];
      (radios.find(({ value }) => value === asked.get(group)) ?? radios[0]).checked = true;
    }
    input.value = asked.get("words") ?? "";
    unfold(show(), input.value);
    form.tabIndex = -1;
    form.focus({ preventScroll: true });
    (form.offsetHeight > 0.6 * innerHeight ? said : form).scrollIntoView();
  };

  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", ({ target }) => {
    unfold(show(), target === input);
    write();
  });
  addEventListener("hashchange", read);
  show();
  read();
})();
