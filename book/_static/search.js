// Quotes each page that the search found, around the first word that was looked for. The texts come with the
// search page (page-texts.js), so that this works from file:// too.
(() => {
  const REACH = 110; // letters to either side
  const words = (new URLSearchParams(location.search).get("q") ?? "").toLowerCase().split(/\s+/).filter(Boolean);

  const pageOf = (link) => {
    const path = new URL(link.href).pathname.replace(/\.html$/, "");
    return Object.keys(window.pageTexts ?? {}).find((name) => path.endsWith(`/${name}`));
  };

  const quote = (text) => {
    const lower = text.toLowerCase();
    const places = words.map((word) => [lower.indexOf(word), word.length]).filter(([place]) => place >= 0);
    const [place, length] = places.sort((a, b) => a[0] - b[0])[0] ?? [0, 0];
    const from = place <= REACH ? 0 : text.indexOf(" ", place - REACH) + 1;
    const end = text.lastIndexOf(" ", Math.min(text.length, place + length + REACH));
    const summary = document.createElement("p");
    summary.className = "context";
    const marked = document.createElement("mark");
    marked.textContent = text.slice(place, place + length);
    summary.append(from ? "… " : "", text.slice(from, place), marked, text.slice(place + length, Math.max(end, place + length)), " …");
    return summary;
  };

  const fill = () => {
    for (const item of document.querySelectorAll("#search-results li:not([data-quoted])")) {
      item.dataset.quoted = "";
      const link = item.querySelector("a");
      const name = link && pageOf(link);
      if (name) item.append(quote(window.pageTexts[name]));
    }
  };

  const results = document.getElementById("search-results");
  if (!results) return;
  new MutationObserver(fill).observe(results, { childList: true, subtree: true });
  fill();
})();
