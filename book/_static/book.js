// What scrolls in its own box (a wide equation, a table of evidence) must be reachable with the Tab key.
(() => {
  const BOXES = "div.math, mjx-container[display='true'], .pa-verdict table, .bd-article .cell_output table";

  const mark = () => {
    for (const box of document.querySelectorAll(BOXES)) {
      if (box.scrollWidth > box.clientWidth + 1) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  };

  addEventListener("load", () => {
    Promise.resolve(window.MathJax?.startup?.promise).then(mark);
    addEventListener("resize", mark);
    document.addEventListener("toggle", mark, true);
    document.addEventListener("click", () => setTimeout(mark, 50));
  });
})();
