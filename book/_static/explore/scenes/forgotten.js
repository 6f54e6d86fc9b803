// Known, then forgotten: ten networks of each of three sizes, and when they know all sets.
(() => {
  "use strict";
  const { guess, player, chart, mount, number, percent, still, essay } = window.patchAssociation;
  const { small, thousands, columns, easel, reach } = window.patchAssociation.scenes;

  mount("forgotten", ({ stage, say, sentence }) => {
    const { runs, every, steps, q } = essay.forgotten;
    const last = steps / every;
    // slower where more happens
    const times = [...new Set(Array.from({ length: 61 }, (_, k) => Math.round(last * (k / 60) ** 2)))];
    const sizes = Object.keys(runs).sort((a, b) => a - b);
    // A diary of light: a lamp for each network, and after it a flame, as thick as the worst companion is
    // ahead of the best stranger.
    const thickest = Math.max(...sizes.flatMap((n) => runs[n].margin.flat()));
    const [WIDE, STEP, HEAD, LEFT] = [
      small.matches ? 360 : 600,
      small.matches ? 11 : 20,
      small.matches ? 28 : 32,
      38,
    ];
    const high = sizes.length * (10 * STEP + HEAD) + (small.matches ? 50 : 44);
    const TICKS = [0, 5, 15, last]; // records that are named on the axis
    const across = (t) => LEFT + (WIDE - LEFT - 14) * Math.sqrt(t / last); // early steps have more room
    let [at, reached] = [0, 0];
    const count = (n, t = at) => runs[n].margin[t].filter((margin) => margin > 0).length;
    const knowing = (n, of = "") =>
      `${count(n)} of ${runs[n].margin[0].length}${of} ${count(n) === 1 ? "knows" : "know"}`;
    const diary = easel(
      WIDE,
      high,
      "For each of three sizes of the sample ten lamps, and when each was lit",
      (context, color, pixel) => {
        const word = (text, x, y, align, weight = 400) => {
          context.font = `${weight} ${13 * pixel}px 'Book Sans', sans-serif`;
          [context.fillStyle, context.textAlign] = [color("ink"), align];
          context.fillText(text, x, y);
        };
        context.lineCap = "butt";
        sizes.toReversed().forEach((n, row) => {
          // the sample that the guess is about stands first
          const top = row * (10 * STEP + HEAD) + HEAD;
          word(`${thousands(Number(n))} inputs`, 4, top - 9, "left", 600);
          word(at ? `${knowing(n)} all sets` : "", WIDE - 14, top - 9, "right", 600);
          for (let s = 0; s < 10; s++) {
            const y = top + (s + 0.5) * STEP;
            [context.strokeStyle, context.lineWidth] = [color("line"), 1];
            context.beginPath();
            context.moveTo(across(0), y);
            context.lineTo(across(last), y);
            context.stroke();
            const thick = (t) => (Math.max(0, runs[n].margin[t][s]) / thickest) * (STEP / 2 - 1);
            const flame = (until, look) => {
              // up to the moment at which it sinks through zero, on a straight line between two records
              const edge = [[0, 0]];
              for (let t = 1; t <= until; t++) {
                const [a, b] = [runs[n].margin[t - 1][s], runs[n].margin[t][s]];
                if (a > 0 !== b > 0) edge.push([t - 1 + a / (a - b), 0]);
                edge.push([t, thick(t)]);
              }
              context.fillStyle = look;
              context.beginPath();
              for (const [t, wide] of edge) context.lineTo(across(t), y - wide);
              for (const [t, wide] of edge.reverse()) context.lineTo(across(t), y + wide);
              context.fill();
            };
            flame(reached, "rgba(240, 174, 18, 0.4)");
            flame(at, "#f0ae12");
            const on = runs[n].margin[at][s] > 0;
            if (on) {
              const glow = context.createRadialGradient(14, y, 2, 14, y, STEP / 2 + 2);
              glow.addColorStop(0, "rgba(255, 190, 30, 0.9)");
              glow.addColorStop(1, "rgba(255, 190, 30, 0)");
              context.fillStyle = glow;
              context.fillRect(2, y - STEP / 2 - 2, 24, STEP + 4);
            }
            context.beginPath();
            context.arc(14, y, STEP / 2 - 2, 0, 7);
            context.fillStyle = on ? "#ffc933" : color("paper");
            [context.strokeStyle, context.lineWidth] = [on ? "#e0a100" : color("line"), 1.5];
            context.fill();
            context.stroke();
          }
        });
        [context.strokeStyle, context.lineWidth] = [color("noise"), 1];
        context.beginPath();
        sizes.forEach((_, row) => {
          // now
          context.moveTo(across(at), row * (10 * STEP + HEAD) + HEAD);
          context.lineTo(across(at), (row + 1) * (10 * STEP + HEAD));
        });
        context.stroke();
        const below = sizes.length * (10 * STEP + HEAD);
        [context.strokeStyle, context.lineWidth] = [color("noise"), 1];
        context.beginPath();
        for (const t of TICKS) {
          context.moveTo(across(t), below);
          context.lineTo(across(t), below + 4);
          word(thousands(t * every), across(t), below + 4 + 14 * pixel, t === last ? "right" : "center");
        }
        context.stroke();
        word("step, on an axis of square roots", across(last / 4), below + 6 + 30 * pixel, "center");
      },
    );
    const errors = chart({
      title: "Their error on new inputs",
      xlabel: "step, on an axis of square roots",
      height: small.matches ? 130 : 230,
    });
    const LOOKS = ["pa-noise", "pa-noise", "pa-label"];
    function go(k) {
      [at, reached] = [k, Math.max(reached, k)];
      diary.paint();
      errors.draw({
        x: [0, Math.sqrt(last)],
        range: [0, 0.016],
        format: (y) => `${number(100 * y)}%`,
        at: Math.sqrt(at),
        ticks: TICKS.map(Math.sqrt),
        across: (x) => thousands(Math.round(x * x) * every),
        curves: sizes.map((n, k) => ({
          y: runs[n].error.map((e, t) => (t > 0 && t <= reached ? e : NaN)),
          look: LOOKS[k],
          xs: runs[n].error.map((_, t) => Math.sqrt(t)),
          name: thousands(Number(n)),
        })),
      });
      const n = sizes.at(-1);
      say(
        at === 0
          ? `Each lamp is a network of its own, on its own sample at q = ${number(q)}. It is lit while ` +
              "every patch ranks its own companions first. After it comes a flame, as thick as the weakest " +
              "companion is ahead of the strongest stranger."
          : `${reached >= last ? asked.tell() : ""}After step ${thousands(at * every)}, ${knowing(n, ` networks on ${thousands(Number(n))} inputs`)} ` +
              `all sets; on average they are wrong on ${percent(runs[n].error[at])} of new ones.` +
              (reached >= last
                ? ` At step ${thousands(bright[0] * every)} ` +
                  `${most === runs[n].margin[0].length ? "all " : ""}${most} knew them, and erred in ` +
                  `${percent(runs[n].error[bright[0]])}: the error fell while the sets were lost.`
                : ""),
      );
    }
    const most = Math.max(...runs[sizes.at(-1)].margin.map((_, t) => count(sizes.at(-1), t)));
    // when all are lit
    const bright = runs[sizes.at(-1)].margin.flatMap((_, t) => (count(sizes.at(-1), t) === most ? [t] : []));
    const shining = times.flatMap((t, k) => (bright.includes(t) ? [k] : []));
    const time = player({
      label: "step",
      seconds: 7,
      hold: { at: shining[shining.length >> 1], seconds: 2.5 },
      show: (k) => thousands(times[k] * every),
      onstep: (k) => go(times[k]),
    });
    const show = (k) => () => {
      time.stop();
      time.go(k);
    };
    reach.forgotten = { lit: show(shining[0]), end: show(times.length - 1) };
    const asked = guess({
      question: "All lamps of the largest sample are soon lit, and training goes on. Do they stay lit?",
      options: ["No", "Yes, the error still falls"],
      right: 0,
      after: () => time.play(),
    });
    stage.append(columns([diary.canvas], asked.element, time.element, errors.element, sentence));
    // By themselves the lamps are lit one after another, once; whether they stay lit is what is asked.
    const seen = new IntersectionObserver(
      (entries) => {
        if (!entries.some((entry) => entry.isIntersecting)) return;
        seen.disconnect();
        if (!still.matches && !at && asked.chosen === null) time.play(shining[0]);
      },
      { threshold: 0.5 },
    );
    seen.observe(diary.canvas);
    return {
      fields: [],
      bare: true,
      repaint: diary.paint,
      show: () => time.fit(times.length - 1, 0),
      room: 250,
      plays: true,
      outside: { at: () => at * every, lit: () => Object.fromEntries(sizes.map((n) => [n, count(n)])) },
    };
  });
})();
