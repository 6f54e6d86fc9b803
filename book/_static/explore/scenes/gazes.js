// Where heads of a trained network look, from a place that the reader points at.
(() => {
  "use strict";
  const { h, fingers, guess, player, mount, percent, essay } = window.patchAssociation;
  const { CAT, easel } = window.patchAssociation.scenes;

  mount("gazes", ({ stage, say, sentence }) => {
    const { queries, heads } = essay.gazes;
    const G = 14;
    const WAYS = { "0,0": "around it", "0,-1": "to its left", "0,1": "to its right", "-1,0": "above it" };
    const cell = (k) => [Math.floor(k / G), k % G];
    let place = queries.length >> 1;
    let open = false;
    const cat = new Image();
    cat.addEventListener("load", () => boards.forEach(({ paint }) => paint()));
    cat.src = CAT;
    const way = ({ rows }, at = place) => {
      // where most attention goes, as a step
      const [here, there] = [queries[at], rows[at].indexOf(Math.max(...rows[at]))].map(cell);
      return [there[0] - here[0], there[1] - here[1]];
    };
    const everywhere = heads.every((head) =>
      queries.every((_, at) => String(way(head, at)) === String(way(head))),
    );
    const boards = heads.map((head, k) => {
      const said = h("strong");
      const board = easel(
        G,
        G,
        `Where head ${head.head} of layer ${head.layer} looks from the ringed place`,
        (context, color) => {
          const row = head.rows[place];
          const most = Math.max(...row);
          context.fillStyle = color("paper");
          context.fillRect(0, 0, G, G);
          context.globalAlpha = 0.3;
          if (cat.naturalWidth) context.drawImage(cat, 0, 0, G, G);
          context.fillStyle = color(k ? "label" : "same");
          row.forEach((share, at) => {
            context.globalAlpha = open ? (share / most) ** 0.8 : 0;
            context.fillRect((at % G) + 0.04, Math.floor(at / G) + 0.04, 0.92, 0.92);
          });
          context.globalAlpha = 0.35;
          context.strokeStyle = color("line");
          context.lineWidth = 0.03;
          context.beginPath();
          for (let n = 0; n <= G; n++) {
            context.moveTo(n, 0);
            context.lineTo(n, G);
            context.moveTo(0, n);
            context.lineTo(G, n);
          }
          context.stroke();
          context.globalAlpha = 1;
          queries.forEach((at, n) => {
            // the places that can be chosen
            const [r, c] = cell(at);
            [context.strokeStyle, context.fillStyle, context.lineWidth] = [color("ink"), color("ink"), 0.14];
            context.globalAlpha = n === place ? 1 : 0.3;
            context.beginPath();
            context.arc(c + 0.5, r + 0.5, n === place ? 0.62 : 0.12, 0, 7);
            n === place ? context.stroke() : context.fill();
          });
          context.globalAlpha = 1;
        },
        { class: "pa-thrown" },
      );
      const pick = (event) => {
        const box = board.canvas.getBoundingClientRect();
        const [x, y] = [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height].map(
          (v) => G * v - 0.5,
        );
        const far = (n) => Math.hypot(cell(queries[n])[0] - y, cell(queries[n])[1] - x);
        const nearest = queries.reduce((best, _, n) => (far(n) < far(best) ? n : best), 0);
        if (nearest !== place) {
          time.stop();
          time.go(nearest);
        }
      };
      board.canvas.addEventListener("pointerdown", pick);
      board.canvas.addEventListener("pointermove", pick);
      return {
        ...board,
        said,
        head,
        element: h(
          "figure",
          { class: "pa-chart" },
          board.canvas,
          h("figcaption", {}, said, h("br"), `layer ${head.layer}, head ${head.head}`),
        ),
      };
    });
    function draw() {
      for (const { said, head, paint } of boards) {
        said.textContent = open ? `It looks ${WAYS[way(head)] ?? "elsewhere"}` : "Where does it look?";
        paint();
      }
      const [r, c] = cell(queries[place]);
      const aside = heads
        .filter((head) => way(head).some(Boolean))
        .map(({ rows }) => Math.max(...rows[place]) / 1000);
      say(
        open
          ? `${asked.tell()}From row ${r + 1}, column ${c + 1}, ${heads.length - aside.length} of ` +
              `${heads.length} heads looks around its place. ${aside.length} look aside, and give ` +
              `${percent(Math.min(...aside))} or more of their attention to one single ` +
              `place.${everywhere ? ` It is so from all ${queries.length} places.` : ""}`
          : "Four heads of ViT-Tiny look from the ringed place, on average over a thousand pictures. " +
              `${fingers() ? "Tap" : "Point at"} a dot, and they look from there.`,
      );
    }
    const time = player({
      label: "the ringed place",
      seconds: 5,
      words: "Walk",
      show: (k) => `${k + 1} of ${queries.length}`,
      onstep: (k) => {
        place = k;
        draw();
      },
    });
    const asked = guess({
      question: "The theory says that a head looks around its place. How many of these four do?",
      options: ["None", "One", "Two", "All four"],
      right: 1,
      after: () => {
        open = true;
        time.go(0);
        time.play();
      },
    });
    stage.append(
      h(
        "div",
        { class: "pa-scene-rows" },
        h("div", { class: "pa-panels pa-four" }, ...boards.map(({ element }) => element)),
        h("div", { class: "pa-beside pa-flat" }, asked.element, h("div", {}, time.element, sentence)),
      ),
    );
    return {
      fields: [],
      bare: true,
      repaint: draw,
      show: () => time.fit(queries.length - 1, queries.length >> 1),
      room: 235,
      outside: { ways: () => heads.map((head) => way(head)), place: () => queries[place] },
    };
  });
})();
