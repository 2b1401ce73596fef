/** What the server says of itself: OpenAPI for programs, a page for people. */
import { createHash } from "node:crypto";
import { z } from "zod";
import { contentPolicy } from "../guards/headers.ts";
import { inSlices } from "../reference/in-slices.ts";
import { type OpenApi, openApiIn } from "../reference/openapi.ts";
import { referencePageIn } from "../reference/page.ts";
import { STYLE } from "../reference/style.ts";
import { publicRoute, type Route } from "../route.ts";

const styleHash = createHash("sha256").update(STYLE).digest("base64");
const PAGE_HEADERS = { "content-security-policy": contentPolicy(`style-src 'sha256-${styleHash}'`) };

/** `all` has these two as well, once they are there. */
export function referenceRoutes(version: string, all: () => readonly Route[]) {
  // Made once, when somebody first asks, and for nobody else to wait for.
  let document: Promise<OpenApi> | undefined;
  let text: Promise<string> | undefined;
  let page: Promise<string> | undefined;
  const made = (): Promise<OpenApi> => {
    document ??= inSlices(openApiIn(all(), version));
    return document;
  };
  return [
    publicRoute({
      method: "GET",
      path: "/api/openapi.json",
      summary: "This reference for programs, as OpenAPI 3.1",
      tag: "server",
      scope: "public",
      answers: { 200: z.object({ openapi: z.literal("3.1.0") }).catchall(z.unknown()) },
      async handle() {
        text ??= made().then((whole) => JSON.stringify(whole));
        return { status: 200, text: await text, type: "application/json; charset=utf-8" };
      },
    }),
    publicRoute({
      method: "GET",
      path: "/docs",
      summary: "This reference for people",
      tag: "server",
      scope: "public",
      answers: { 200: "text/html" },
      async handle() {
        page ??= made().then((whole) => inSlices(referencePageIn(whole)));
        return { status: 200, text: await page, type: "text/html; charset=utf-8", headers: PAGE_HEADERS };
      },
    }),
  ];
}
