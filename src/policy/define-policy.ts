/** Apart from the language, so that declaring a document loads nothing of it. */
import type { PolicyText } from "./rules/document.ts";

/** A policy document in TypeScript. Its conditions may also be pure functions. */
export function definePolicy(document: PolicyText): PolicyText {
  return document;
}
