// Typesets every formula of a page with KaTeX, before the page is first painted where it can.
// A formula is an element of class "math" whose text is TeX between \( \) or \[ \]; beside it may stand the
// number of the equation, which is kept. window.typesetMathematics(element) does the same for what comes later.
(() => {
  const OPTIONS = { throwOnError: false, strict: false, errorColor: "#cc0000", output: "htmlAndMathml" };

  const typeset = (root = document) => {
    for (const box of root.querySelectorAll(".math:not([data-typeset])")) {
      const tex = [...box.childNodes].find((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
      if (!tex) continue;
      const displayed = box.tagName === "DIV";
      const formula = document.createElement(displayed ? "div" : "span");
      katex.render(tex.data.trim().replace(/^\\[(\[]|\\[)\]]$/g, ""), formula, { ...OPTIONS, displayMode: displayed });
      tex.replaceWith(...(displayed ? [formula] : formula.childNodes));
      box.dataset.typeset = "";
    }
  };

  window.typesetMathematics = typeset;
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", () => typeset());
  else typeset();
})();
