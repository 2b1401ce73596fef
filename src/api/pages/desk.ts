/**
 * The dashboard: the built files of `dashboard/`, served as they are, and the routes of its pages (all one file).
 * - Only files that are in the folder when the server starts are served: no request path reaches the disk.
 * - The page loads only the server's own files, and runs no inline script or script made of text.
 * - The files hold no user data: a page requests its data with the viewer's own credential.
 */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { z } from "zod";
import { HoldpointError } from "../../kernel/errors.ts";
import { contentPolicy } from "../reply.ts";
import { publicRoute, type ReplyHeaders, type RouteAnswer } from "../route.ts";
import { LISTED_PAGES } from "./listed-pages.ts";

type DeskFile = { readonly type: string; readonly plain: Uint8Array; readonly brotli: Uint8Array | null };

export type DeskFiles = {
  readonly page: (encodings: string | undefined) => RouteAnswer;
  /** The same page with status 404, for an unknown address. */
  readonly missing: (encodings: string | undefined) => RouteAnswer;
  readonly asset: (name: string, encodings: string | undefined) => RouteAnswer;
};

const TYPES: { readonly [ending: string]: string } = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};
const DESK_HEADERS: ReplyHeaders = {
  "content-security-policy": contentPolicy(
    "script-src 'self'",
    "style-src 'self'",
    "font-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "require-trusted-types-for 'script'",
  ),
};
/** File names change with their content. */
const FILE_HEADERS: ReplyHeaders = { "cache-control": "public, max-age=31536000, immutable" };
/** Compressed copy that the build writes next to a text file. */
const SMALL = ".br";

function filesIn(folder: string): ReadonlyMap<string, DeskFile> {
  const entries = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
  const bytes = new Map(entries.map(({ name }) => [name, readFileSync(path.join(folder, name))]));
  const shown = [...bytes].filter(([name]) => !name.endsWith(SMALL));
  return new Map(
    shown.map(([name, plain]) => {
      const type = TYPES[path.extname(name)] ?? "application/octet-stream";
      return [name, { type, plain, brotli: bytes.get(`${name}${SMALL}`) ?? null }];
    }),
  );
}

/** undefined if the dashboard was not built: the server runs without it. */
export function readDeskFiles(folder: string): DeskFiles | undefined {
  try {
    const page = filesIn(folder).get("index.html");
    if (page === undefined) return undefined;
    const assets = filesIn(path.join(folder, "assets"));
    return {
      page: (encodings) => sent(page, encodings, DESK_HEADERS),
      missing: (encodings) => ({ ...sent(page, encodings, DESK_HEADERS), status: 404 }),
      asset: (name, encodings) => sent(assets.get(name), encodings, FILE_HEADERS),
    };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

function sent(file: DeskFile | undefined, encodings = "", own: ReplyHeaders = {}): RouteAnswer {
  if (file === undefined) throw new HoldpointError("unknown_route", "There is no such file here.");
  const isSmall = file.brotli !== null && /(^|[\s,])br\s*(,|$)/.test(encodings);
  const headers: ReplyHeaders = {
    ...own,
    vary: "accept-encoding",
    ...(isSmall ? { "content-encoding": "br" } : {}),
  };
  return { status: 200, bytes: isSmall ? (file.brotli ?? file.plain) : file.plain, type: file.type, headers };
}

const PAGES = [
  ["/", "What waits today"],
  ["/approvals", "The inbox"],
  ["/approvals/{id}", "An approval: what is asked, and the place to decide"],
  ["/workflows", "Workflows"],
  ["/workflows/{id}", "A workflow: its timeline, checkpoints, effects and journal"],
  ["/actions/{id}", "An action: what was proposed, and its outcome"],
  ["/in-doubt", "Effects in doubt: it is not known whether they happened"],
  ["/policies", "Policies: versions, back-tests, suggestions, standing grants"],
  ["/agents", "Agents and keys"],
  ["/activity", "What was asked, decided and done, in charts"],
  ["/kill-switch", "The kill switch"],
  ["/settings", "Settings"],
  ["/more", "The pages that a phone's bar has no room for"],
  ...LISTED_PAGES.map((name) => [`/${name}`, `The list of ${name}`] as const),
] as const;

const nothing = z.object({});
/** Without an id, it is the list page. */
const one = z.object({ id: z.string().max(600) });
const file = z.object({ file: z.string().min(1).max(200) });
/** The page itself handles the query string. */
const anything = z.record(z.string(), z.unknown());

function built(desk: DeskFiles | undefined): DeskFiles {
  if (desk !== undefined) return desk;
  throw new HoldpointError("unknown_route", "The desk was not built.", {
    next: "Build it with `npm run build`; the API and the reference at /docs are there without it.",
  });
}

export function deskRoutes(desk: DeskFiles | undefined) {
  const pages = PAGES.map(([path, summary]) =>
    publicRoute({
      method: "GET",
      path,
      summary: `Page: ${summary}`,
      tag: "desk",
      scope: "public",
      params: path.includes("{id}") ? one : nothing,
      query: anything,
      answers: { 200: "text/html" },
      handle: async ({ header }) => built(desk).page(header("accept-encoding")),
    }),
  );
  const assets = publicRoute({
    method: "GET",
    path: "/assets/{file}",
    summary: "A file of the desk",
    tag: "desk",
    scope: "public",
    params: file,
    answers: { 200: "application/octet-stream" },
    handle: async ({ params, header }) => built(desk).asset(params.file, header("accept-encoding")),
  });
  return [...pages, assets];
}
