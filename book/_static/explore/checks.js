// What every explorable asks of a setting: a sentence where it cannot be computed.
(() => {
  "use strict";
  /** A setting that cannot be computed; its message is the sentence that the page shows. */
  class Refused extends Error {}

  const refuse = (sentence) => { throw new Refused(sentence); };
  const whole = (name, value, least) => {
    if (!Number.isInteger(value) || value < least)
      refuse(`${name} must be a whole number, at least ${least}; it is ${value}.`);
  };
  const finite = (name, value, least = -Infinity, most = Infinity) => {
    if (!Number.isFinite(value) || value < least || value > most) {
      const range = most < Infinity ? ` from ${least} to ${most}` : least > -Infinity ? `, at least ${least}` : "";
      refuse(`${name} must be a finite number${range}; it is ${value}.`);
    }
  };

  window.patchAssociation = { Refused, refuse, whole, finite };
})();
