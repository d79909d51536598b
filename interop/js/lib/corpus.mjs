// The samples of `interop/corpus/`, each whole, and each with one thing about it changed.
//
// Exhaustive rather than random: every member of every object is left out, set to null and set to a value of each other
// type, and every object is given a member that nobody knows. What is left is the same in every run, and the same in
// `interop/python/corpus.py`.

import { readFileSync } from "node:fs";

const SAMPLES = JSON.parse(readFileSync(new URL("../../corpus/samples.json", import.meta.url), "utf8"));

/** One value of each type of JSON, odd enough to be no other member's. */
const VALUES = { null: null, boolean: true, integer: 7, fraction: 1.5, negative: -1, string: "novel", array: [], object: {} };

/** Every sample as it stands, and every change to every member of it. */
export function* corpus() {
  for (const [index, { before, event, after }] of SAMPLES.entries()) {
    const name = `${index} ${event.type}`;
    yield { name, before, event, after };
    for (const path of paths(event)) {
      // What the type is, is another test's question: an unknown one is carried whatever it holds.
      if (path.length === 1 && path[0] === "type") continue;
      const where = path.join(".");
      if (typeof path.at(-1) === "string") {
        yield { name: `${name}: without ${where}`, before, event: changed(event, path), after };
      }
      for (const [kind, value] of Object.entries(VALUES)) {
        yield { name: `${name}: ${where} is ${kind}`, before, event: changed(event, path, value), after };
      }
    }
    for (const path of [[], ...paths(event)]) {
      const target = at(event, path);
      if (target === null || typeof target !== "object" || Array.isArray(target)) continue;
      const where = [...path, "xUnknown"];
      yield { name: `${name}: ${where.join(".")} is unknown`, before, event: changed(event, where, { a: [null] }), after };
    }
  }
}

function* paths(value, above = []) {
  if (value === null || typeof value !== "object") return;
  for (const [key, member] of Object.entries(value)) {
    const path = [...above, Array.isArray(value) ? Number(key) : key];
    yield path;
    yield* paths(member, path);
  }
}

const at = (value, path) => path.reduce((inner, key) => inner[key], value);

/** A copy with the member at `path` set to `value`, or left out when none is given. */
function changed(event, path, ...value) {
  const copy = structuredClone(event);
  const target = at(copy, path.slice(0, -1));
  if (value.length) target[path.at(-1)] = value[0];
  else delete target[path.at(-1)];
  return copy;
}
