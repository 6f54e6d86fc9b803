// What a link or a symbol in the text means, shown beside it on hover and on focus.
//
// A theorem, equation, figure or exercise of the same page is copied from the page; what stands elsewhere, and
// the meaning of symbols, waits in <template class="pa-tip"> elements that the build put at the end of the page
// (book/_ext/tips.py). Escape hides a tip; the pointer may move into it.
(() => {
  const BOXES = "div.proof, div.exercise, div.solution, div.math, figure, div.citation";
  const WAIT = 250,
    GRACE = 300; // milliseconds until a tip shows, and until it goes
  const MOVES = { ArrowLeft: [-60, 0], ArrowRight: [60, 0], ArrowUp: [0, -60], ArrowDown: [0, 60] }; // pixels
  let tip, owner, timer;

  const template = (name, value) =>
    [...document.querySelectorAll("template.pa-tip")].find((e) => e.dataset[name] === value);

  // The content of a tip, or nothing.
  const content = (mark) => {
    if (mark.matches(".pa-word")) {
      // the definition that stands behind the word
      const said = document.createElement("div");
      said.append(...mark.parentElement.nextElementSibling.cloneNode(true).childNodes);
      return said;
    }
    if (mark.matches(".pa-symbol")) return template("symbol", mark.dataset.symbol)?.content.cloneNode(true);
    if (mark.matches(".pa-chip")) {
      // the verdict in full, with its condition
      mark.dataset.said ??= mark.title;
      mark.removeAttribute("title");
      return Object.assign(document.createElement("p"), { textContent: mark.dataset.said });
    }
    const href = mark.getAttribute("href");
    const elsewhere = template("href", href);
    if (elsewhere) return elsewhere.content.cloneNode(true);
    const target = href.startsWith("#") && document.getElementById(decodeURIComponent(href.slice(1)));
    if (!target?.matches?.(BOXES) || target.contains(mark)) return undefined;
    const copy = target.cloneNode(true);
    copy.querySelectorAll(".headerlink").forEach((e) => e.remove());
    [copy, ...copy.querySelectorAll("[id]:not(svg *)")].forEach((e) => e.removeAttribute("id"));
    return copy;
  };

  const hide = () => {
    clearTimeout(timer);
    tip?.remove();
    owner?.removeAttribute("aria-describedby");
    tip = owner = undefined;
  };

  // What of a tip scrolls, in width or in height.
  const parts = (side) =>
    [tip, ...tip.querySelectorAll("*")].filter(
      (e) =>
        e[`scroll${side}`] > e[`client${side}`] + 1 &&
        /auto|scroll/.test(getComputedStyle(e)[side === "Width" ? "overflowX" : "overflowY"]),
    );

  const show = (mark) => {
    if (mark === owner) return;
    hide();
    const what = content(mark);
    if (!what) return;
    tip = document.createElement("div");
    tip.className = "pa-tip";
    tip.id = "pa-tip";
    tip.setAttribute("role", "tooltip");
    tip.append(what);
    document.querySelector("article.bd-article").append(tip);
    for (const part of [...parts("Width"), ...parts("Height")]) part.tabIndex = 0;
    owner = mark;
    owner.setAttribute("aria-describedby", "pa-tip");
    place();
  };

  // Below the line, above it where there is more room, and within the window.
  const place = () => {
    const line = owner.getClientRects()[0],
      box = tip.getBoundingClientRect(),
      frame = tip.offsetParent.getBoundingClientRect();
    const below = line.bottom + 6,
      above = line.top - 6 - box.height;
    const top = below + box.height > innerHeight && above > 0 ? above : below;
    const left = Math.max(8, Math.min(line.left, document.documentElement.clientWidth - box.width - 8));
    tip.style.top = `${top - frame.top}px`;
    tip.style.left = `${left - frame.left}px`;
  };

  const soon = (act, wait) => {
    clearTimeout(timer);
    timer = setTimeout(act, wait);
  };
  const marked = (event) =>
    event.target.closest?.("article.bd-article a.reference.internal[href*='#'], .pa-symbol, .pa-word");

  addEventListener("load", () => {
    for (const term of document.querySelectorAll(".pa-defined dt")) {
      // A tap or the Tab key shows what a pointer shows by resting on it.
      const word = Object.assign(document.createElement("span"), { className: "pa-word", tabIndex: 0 });
      word.setAttribute("role", "button");
      word.append(...term.childNodes);
      term.append(word);
    }
    document.addEventListener("pointerover", (event) => {
      if (event.pointerType === "touch") return;
      const mark = marked(event);
      if (mark) soon(() => show(mark), WAIT);
      else if (tip?.contains(event.target)) clearTimeout(timer);
      else soon(hide, GRACE);
    });
    document.addEventListener("focusin", (event) => {
      const mark = marked(event);
      if (mark) show(mark);
      else if (!tip?.contains(event.target)) hide();
    });
    document.addEventListener("click", (event) => {
      const mark = marked(event);
      if (mark?.matches(".pa-symbol, .pa-word")) show(mark);
      else if (!tip?.contains(event.target)) hide();
    });
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape") hide();
      // The focus stays on the link; the arrow keys move what of its tip is wider or higher than there is room.
      const [x, y] = MOVES[event.key] ?? [0, 0];
      const part = tip && (x || y) && parts(x ? "Width" : "Height")[0];
      if (!part || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      part.scrollBy(x, y);
    });
  });
})();
