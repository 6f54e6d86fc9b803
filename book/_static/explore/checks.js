// What every explorable asks of a setting: a sentence where it cannot be computed.
(() => {
  "use strict";
  /** A setting that cannot be computed; its message is the sentence that the page shows. */
  class Refused extends Error {}

  const refuse = (sentence) => {
    throw new Refused(sentence);
  };
  const range = (least, most) =>
    most < Infinity
      ? ` from ${least} to ${most.toLocaleString("en-US")}`
      : least > -Infinity
        ? `, at least ${least}`
        : "";
  const whole = (name, value, least, most = Infinity) => {
    if (!Number.isInteger(value) || value < least || value > most)
      refuse(`${name} must be a whole number${range(least, most)}; it is ${value}.`);
  };
  const finite = (name, value, least = -Infinity, most = Infinity) => {
    if (!Number.isFinite(value) || value < least || value > most)
      refuse(`${name} must be a finite number${range(least, most)}; it is ${value}.`);
  };
  /** A draw's number: a page multiplies it, and stays where whole numbers are exact. */
  const seed = (value) => whole("seed", value, 0, 1e9);

  window.patchAssociation = { Refused, refuse, whole, finite, seed };
})();
