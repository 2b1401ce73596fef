import type { Json } from "../../kernel/json.ts";
import type { Scope } from "../../kernel/registry.ts";
import { visible } from "../../kernel/text.ts";
import type { ApiKey, IssuedKey } from "../../people/keys/contract.ts";
import type { Role } from "../../people/stream.ts";
import { type Command, type Context, EXIT, flag, isOn, needed, whereFlags, word } from "../shell/command.ts";
import { CommandError } from "../shell/failure.ts";
import { printList, readLimit, readList } from "../shell/lists.ts";
import { type Part, parseSpan, runPart } from "../shell/parse.ts";
import { resolveId } from "../shell/resolve-id.ts";
import { formatMoment } from "../shell/terminal.ts";

const HEADS = ["ID", "STATUS", "PRINCIPAL", "NAME", "ROLES", "SCOPES", "EXPIRES", "ISSUED BY"];

function cellsOf(key: ApiKey): readonly string[] {
  const { id, status, principal, name, roles, scopes, expiresAt, by } = key;
  const of = roles.length === 0 ? "the person's" : roles.join(",");
  const end = expiresAt === null ? "-" : formatMoment(expiresAt);
  return [id, status, principal, name, of, scopes?.join(",") ?? "all", end, by].map(visible);
}

async function listed(context: Context, limit: number): Promise<readonly ApiKey[]> {
  const of = flag(context, "of");
  const whose = of === undefined ? {} : { principal: of };
  const isShown = ({ status }: ApiKey) => isOn(context, "all") || status === "active";
  const found = await readList(limit, async (cursor) => {
    const { items, next } = await context.hp.keys.list({ ...whose, ...cursor });
    return { items: items.filter(isShown), next };
  });
  return found.items;
}

async function list(context: Context): Promise<number> {
  const items = await listed(context, readLimit(context));
  printList(context, { items }, { heads: HEADS, cells: cellsOf, empty: "There is no key in use." });
  return EXIT.ok;
}

/** Only the key goes to standard output, so that it can be piped to where it is stored. */
function tell(context: Context, { key, text }: IssuedKey, said: readonly string[]): number {
  const { terminal, json } = context;
  if (json) {
    terminal.json({ key: key as unknown as Json, text });
    return EXIT.ok;
  }
  for (const line of said) terminal.note(line);
  terminal.line(visible(text));
  terminal.note("It is shown this once and kept nowhere. Give it to the program as HOLDPOINT_API_KEY;");
  terminal.note("over HTTP it is sent as: Authorization: Bearer <key>");
  terminal.note(
    `If it gets lost: npx holdpoint keys revoke ${visible(key.id)} --reason "…"${whereFlags(context)}`,
  );
  return EXIT.ok;
}

const lasting = (context: Context): { forMs?: number } => {
  const given = flag(context, "for");
  return given === undefined ? {} : { forMs: parseSpan("for", given) };
};

const until = ({ expiresAt }: ApiKey): string =>
  expiresAt === null ? "until it is revoked" : `until ${formatMoment(expiresAt)}`;

async function issue(context: Context): Promise<number> {
  const principal = word(context, 1);
  if (principal === "")
    throw new CommandError(
      "usage",
      "For whom? A key acts for somebody.",
      "Such as: holdpoint keys issue agent:mailer --name web-1 --role executor",
    );
  const [roles, scopes] = [context.values.get("role"), context.values.get("scope")];
  const issued = await context.hp.keys.issue({
    principal,
    name: needed(context, "name"),
    ...(roles === undefined ? {} : { roles: roles as readonly Role[] }),
    ...(scopes === undefined ? {} : { scopes: scopes as readonly Scope[] }),
    ...lasting(context),
    by: context.person,
  });
  return tell(context, issued, [`A key for ${visible(principal)}, ${until(issued.key)}:`]);
}

async function rotate(context: Context): Promise<number> {
  const id = await resolveId(context, "key", word(context, 1));
  const overlap = flag(context, "overlap");
  const issued = await context.hp.keys.rotate(id, {
    by: context.person,
    ...(overlap === undefined ? {} : { overlapMs: overlap === "0" ? 0 : parseSpan("overlap", overlap) }),
    ...lasting(context),
  });
  const { expiresAt } = await context.hp.keys.get(id);
  return tell(context, issued, [
    `${id} works until ${formatMoment(expiresAt ?? 0)}. In its place, for ${visible(issued.key.principal)}, ${until(issued.key)}:`,
  ]);
}

async function revoke(context: Context): Promise<number> {
  const { hp, terminal, json, person: by } = context;
  const id = await resolveId(context, "key", word(context, 1));
  const key = await hp.keys.revoke(id, { by, reason: needed(context, "reason") });
  if (json) terminal.json(key as unknown as Json);
  else
    terminal.line(
      `Revoked: ${id}, of ${visible(key.principal)}. A server that runs refuses it within a second.`,
    );
  return EXIT.ok;
}

const PARTS = {
  list: { flags: ["of", "all", "limit"], words: 0, run: list },
  issue: { flags: ["name", "role", "scope", "for"], needs: ["name"], words: 1, run: issue },
  rotate: { flags: ["overlap", "for"], words: 1, run: rotate },
  revoke: { flags: ["reason"], needs: ["reason"], words: 1, run: revoke },
} as const satisfies { readonly [name: string]: Part };

export const keysCommand: Command = {
  name: "keys",
  words: ["[list|issue|rotate|revoke]", "[principal or id]"],
  summary: "List, issue, rotate and revoke API keys",
  details: [
    "keys (or keys list) shows those in use; --all also those that are over.",
    "keys issue agent:mailer --name web-1 --role executor --for 90d prints the key, this once.",
    "keys rotate <id> prints another that may do the same; the old one works an hour longer, or as --overlap says.",
    "keys revoke <id> --reason <text> ends it. An agent's or service's key never decides, whatever its roles.",
    "In a pipe each line of a list is tab-separated: id, status, principal, name, roles, scopes, expiry, issued by.",
  ],
  examples: ["holdpoint keys issue agent:refunds --name prod --for 90d"],
  flags: {
    name: { value: "<text>", summary: "issue: what tells it from others" },
    role: { value: "<role>", summary: "issue: of an agent or a service; may be repeated", repeatable: true },
    scope: {
      value: "<scope>",
      summary: "issue: only these of what the roles bring; may be repeated",
      repeatable: true,
    },
    for: {
      value: "<span>",
      summary:
        "issue and rotate: how long it lasts, such as 90d; until revoked, or as long as the old one, unless set",
    },
    overlap: {
      value: "<span>",
      summary: "rotate: how long the old one still works, such as 2h or 0; 1h unless set",
    },
    reason: { value: "<text>", summary: "revoke: why; it is recorded" },
    of: { value: "<principal>", summary: "list: only theirs" },
    all: { summary: "list: also those that were revoked or whose time is over" },
    limit: { value: "<n>", summary: "list: how many to show; 50 unless set" },
  },
  run: async (context) => runPart(context, "keys", PARTS),
};
