// A search over the ledger's tables. Without script all claims are shown, and the browser's own search finds them.
(() => {
  const form = document.querySelector(".pa-filter");
  const rows = [...document.querySelectorAll("table.pa-claims tbody tr[id^='claim-']")];
  const texts = rows.map((row) => `${row.id} ${row.textContent}`.toLowerCase());
  const group = document.createElement("fieldset");
  group.innerHTML = '<legend>search</legend><label>words <input type="search" name="pa-words"></label> <output></output>';
  form.append(group);
  const [input, said] = [group.querySelector("input"), group.querySelector("output")];
  form.addEventListener("submit", (event) => event.preventDefault());
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    rows.forEach((row, k) => {
      row.hidden = !words.every((word) => texts[k].includes(word));
      shown += !row.hidden;
    });
    said.textContent = words.length ? `${shown} of ${rows.length} claims` : "";
  });
})();
