/**
 * The desk: the built files of `dashboard/`, served as they are. They hold nothing of anybody's: whoever opens a page gets the same
 * files, and what it shows is asked for with their own credential.
 *
 * D1. Only what stands in the folder when the server starts is ever answered: no path of a request reaches the disk.
 * D2. The page loads nothing but the server's own files, and runs no script that stands in a page or is made of text.
 */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { HoldpointError } from "../../kernel/errors.ts";
import { contentPolicy } from "../guards/headers.ts";
import type { Answer, Headers } from "../route.ts";

type DeskFile = { readonly type: string; readonly plain: Uint8Array; readonly brotli: Uint8Array | null };

export type Desk = {
  readonly page: (encodings: string | undefined) => Answer;
  /** The same page, which says that there is none at its address. */
  readonly missing: (encodings: string | undefined) => Answer;
  readonly asset: (name: string, encodings: string | undefined) => Answer;
};

const TYPES: { readonly [ending: string]: string } = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};
const PAGE_HEADERS: Headers = {
  "content-security-policy": contentPolicy(
    "script-src 'self'",
    "style-src 'self'",
    "font-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "require-trusted-types-for 'script'",
  ),
};
/** Their names change with what they hold. */
const FILE_HEADERS: Headers = { "cache-control": "public, max-age=31536000, immutable" };
/** What the build writes beside a text. */
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

/** Undefined where it was not built: the server does without. */
export function openDesk(folder: string): Desk | undefined {
  try {
    const page = filesIn(folder).get("index.html");
    if (page === undefined) return undefined;
    const assets = filesIn(path.join(folder, "assets"));
    return {
      page: (encodings) => sent(page, encodings, PAGE_HEADERS),
      missing: (encodings) => ({ ...sent(page, encodings, PAGE_HEADERS), status: 404 }),
      asset: (name, encodings) => sent(assets.get(name), encodings, FILE_HEADERS),
    };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

function sent(file: DeskFile | undefined, encodings = "", own: Headers = {}): Answer {
  if (file === undefined) throw new HoldpointError("unknown_route", "There is no such file here.");
  const isSmall = file.brotli !== null && /(^|[\s,])br\s*(,|$)/.test(encodings);
  const headers: Headers = {
    ...own,
    vary: "accept-encoding",
    ...(isSmall ? { "content-encoding": "br" } : {}),
  };
  return { status: 200, bytes: isSmall ? (file.brotli ?? file.plain) : file.plain, type: file.type, headers };
}
