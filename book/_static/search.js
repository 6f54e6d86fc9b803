// Quotes each page that the search found, around the first word that was looked for. The texts come with the
// search page (page-texts.js), so that this works from file:// too.
(() => {
  const REACH = 110; // letters to either side
  const LONGEST = 200; // letters of a query that are looked at
  const asked = (new URLSearchParams(location.search).get("q") ?? "").slice(0, LONGEST).trim();
  const words = asked.toLowerCase().split(/\s+/).filter(Boolean);

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
    summary.append(
      from ? "… " : "",
      text.slice(from, place),
      marked,
      text.slice(place + length, Math.max(end, place + length)),
      " …",
    );
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

  // What has this very name stands above the pages: a symbol, or a numbered statement or figure.
  const named = () => {
    const query = words.join(" ");
    const number =
      /^(theorem|lemma|proposition|corollary|definition|assumption|remark|conjecture|figure|fig\.?|section|appendix)\s+\w/.test(
        query,
      );
    const start = query.replace(/^fig\.? /, "figure ");
    const begins = (title) => title.startsWith(start) && !/^\w|^\.\d/.test(title.slice(start.length));
    const entries = window.pageIndex ?? [];
    const symbols = entries.filter((entry) => entry.names?.includes(asked)); // a capital is another symbol
    const similar = entries.filter((entry) => entry.names?.some((name) => name.toLowerCase() === query));
    const stated = entries.filter((entry) => !entry.names && number && begins(entry.title.toLowerCase()));
    return [...(symbols.length ? symbols : similar), ...stated].slice(0, 12);
  };

  const list = () => {
    const found = named();
    if (!found.length) return;
    const items = document.createElement("ul");
    items.className = "pa-named";
    for (const entry of found) {
      const item = document.createElement("li"),
        link = document.createElement("a"),
        text = document.createElement("p");
      const root = document.documentElement.dataset.content_root ?? "./";
      link.href = `${root}${entry.page}.html${entry.id ? `#${entry.id}` : ""}`;
      link.textContent = entry.title;
      text.className = "context";
      text.textContent = entry.text;
      item.append(link, entry.of ? ` · ${entry.of}` : "", text);
      items.append(item);
    }
    results.before(items);
  };

  const results = document.getElementById("search-results");
  if (!results) return;
  // Sphinx looks words up in plain objects, which inherit "constructor", and makes a regular expression of each,
  // which browsers refuse when it is long. This script runs before its search does.
  const bare = Object.create(null, { hasOwnProperty: { value: Object.prototype.hasOwnProperty } });
  for (const table of ["terms", "titleterms"]) Object.setPrototypeOf(Search._index[table], bare);
  const search = Search.performSearch;
  Search.performSearch = (query) => search(query.slice(0, LONGEST));
  list();
  new MutationObserver(fill).observe(results, { childList: true, subtree: true });
  fill();
})();
