import type { Json } from "../../kernel/json.ts";
import { visible } from "../../kernel/text.ts";
import { loginAddress } from "../../people/rules/credential.ts";
import type { Tenant } from "../../people/tenants/contract.ts";
import { type Command, type Context, EXIT, flag, needed, word } from "../shell/command.ts";
import { CommandError } from "../shell/failure.ts";
import { printList, readList } from "../shell/lists.ts";
import { type Part, parseSpan, runPart } from "../shell/parse.ts";
import { formatMoment } from "../shell/terminal.ts";
import { linkServer, SERVER_FLAG } from "./login.ts";
import { readPerson } from "./people.ts";

const HEADS = ["TENANT", "STATUS", "BY", "AT", "REASON"];

function cellsOf({ name, home, status, by, at, reason }: Tenant): readonly string[] {
  const standing = home ? "home" : status;
  return [name, standing, by ?? "-", at === null ? "-" : formatMoment(at), reason ?? "-"].map(visible);
}

function nameOf(context: Context): string {
  const name = word(context, 1);
  if (name !== "") return name;
  throw new CommandError(
    "usage",
    "Which tenant? Its name is needed.",
    "Such as: holdpoint tenants add acme --admin ann",
  );
}

async function list(context: Context): Promise<number> {
  const found = await readList(Number.POSITIVE_INFINITY, (cursor) => context.hp.tenants.list(cursor));
  printList(context, found, { heads: HEADS, cells: cellsOf, empty: "There are no tenants." });
  return EXIT.ok;
}

/** Only the link goes to standard output. */
async function add(context: Context): Promise<number> {
  const { hp, terminal, json, person: by } = context;
  const [name, admin] = [nameOf(context), readPerson(needed(context, "admin"))];
  const server = linkServer(flag(context, "url"), context.folder);
  const given = flag(context, "for");
  const life = given === undefined ? {} : { forMs: parseSpan("for", given) };
  const { tenant, login } = await hp.tenants.add({ name, admin, by, ...life });
  const url = loginAddress(server, login.link);
  if (json) {
    terminal.json({ tenant: tenant as unknown as Json, admin, url, expiresAt: login.expiresAt });
    return EXIT.ok;
  }
  terminal.note(`The tenant ${name} is there. ${visible(admin)} is its first admin and logs in with this,`);
  terminal.note(`once, until ${formatMoment(login.expiresAt)}. It is shown this once and kept nowhere:`);
  terminal.line(url);
  return EXIT.ok;
}

async function close(context: Context): Promise<number> {
  const { hp, terminal, json, person: by } = context;
  const name = nameOf(context);
  const tenant = await hp.tenants.close(name, { by, reason: needed(context, "reason") });
  if (json) terminal.json(tenant as unknown as Json);
  else
    terminal.line(
      `Closed: ${visible(name)}. Nobody gets in and nothing starts; a server that runs refuses its keys within a second. What it holds is kept.`,
    );
  return EXIT.ok;
}

const PARTS = {
  list: { flags: [], words: 0, run: list },
  add: { flags: ["admin", "url", "for"], needs: ["admin"], words: 1, run: add },
  close: { flags: ["reason"], needs: ["reason"], words: 1, run: close },
} as const satisfies { readonly [name: string]: Part };

export const tenantsCommand: Command = {
  name: "tenants",
  words: ["[list|add|close]", "[tenant]"],
  summary: "List, add and close tenants",
  details: [
    "tenants (or tenants list) shows all of them, by name.",
    "tenants add acme --admin ann makes one and prints the link by which its first admin logs in, this once.",
    'tenants close acme --reason "moved away" is for good: no key or session of it works, nothing in it starts, what it holds is kept.',
    "At a server only an admin of the home tenant does this.",
    "In a pipe each line is tab-separated: tenant, home or open or closed, by, at, reason.",
  ],
  examples: ["holdpoint tenants add acme --admin ann"],
  flags: {
    admin: { value: "<person>", summary: "add: its first admin" },
    url: {
      value: "<address>",
      summary: `add: the server's address, for the link; that of --server, else ${SERVER_FLAG}, unless set`,
    },
    for: { value: "<span>", summary: "add: how long the link can be used, such as 30m; at most a day" },
    reason: { value: "<text>", summary: "close: why; it is recorded" },
  },
  run: async (context) => runPart(context, "tenants", PARTS),
};
