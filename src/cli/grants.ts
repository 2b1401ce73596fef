import { didYouMean } from "../core/policy/nearest.ts";
import { visible } from "../core/visible.ts";
import { LONGEST_DAYS } from "../engine/limits.ts";
import type { GrantOffer, StandingGrant } from "../index.ts";
import { limitOf } from "./approvals.ts";
import { type Command, type Context, EXIT, flag, isOn, word } from "./command.ts";
import { CommandError } from "./failure.ts";
import { printGrant, statusWord, totalText } from "./grant-card.ts";
import { hanging } from "./measure.ts";
import { plain } from "./plain.ts";
import { readList } from "./read-list.ts";
import { grantId } from "./resolve-id.ts";
import { moneyFrom, spanOf } from "./span-of.ts";
import { printTable } from "./table.ts";
import { ago, moment } from "./times.ts";
import { whereFlags } from "./where-flags.ts";

const PARTS = ["list", "give", "show", "revoke"];
const GIVING = ["tool", "when", "agent", "uses", "total", "amount", "for"];
const LISTING = ["all", "limit"];

function refuseFlags(context: Context, part: string, names: readonly string[]): void {
  const extra = names.find((name) => isOn(context, name));
  if (extra !== undefined)
    throw new CommandError("usage", `--${extra} does not go with "grants ${part}".`, "Leave it out.");
}

const GIVE_NEEDS = ["tool", "uses", "for", "reason"];

/** All that is missing at once: nobody wants to be told of one flag after the other. */
function checkGiving(context: Context): void {
  const missing = GIVE_NEEDS.filter((name) => (flag(context, name) ?? "").trim() === "");
  if (missing.length === 0) return;
  const list = missing.map((name) => `--${name}`).join(", ");
  throw new CommandError("usage", `grants give needs ${list}.`, "Try: holdpoint grants --help");
}

function refuseWord(context: Context, at: number): void {
  const extra = word(context, at);
  if (extra === "") return;
  throw new CommandError("usage", `"${extra}" is one word too many.`, "Try: holdpoint grants --help");
}

function neededFor(context: Context, part: string, name: string): string {
  const given = flag(context, name);
  if (given !== undefined && given.trim() !== "") return given;
  throw new CommandError("usage", `grants ${part} needs --${name}.`, "Try: holdpoint grants --help");
}

async function listed({ hp }: Context, isAll: boolean, limit: number): Promise<readonly StandingGrant[]> {
  const status = isAll ? "any" : "active";
  return (await readList(limit, (cursor) => hp.grants.list({ status, ...cursor }))).items;
}

const HEADS = ["ID", "STATUS", "TOOL", "AGENT", "USES", "TOTAL", "EXPIRES", "OWNER", "ARGUMENTS"];

function cellsOf(grant: StandingGrant): readonly string[] {
  const { id, tool, agent, used, uses, expiresAt, by, when } = grant;
  const texts = [id, statusWord(grant), tool, agent ?? "any", `${used}/${uses}`, totalText(grant)];
  return [...texts, moment(expiresAt), by, when ?? "any"].map(visible);
}

async function list(context: Context): Promise<number> {
  refuseFlags(context, "list", [...GIVING, "reason"]);
  refuseWord(context, 1);
  const { terminal } = context;
  const grants = await listed(context, isOn(context, "all"), limitOf(context));
  if (context.json) for (const grant of grants) terminal.json(plain(grant));
  else if (grants.length === 0)
    (terminal.interactive ? terminal.line : terminal.note)("Nothing is granted beforehand.");
  else if (terminal.interactive) printTable(terminal, HEADS, grants.map(cellsOf));
  else for (const grant of grants) terminal.line(cellsOf(grant).join("\t"));
  return EXIT.ok;
}

function usesIn(given: string): number {
  if (/^[1-9]\d{0,6}$/.test(given)) return Number(given);
  throw new CommandError("usage", `--uses "${given}" is not a number of uses.`, "Such as --uses 50.");
}

const DAY_MS = 86_400_000;

function lastsMs(given: string): number {
  const ms = spanOf("for", given);
  if (ms <= LONGEST_DAYS * DAY_MS) return ms;
  const what = `--for "${given}" is over ${LONGEST_DAYS} days, and no grant lasts longer.`;
  throw new CommandError("usage", what, `Give at most --for ${LONGEST_DAYS}d, and a new one after that.`);
}

