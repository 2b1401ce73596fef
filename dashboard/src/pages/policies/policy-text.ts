/** A version as a text that people read. */
import type { AnswerOf } from "holdpoint/client";

export const textOf = ({ document }: AnswerOf<"GET /api/policies/{name}">): string =>
  JSON.stringify(document, null, 2);
