// Two valleys: a ball on the ground of the least risk, put or thrown by the reader.
(() => {
  "use strict";
  const {
    h,
    arrow,
    clamp,
    mix,
    guess,
    player,
    shapes,
    lettered,
    palette,
    inFrames,
    mount,
    still,
    number,
    percent,
    PopulationRisk,
    finer,
    velocity,
    downhill,
    basins,
    contours,
    relief,
  } = window.patchAssociation;
  const { small, columns, easel, during, reach } = window.patchAssociation.scenes;

  mount("ball", ({ stage, say, sentence }) => {
    const [D, C, beta, RANGE, NODES, SIZE] = [12, 4, 1, 2.5, 25, 500];
    let [q, risk, ground, line, ball, stop, told] = [0.3, null, null, [], [0, 0], () => {}, false];
    // where the ball lies, lines of equal depth, how high either side is deepest
    let [start, levels, deepest] = [[0, 0], [], [-RANGE, -1]];
    let ends = []; // who leads where the flow from each node ends
    let ways = []; // of the two values of q that a guess compares
    const X = (gamma) => ((gamma + RANGE) / (2 * RANGE)) * SIZE;
    const Y = (rho) => SIZE - ((rho + RANGE) / (2 * RANGE)) * SIZE;
    const relieved = h("canvas");
    // room for the numbers and words of both axes, of which letters are larger where the picture is smaller
    const [LEFT, BELOW] = small.matches ? [78, 82] : [52, 50];
    const [WIDE, HIGH] = [LEFT + SIZE + 14, 8 + SIZE + BELOW];
    const score = (k) => -RANGE + (2 * RANGE * k) / (NODES - 1);
    const colors = palette(stage, "same", "other", "paper");
    const plane = easel(
      WIDE,
      HIGH,
      "The plane of two scores, of stronger color where the least risk is lower, with the ball and its way",
      (context, color, pixel) => {
        const letters = 13 * pixel;
        context.translate(LEFT, 8);
        context.save();
        context.beginPath();
        context.rect(0, 0, SIZE, SIZE);
        context.clip();
        context.imageSmoothingEnabled = true;
        context.imageSmoothingQuality = "high";
        context.drawImage(relieved, 0, 0, SIZE, SIZE);
        context.strokeStyle = color("ink");
        context.globalAlpha = 0.22;
        context.lineWidth = 1;
        context.beginPath();
        for (const [x, y, u, v] of levels) {
          context.moveTo(x * SIZE, y * SIZE);
          context.lineTo(u * SIZE, v * SIZE);
        }
        context.stroke();
        context.strokeStyle = color("noise");
        context.setLineDash([6, 6]);
        context.globalAlpha = 0.6;
        context.lineWidth = 1.3;
        context.beginPath();
        context.moveTo(X(-RANGE), Y(-RANGE));
        context.lineTo(X(RANGE), Y(RANGE));
        context.stroke();
        context.setLineDash([]);
        context.globalAlpha = 1;
        context.fillStyle = color("ink");
        context.globalAlpha = 1;
        context.font = `${letters}px 'Book Sans', sans-serif`;
        context.textAlign = "right";
        context.strokeStyle = color("paper");
        context.lineWidth = 4;
        context.lineJoin = "round";
        const label = (words, x, y) => {
          context.strokeText(words, x, y);
          context.fillText(words, x, y);
        };
        // Beside the deepest place of either side, where the ball comes to rest, and not upon it.
        if (levels.length)
          label("the valley of companions", SIZE - 10, clamp(Y(deepest[0]) - 26, 22, SIZE - 14));
        context.textAlign = "left";
        // and on a phone, where letters are large, not beside the ball's start
        const lower = 34 + (small.matches ? letters : 0);
        if (levels.length) label("the valley of strangers", 10, clamp(Y(deepest[1]) + lower, 22, SIZE - 14));
        context.globalAlpha = 1;
        const trail = (points, wide) => {
          context.lineWidth = wide;
          context.beginPath();
          points.forEach(({ gamma, rho }, k) =>
            k ? context.lineTo(X(gamma), Y(rho)) : context.moveTo(X(gamma), Y(rho)),
          );
          context.stroke();
        };
        for (const other of ways) {
          // the way at another q, over ground that is not its own
          context.setLineDash([9, 6]);
          context.strokeStyle = color("signal");
          trail(other.line, 3);
          context.setLineDash([]);
          context.strokeStyle = color("paper");
          context.lineWidth = 4;
          const middle = other.line[other.line.length >> 1];
          const words = `${small.matches ? "" : "the way at "}q = ${number(other.q)}`;
          label(
            words,
            clamp(X(middle.gamma) + 10, 10, SIZE - 10 - context.measureText(words).width),
            Y(middle.rho) - 8,
          );
        }
        context.strokeStyle = color("signal");
        trail(line.slice(0, ball[2] ?? line.length), 4);
        context.restore();
        context.fillStyle = color("ink");
        context.font = `${letters}px 'Book Sans', sans-serif`;
        context.textAlign = "center";
        for (let v = -2; v <= 2; v++) {
          context.fillText(number(v), X(v), SIZE + 6 + letters);
          context.textAlign = "right";
          context.fillText(number(v), -8, Y(v) + 0.35 * letters);
          context.textAlign = "center";
        }
        context.fillText("γ, the score of companions", SIZE / 2, SIZE + 10 + 2.3 * letters);
        context.save();
        context.translate(-LEFT + 0.9 * letters, SIZE / 2);
        context.rotate(-Math.PI / 2);
        context.fillText("ρ, the score of strangers", 0, 0);
        context.restore();
        context.strokeStyle = color("line");
        context.lineWidth = 1;
        context.strokeRect(0, 0, SIZE, SIZE);
        const [x, y] = [X(ball[0]), Y(ball[1])];
        const shine = context.createRadialGradient(x - 4, y - 5, 1, x, y, 13);
        shine.addColorStop(0, "#fff");
        shine.addColorStop(0.35, color("signal"));
        shine.addColorStop(1, color("signal"));
        context.fillStyle = shine;
        context.beginPath();
        context.arc(x, y, 12, 0, 7);
        context.fill();
        context.lineWidth = 2;
        context.strokeStyle = color("paper");
        context.stroke();
      },
      { tabindex: 0, class: "pa-thrown", role: "application" },
    );
    const attention = easel(
      D,
      D,
      "Who listens to whom at the ball: a block for each set, or the opposite",
      (context, color) => {
        const [gamma, rho] = ball;
        const e = [beta, gamma, rho].map(Math.exp);
        const sum = e[0] + (C - 1) * e[1] + (D - C) * e[2];
        const names = ["ink", "same", "other"];
        for (let i = 0; i < D; i++)
          for (let j = 0; j < D; j++) {
            const who = i === j ? 0 : Math.floor(i / C) === Math.floor(j / C) ? 1 : 2;
            context.fillStyle = color(names[who]);
            context.globalAlpha = clamp((2.6 * e[who]) / sum);
            context.fillRect(j + 0.04, i + 0.04, 0.92, 0.92);
          }
        context.globalAlpha = 1;
      },
    );
    function shade() {
      ground = new Array(NODES * NODES).fill(null);
      const mine = ground;
      risk = new PopulationRisk({ D, C, q });
      push();
      let k = 0;
      inFrames(
        say,
        () => ground === mine,
        (until) => {
          for (; k < NODES * NODES && performance.now() < until; k++)
            mine[k] = velocity(risk, beta, score(k % NODES), -score(Math.floor(k / NODES)));
          if (k < NODES * NODES) return true;
          const depth = mine.map(({ loss }) => Math.log(loss));
          const high = (n) => -score(Math.floor(n / NODES));
          deepest = [1, -1].map((side) =>
            high(
              depth.reduce(
                (best, deep, n) =>
                  side * (score(n % NODES) - high(n)) > 0.2 && (best < 0 || deep < depth[best]) ? n : best,
                -1,
              ),
            ),
          );
          const upward = (rows) =>
            Array.from({ length: NODES }, (_, row) =>
              rows.slice((NODES - 1 - row) * NODES, (NODES - row) * NODES),
            ).flat();
          ends = basins(upward(mine), NODES, (2 * RANGE) / (NODES - 1));
          relief(relieved, upward(depth), ends, NODES, colors());
          levels = contours(finer(depth, NODES), 2 * NODES - 1, 13);
          plane.paint();
          return false;
        },
        7,
      );
    }
    const way = (gamma, rho) =>
      downhill(risk, beta, { gamma, rho }, { longest: 0.02, most: 500, range: RANGE - 0.1 });
    const tug = h("svg:svg", {
      role: "img",
      viewBox: "0 0 220 142",
      "aria-label":
        "How inputs push where all scores are equal: those that the count gets right, and those that it gets wrong",
    });
    lettered(tug, 220);
    const put = shapes(tug);
    /**
     * What inputs with a right, an even and a wrong count add to the speed of companions' scores, less that
     * of strangers'.
     */
    function pushes(gamma, rho) {
      risk.at(velocity(risk, beta, gamma, rho).alpha, beta, gamma, rho);
      const { law, slope, weightBy } = risk;
      return [1, 0, -1].map((side) => {
        const sums = law.columns.map((column) =>
          column.reduce((sum, x, n) => sum + (Math.sign(law.votes[n]) === side ? slope[n] * x : 0), 0),
        );
        const [byGamma, byRho] = [1, 2].map((score) =>
          weightBy[score].reduce((sum, x, m) => sum + x * sums[m], 0),
        );
        return byRho / (D * (D - C)) - byGamma / (D * (C - 1));
      });
    }
    function push() {
      const found = pushes(0, 0);
      found.push(found.reduce((a, b) => a + b, 0));
      const most = Math.max(...found.map(Math.abs), 1e-300);
      const rows = [
        "whose count is right",
        "whose count is even",
        "whose count is wrong",
        "all together",
      ].flatMap((words, k) => {
        const wide = (found[k] / most) * 96;
        return [
          ["text", { x: 110, y: 34 + 29 * k, "text-anchor": "middle", class: "pa-quiet-word" }, words],
          ["line", { class: "pa-axis", x1: 110, x2: 110, y1: 36 + 29 * k, y2: 51 + 29 * k }],
          [
            "rect",
            {
              class: wide > 0 ? "pa-same" : "pa-other",
              x: Math.min(110, 110 + wide),
              width: Math.max(1, Math.abs(wide)),
              y: 38 + 29 * k,
              height: 11,
            },
          ],
        ];
      });
      put([
        ["text", { x: 4, y: 14, class: "pa-other" }, "← strangers"],
        ["text", { x: 216, y: 14, "text-anchor": "end", class: "pa-same" }, "companions →"],
        ...rows,
      ]);
    }
    function roll(then = () => {}) {
      stop();
      line = way(...start);
      say(
        `The ball rolls downhill from γ = ${number(start[0], 2)}, ρ = ${number(start[1], 2)}, at q = ${number(q)}.`,
      );
      const last = line.length - 1;
      stop = during(
        2,
        (t) => {
          const k = Math.round(last * t * t * (3 - 2 * t));
          ball = [line[k].gamma, line[k].rho, k + 1];
          plane.paint();
          attention.paint();
        },
        () => {
          tell();
          then();
        },
      );
    }
    function tell() {
      const end = line.at(-1);
      const whose =
        Math.abs(end.gamma - end.rho) < 0.2 ? null : end.gamma > end.rho ? "companions" : "strangers";
      const other = ways[0];
      if (told && other) {
        const end = other.line.at(-1);
        return say(
          `${asked.tell()}At q = ${number(other.q)} it rolled into the valley of ` +
            `${end.gamma > end.rho ? "companions" : "strangers"}, and the error went from ` +
            `${percent(other.line[0].error)} to ${percent(end.error)}; at q = ${number(q)} into that of ` +
            `${whose}, from ${percent(line[0].error)} to ${percent(line.at(-1).error)}, by looking away ` +
            "from its own set.",
        );
      }
      say(
        `${told ? asked.tell() : ""}At q = ${number(q)} the ball rolls ` +
          `${whose ? `into the valley of ${whose}` : "along the line of equal scores"}: attention ` +
          `${whose === "companions" ? "finds the sets" : whose ? "looks away from its own set" : "stays even"}, ` +
          "and the error " +
          (percent(line[0].error) === percent(end.error)
            ? `stays near ${percent(end.error)}.`
            : `goes from ${percent(line[0].error)} to ${percent(end.error)}.`),
      );
    }
    const time = player({
      label: "q, how many patches speak at random",
      seconds: 0.01,
      words: "Roll",
      show: (k) => (0.05 * (k + 1)).toFixed(2),
      onstep: (k) => {
        const next = Number((0.05 * (k + 1)).toFixed(2));
        if (next === q && risk) return;
        q = next;
        shade();
        set(...start);
      },
    });
    const button = time.element.querySelector("button");
    button.replaceWith(
      h(
        "button",
        {
          type: "button",
          class: "pa-play",
          onclick: () => {
            alone();
            roll();
          },
        },
        "Roll",
      ),
    );
    /** What the reader moves is told by itself, without the ways that a guess compared. */
    const alone = () => {
      asked.tell();
      [ways, told] = [[], false];
    };
    time.element.addEventListener("input", alone, true);
    function set(gamma, rho) {
      stop();
      const edge = RANGE - 0.11; // where a way ends
      start = [gamma, rho].map((x) => Number(clamp(x, -edge, edge).toFixed(2)) + 0);
      [line, ball] = [[], [...start, 0]];
      plane.paint();
      attention.paint();
      say(
        `The ball lies at γ = ${number(start[0], 2)}, ρ = ${number(start[1], 2)}, and q = ` +
          `${number(q)}. From blue ground it rolls to companions, from orange to strangers; the stronger ` +
          "the color, the lower the ground. Put the ball anywhere, throw it, or let it roll.",
      );
    }
    const place = (event) => {
      const box = plane.canvas.getBoundingClientRect();
      const unit = WIDE / box.width;
      alone();
      set(
        (((event.clientX - box.left) * unit - LEFT) / SIZE) * 2 * RANGE - RANGE,
        RANGE - (((event.clientY - box.top) * unit - 8) / SIZE) * 2 * RANGE,
      );
    };
    let held = false; // a thumb that scrolls holds nothing
    let track = []; // where it was held, and when
    const follow = (event) => {
      place(event);
      track = [...track.slice(-5), [...start, event.timeStamp]];
    };
    /** It flies on as it was thrown, comes to rest, and rolls downhill from there. */
    function fly() {
      const [from, to] = [track[0], track.at(-1)];
      const aim = [0, 1].map((side) =>
        clamp(
          to?.[side] + (0.25 * (to?.[side] - from?.[side])) / Math.max(0.016, (to?.[2] - from?.[2]) / 1000),
          -RANGE,
          RANGE,
        ),
      );
      if (still.matches || !(Math.hypot(aim[0] - start[0], aim[1] - start[1]) > 0.1)) return roll();
      const begun = start;
      stop();
      stop = during(
        0.45,
        (t) => {
          ball = [...[0, 1].map((side) => mix(begun[side], aim[side], 1 - (1 - t) ** 3)), 0];
          plane.paint();
          attention.paint();
        },
        () => {
          set(...aim);
          roll();
        },
      );
    }
    plane.canvas.addEventListener(
      "touchstart",
      (event) => {
        // who takes the ball does not scroll
        const [{ left, top, width }, { clientX, clientY }] = [
          plane.canvas.getBoundingClientRect(),
          event.touches[0],
        ];
        const unit = width / WIDE;
        if (
          Math.hypot(clientX - left - (X(ball[0]) + LEFT) * unit, clientY - top - (Y(ball[1]) + 8) * unit) <
          30
        )
          event.preventDefault();
      },
      { passive: false },
    );
    plane.canvas.addEventListener("pointerdown", (event) => {
      [held, track] = [true, []];
      plane.canvas.setPointerCapture(event.pointerId);
      if (event.pointerType !== "touch") follow(event);
    });
    plane.canvas.addEventListener("pointermove", (event) => {
      if (held) follow(event);
    });
    plane.canvas.addEventListener("pointerup", (event) => {
      if (!held) return;
      held = false;
      track = track.filter(([, , then]) => event.timeStamp - then < 120); // one that was held still is not thrown
      place(event);
      fly();
    });
    plane.canvas.addEventListener("pointercancel", () => {
      held = false;
    });
    plane.canvas.addEventListener("keydown", (event) => {
      const way = arrow(event);
      if (event.key === "Enter" || way) alone();
      if (event.key === "Enter") roll();
      if (way) set(start[0] + 0.25 * way[0], start[1] - 0.25 * way[1]);
    });
    const rolls = (step) => () => {
      alone();
      start = [0, 0];
      time.go(step);
      roll();
    };
    reach.ball = { few: rolls(5), many: rolls(17) };
    const asked = guess({
      question:
        "The ball starts where all scores are equal. Into which valley does it roll, for q from 0.05 to 0.90?",
      options: ["Depends on q", "Always companions’", "Always strangers’"],
      right: 0,
      after: () => {
        [start, ways] = [[0, 0], []];
        time.go(5);
        roll(() =>
          setTimeout(
            () => {
              [told, start, ways] = [true, [0, 0], [{ q, line }]];
              time.go(17);
              roll();
            },
            still.matches ? 0 : 700,
          ),
        );
      },
    });
    stage.append(
      columns(
        [plane.canvas],
        asked.element,
        time.element,
        h(
          "div",
          { class: "pa-pair" },
          h("figure", { class: "pa-chart" }, h("figcaption", {}, "At equal scores, inputs push"), tug),
          h("figure", { class: "pa-chart" }, h("figcaption", {}, "Who listens"), attention.canvas),
        ),
        sentence,
      ),
    );
    return {
      fields: [],
      bare: true,
      repaint: () => {
        shade();
        plane.paint();
        attention.paint();
      },
      show: () => time.fit(17, 5),
      room: 255,
      outside: {
        way,
        at: (gamma, rho) => velocity(risk, beta, gamma, rho),
        setting: () => ({ D, C, q, beta }),
        ball: () => ball,
        started: () => start,
        pushes,
        ground: () => ends,
      },
    };
  });
})();
