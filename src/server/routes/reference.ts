/** What the server says of itself: OpenAPI for programs, a page for people. */
import { createHash } from "node:crypto";
import { z } from "zod";
import { contentPolicy } from "../guards/headers.ts";
import { openApiOf } from "../reference/openapi.ts";
import { referencePage } from "../reference/page.ts";
import { STYLE } from "../reference/style.ts";
import { ok, publicRoute, type Route } from "../route.ts";

const styleHash = createHash("sha256").update(STYLE).digest("base64");
const PAGE_HEADERS = { "content-security-policy": contentPolicy(`style-src 'sha256-${styleHash}'`) };

/** `all` has these two as well, once they are there. */
export function referenceRoutes(version: string, all: () => readonly Route[]) {
  let document: ReturnType<typeof openApiOf> | undefined;
  let page: string | undefined;
  const made = () => {
    document ??= openApiOf(all(), version);
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
      handle: async () => ok(made()),
    }),
    publicRoute({
      method: "GET",
      path: "/docs",
      summary: "This reference for people",
      tag: "server",
      scope: "public",
      answers: { 200: "text/html" },
      async handle() {
        page ??= referencePage(made());
        return { status: 200, text: page, type: "text/html; charset=utf-8", headers: PAGE_HEADERS };
      },
    }),
  ];
}
