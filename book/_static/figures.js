// A figure opens in full size: by a click on its drawing or by its button. Escape closes it, and the focus goes
// back to where it was (that is what a modal <dialog> does). Arrow keys turn the pages of the book.
(() => {
  const open = (figure, button) => {
    const dialog = document.createElement("dialog"),
      close = document.createElement("button");
    const drawing = figure.querySelector(".pa-drawing"),
      caption = figure.querySelector("figcaption");
    const place = document.createElement("div"); // the drawing itself moves: its ids stay unique
    place.style.height = `${drawing.offsetHeight}px`;
    drawing.replaceWith(place);
    close.textContent = "Close";
    close.onclick = () => dialog.close();
    dialog.className = "pa-full";
    const { width, height } = drawing.getBoundingClientRect(); // as large as the window is high
    dialog.style.setProperty(
      "--fit",
      `${Math.max(640, Math.round(((innerHeight - 190) * width) / height))}px`,
    );
    dialog.setAttribute("aria-label", `${button.dataset.name} in full size`);
    const words = caption?.cloneNode(true);
    words
      ?.querySelectorAll("[id], .headerlink")
      .forEach((e) => (e.matches(".headerlink") ? e.remove() : e.removeAttribute("id")));
    dialog.append(close, drawing, words ?? "");
    dialog.onclick = (event) => {
      if (event.target === dialog) dialog.close();
    };
    dialog.onclose = () => {
      place.replaceWith(drawing);
      dialog.remove();
      button.focus({ preventScroll: true });
    };
    document.querySelector("article.bd-article").append(dialog);
    dialog.showModal();
  };

  const offer = (figure) => {
    const drawing = figure.querySelector(".pa-drawing");
    if (!drawing || figure.closest(".pa-explorable, .pa-finding, a, .pa-tip")) return;
    const button = document.createElement("button");
    const name = figure.querySelector(".caption-number")?.textContent.trim() || "This figure";
    button.type = "button";
    button.className = "pa-enlarge";
    button.dataset.name = name;
    button.setAttribute("aria-label", `Open ${name} in full size`);
    button.textContent = "⤢";
    button.onclick = () => open(figure, button);
    drawing.addEventListener("click", () => {
      if (drawing.parentElement === figure) open(figure, button);
    });
    figure.classList.add("pa-opens");
    figure.append(button);
  };

  // Left and right turn pages, unless something has the focus that may want these keys itself.
  const turn = (event) => {
    const selector = { ArrowLeft: "a.left-prev", ArrowRight: "a.right-next" }[event.key];
    if (
      !selector ||
      event.altKey ||
      event.ctrlKey ||
      event.metaKey ||
      event.shiftKey ||
      event.defaultPrevented
    )
      return;
    if (document.activeElement && document.activeElement !== document.body) return;
    const target = document.querySelector(selector);
    if (target) location.href = target.href;
  };

  addEventListener("load", () => {
    document.querySelectorAll("article.bd-article figure").forEach(offer);
    document.addEventListener("keydown", turn);
  });
})();
