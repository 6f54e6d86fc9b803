// What scrolls in its own box (a wide equation, a table of evidence) must be
// reachable with the Tab key.
(() => {
  const BOXES =
    "div.math, span.math, .pa-verdict table, .bd-article .cell_output table:not(.pa-table > table), " +
    ".pa-table, div.highlight pre, .pst-scrollable-table-container";

  // In a line of text a formula may break between its parts: it scrolls where one of them is wider than the line.
  const scrolls = (box) =>
    box.matches("span.math")
      ? [...box.querySelectorAll(".base")].some(
          (part) => part.offsetWidth > box.closest("p, li, td, dd, figcaption, div").clientWidth + 1,
        )
      : box.scrollWidth > box.clientWidth + 1;

  // The right edge fades while there is more beyond it; code has a shadow there.
  const beyond = (box) => box.tagName !== "PRE" && box.scrollLeft + box.clientWidth < box.scrollWidth - 2;

  // On a narrow screen a displayed formula that is somewhat too wide gets smaller letters, and need not scroll.
  const SMALLEST = 0.66; // of their size: 13 pixels
  const shrink = () => {
    const wide = [...document.querySelectorAll("div.math")].map((box) => {
      const formula = box.querySelector(".katex-display");
      return [formula, formula && innerWidth <= 600 ? box.clientWidth / box.scrollWidth : 1];
    });
    for (const [formula, share] of wide)
      if (share < 1 && share > SMALLEST) formula.style.fontSize = `${Math.floor(98 * share)}%`;
  };

  // First all that is measured, then all that is changed: in turn, each change would lay the page out again.
  const mark = () => {
    const boxes = [...document.querySelectorAll(BOXES)].map((box) => {
      const more = scrolls(box);
      return [box, more, more && beyond(box)];
    });
    for (const [box, more, fades] of boxes) {
      if (more) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
      box.classList.toggle("pa-scrolls", more);
      box.classList.toggle("pa-more", fades);
      box.onscroll = () => box.classList.toggle("pa-more", scrolls(box) && beyond(box));
    }
  };

  // What a link leads to is shown, also inside a fold.
  const unfold = () => {
    const target = document.querySelector(":target");
    let closed = false;
    const card = target?.matches(".pa-verdict") && target.querySelector(":scope > details");
    if (card) card.open = true;
    for (let fold = target?.closest("details"); fold; fold = fold.parentElement.closest("details")) {
      closed ||= !fold.open;
      fold.open = true;
    }
    if (closed) target.scrollIntoView();
  };

  addEventListener("hashchange", unfold);
  addEventListener("load", () => {
    shrink();
    mark();
    unfold();
    addEventListener("resize", mark);
    document.addEventListener("toggle", mark, true);
    document.addEventListener("click", () => setTimeout(mark, 50));
  });
})();
