// Formulas from the standard input, as JSON: [[TeX, whether it is displayed], ...]; their HTML to the standard output.
const katex = require("./katex.min.js");
const formulas = JSON.parse(require("fs").readFileSync(0, "utf8"));
const html = formulas.map(([tex, displayed]) => {
  try {
    return katex.renderToString(tex, { strict: false, output: "htmlAndMathml", displayMode: displayed });
  } catch (error) {
    throw new Error(`${tex}: ${error.message}`);
  }
});
process.stdout.write(JSON.stringify(html));