function offerOf(context: Context): GrantOffer {
  const asked = (name: string) => neededFor(context, "give", name);
  const [when, agent, total, amount] = ["when", "agent", "total", "amount"].map((name) =>
    flag(context, name),
  );
  return {
    tool: asked("tool"),
    by: context.person,
    reason: asked("reason"),
    uses: usesIn(asked("uses")),
    forMs: lastsMs(asked("for")),
    ...(when === undefined ? {} : { when }),
    ...(agent === undefined ? {} : { agent }),
    ...(total === undefined ? {} : { total: moneyFrom("total", total) }),
    ...(amount === undefined ? {} : { amount }),
  };
}

async function give(context: Context): Promise<number> {
  refuseFlags(context, "give", LISTING);
  refuseWord(context, 1);
  checkGiving(context);
  const { hp, terminal, now, full } = context;
  const grant = await hp.grants.give(offerOf(context));
  if (context.json) terminal.json(plain(grant));
  else {
    terminal.line("Given. From now on this runs without asking:");
    const given = Math.max(now, grant.givenAt);
    printGrant(terminal, grant, { uses: [], now: given, full, where: whereFlags(context) });
  }
  return EXIT.ok;
}

async function show(context: Context): Promise<number> {
  refuseFlags(context, "show", [...GIVING, ...LISTING, "reason"]);
  return showGrant(context, await grantId(context, word(context, 1)));
}

export async function showGrant(context: Context, id: string): Promise<number> {
  const { hp, terminal, now, full } = context;
  const [grant, uses] = [await hp.grants.get(id), await hp.grants.uses(id)];
  if (context.json) terminal.json(plain({ grant, uses }));
  else printGrant(terminal, grant, { uses, now, full, where: whereFlags(context) });
  return EXIT.ok;
}

/** The first revocation stands; whoever comes later is told of it. */
function revokedWords({ id, tool }: StandingGrant, before: StandingGrant["revoked"], now: number): string {
  const what = `${id}, ${visible(tool)}`;
  if (before === null) return `Revoked: ${what}. Nothing more starts by it.`;
  const { by, reason, at } = before;
  return `Already revoked: ${what}, ${ago(at, now)} by ${visible(by)}: ${visible(reason)}. Nothing was written.`;
}

async function revoke(context: Context): Promise<number> {
  refuseFlags(context, "revoke", [...GIVING, ...LISTING]);
  const { hp, terminal, now, person: by } = context;
  const id = await grantId(context, word(context, 1));
  const reason = neededFor(context, "revoke", "reason");
  const { revoked: before } = await hp.grants.get(id);
  const grant = await hp.grants.revoke(id, { by, reason });
  if (context.json) terminal.json(plain(grant));
  else terminal.line(hanging(revokedWords(grant, before, now), terminal).join("\n"));
  return EXIT.ok;
}

export const grants: Command = {
  name: "grants",
  words: ["[list|give|show|revoke]", "[id]"],
  summary: "what people permitted beforehand; give, look at and revoke it",
  details: [
    "grants (or grants list) lists what can be used now; --all also what cannot any more.",
    'grants give --tool payments.refund --when "args.amount_usd <= 100" --uses 50 --total "500 USD" --amount args.amount_usd --for 7d --reason "small refunds"',
    "grants show <id> shows every use; grants revoke <id> --reason <text> ends it.",
    "In a pipe each line is tab-separated: id, status, tool, agent, uses, total, expiry, owner, condition.",
  ],
  flags: {
    tool: { value: "<name>", summary: "give: the tool" },
    when: {
      value: "<expression>",
      summary: "give: which arguments, such as args.amount <= 100; any unless set",
    },
    agent: { value: "<name>", summary: "give: which agent; any unless set" },
    uses: { value: "<n>", summary: "give: how often" },
    total: { value: "<money>", summary: 'give: what all uses may come to, such as "500 USD"; with --amount' },
    amount: { value: "<expression>", summary: "give: what one use comes to, such as args.amount" },
    for: { value: "<span>", summary: "give: how long, such as 12h or 7d; at most 90d" },
    reason: { value: "<text>", summary: "give and revoke: why; it is recorded" },
    all: { summary: "list: also what cannot be used any more" },
    limit: { value: "<n>", summary: "list: how many to show; 50 unless set" },
    full: { summary: "show: long values in full" },
  },
  async run(context) {
    const part = word(context) === "" ? "list" : word(context);
    if (!PARTS.includes(part))
      throw new CommandError(
        "usage",
        `There is no "grants ${visible(part)}"${didYouMean(part, PARTS)}.`,
        `There are: ${PARTS.join(", ")}.`,
      );
    if (part === "list") return list(context);
    if (part === "give") return give(context);
    return part === "show" ? show(context) : revoke(context);
  },
};
