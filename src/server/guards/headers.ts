/** Headers of every answer: nothing of it is framed, sniffed, kept or sent on by a browser. */
import type { Headers } from "../route.ts";

const POLICY = ["default-src 'none'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"];

/** `more` names what a page needs beside nothing at all. */
export const contentPolicy = (...more: readonly string[]): string => [...POLICY, ...more].join("; ");

export const SECURITY_HEADERS: Headers = {
  "content-security-policy": contentPolicy(),
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-store",
};
