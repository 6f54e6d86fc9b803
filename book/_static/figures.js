// A figure opens in full size: by a click on its drawing or by its button. Escape closes it, and the focus goes
// back to where it was (that is what a modal <dialog> does). Arrow keys turn the pages of the book, and a figure
// that a question stands before (book/_ext/predictions.py) is shown when the reader has chosen.
(() => {
  const open = (figure, button) => {
    const dialog = document.createElement("dialog"), close = document.createElement("button");
    const drawing = figure.querySelector(".pa-drawing"), caption = figure.querySelector("figcaption");
    const place = document.createElement("div");  // the drawing itself moves: its ids stay unique
    place.style.height = `${drawing.offsetHeight}px`;
    drawing.replaceWith(place);
    close.textContent = "Close";
    close.onclick = () => dialog.close();
    dialog.className = "pa-full";
    dialog.setAttribute("aria-label", `${button.dataset.name} in full size`);
    const words = caption?.cloneNode(true);
    words?.querySelectorAll("[id], .headerlink").forEach((e) => e.matches(".headerlink") ? e.remove() : e.removeAttribute("id"));
    dialog.append(close, drawing, words ?? "");
    dialog.onclick = (event) => { if (event.target === dialog) dialog.close(); };
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
    drawing.addEventListener("click", () => { if (drawing.parentElement === figure) open(figure, button); });
    figure.classList.add("pa-opens");
    figure.append(button);
  };

  // Left and right turn pages, unless something has the focus that may want these keys itself.
  const turn = (event) => {
    const selector = { ArrowLeft: "a.left-prev", ArrowRight: "a.right-next" }[event.key];
    if (!selector || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || event.defaultPrevented) return;
    if (document.activeElement && document.activeElement !== document.body) return;
    const target = document.querySelector(selector);
    if (target) location.href = target.href;
  };

  const ask = (box) => {
    const figure = document.getElementById(box.dataset.figure ?? ""), answer = box.querySelector("details");
    const choices = [...box.querySelectorAll("input")], said = box.querySelector("[role=status]");
    const [commit, skip] = ["Commit to it", "Just show me"].map((text) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "pa-commit";
      button.textContent = text;
      return button;
    });
    // What a chapter finds stands right below its first figure, and would give the answer away.
    const finds = figure && document.querySelector(".bd-article div.find");
    const below = finds && figure.compareDocumentPosition(finds) & Node.DOCUMENT_POSITION_FOLLOWING;
    const veiled = [figure, below && finds].filter(Boolean);
    const linked = figure && location.hash === `#${figure.id}`;
    const reveal = () => {
      veiled.forEach((part) => {
        part.classList.remove("pa-veiled");
        part.inert = false;
      });
      answer.open = true;
      commit.remove();
      skip.remove();
    };
    commit.disabled = true;
    box.addEventListener("change", () => { commit.disabled = false; });
    commit.onclick = () => {
      const chosen = choices.find((choice) => choice.checked), right = choices[Number(box.dataset.right) - 1];
      const text = (choice) => choice.parentElement.textContent.trim();
      choices.forEach((choice) => { choice.disabled = true; });
      said.textContent = chosen === right ? `As you predicted: ${text(right)}`
        : `You predicted "${text(chosen)}"; it is "${text(right)}"`;
      reveal();
    };
    skip.onclick = reveal;
    answer.before(commit, skip);
    if (linked) reveal();
    else veiled.forEach((part) => {
      part.classList.add("pa-veiled");
      part.inert = true;  // a blur hides nothing from who hears the page
    });
    addEventListener("hashchange", () => { if (figure && location.hash === `#${figure.id}`) reveal(); });
    answer.addEventListener("toggle", () => { if (answer.open) reveal(); });
  };

  addEventListener("load", () => {
    document.querySelectorAll("article.bd-article figure").forEach(offer);
    document.querySelectorAll(".pa-predict").forEach(ask);
    document.addEventListener("keydown", turn);
  });
})();
