/** Random expressions over time, and patterns. */
import type { Draw, Tree } from "./policy-draw-expression.ts";

const DAY = 86_400_000;
/** The middle of summer, of a winter's night, and around the hours at which clocks are changed. */
export const TIMES = [
  0,
  Date.UTC(2026, 6, 15, 12, 30, 5),
  Date.UTC(2026, 0, 1, 23, 59, 59),
  Date.UTC(2026, 2, 29, 0, 59, 59),
  Date.UTC(2026, 2, 29, 1),
  Date.UTC(2026, 9, 25, 1),
  Date.UTC(2024, 1, 29, 12),
  Date.UTC(1969, 11, 31, 12),
];
const ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Nowhere/Land"];
const PARTS = [
  "getFullYear",
  "getMonth",
  "getDate",
  "getDayOfMonth",
  "getDayOfWeek",
  "getHours",
  "getMinutes",
  "getSeconds",
] as const;
const LENGTHS = ["90s", "30m", "1h30m", "2d", "250ms", "36h", "2x", ""];
const MOMENTS = ["2026-03-29T01:00:00Z", "2026-03-29T02:30:00+02:00", "2026-07-15", "not a time"];
/** Written alike in both kinds of regular expressions, and meaning the same there. */
const PATTERNS = ["^a", "b$", "^(a|pay)+$", "[a-c]b?", "l.te", "x*", "^$", "(?i)PAY", "^[^a]", "a{2,3}|t+e"];

function drawMoment(draw: Draw, depth: number): Tree {
  if (depth > 0 && draw.chance(0.3)) {
    const [left, right] = [drawMoment(draw, depth - 1), drawSpan(draw, 0)];
    return { is: "two", op: draw.pick(["+", "-"]), left, right };
  }
  if (draw.chance(0.6)) return { is: "read", path: ["now"] };
  return { is: "moment", text: draw.pick(MOMENTS) };
}

function drawSpan(draw: Draw, depth: number): Tree {
  if (depth > 0 && draw.chance(0.4)) {
    const [left, right] = [drawMoment(draw, depth - 1), drawMoment(draw, depth - 1)];
    return { is: "two", op: "-", left, right };
  }
  return { is: "span", text: draw.pick(LENGTHS) };
}

/** A part of a moment, or a whole length of time. */
export function drawTimeNumber(draw: Draw): Tree {
  if (draw.chance(0.3)) {
    const part = draw.pick(["getHours", "getMinutes", "getSeconds", "getMilliseconds"] as const);
    return { is: "part", part, zone: null, of: drawSpan(draw, 1) };
  }
  const zone = draw.chance(0.4) ? draw.pick(ZONES) : null;
  return { is: "part", part: draw.pick(PARTS), zone, of: drawMoment(draw, 1) };
}

export function drawTimeTruth(draw: Draw): Tree {
  const op = draw.pick(["<", "<=", ">", ">=", "==", "!="]);
  if (draw.chance(0.5)) return { is: "two", op, left: drawMoment(draw, 1), right: drawMoment(draw, 1) };
  if (draw.chance(0.5)) return { is: "two", op, left: drawSpan(draw, 1), right: drawSpan(draw, 1) };
  return { is: "two", op, left: drawTimeNumber(draw), right: { is: "literal", value: draw.upTo(24) } };
}

export const drawMatch = (draw: Draw, of: Tree): Tree => ({ is: "match", of, pattern: draw.pick(PATTERNS) });

export const drawNow = (draw: Draw): number => draw.pick(TIMES) + draw.upTo(2) * DAY;
