/** Commands about the journal: reading, export, seal, verification, and whether the store was restored. */

import { readFileSync } from "node:fs";
import { type PublicJwk, readPublicJwk } from "../journal/jws.ts";
import type { Report } from "../journal/verify.ts";
import { canonicalJson } from "../kernel/canonical-json.ts";
import { isJsonObject, type Json, parseJson } from "../kernel/json.ts";
import { visible, visiblePreview } from "../kernel/text.ts";
import type { JournalRecord } from "../runtime/contract.ts";
import type { Acknowledged, Restored } from "../runtime/restore.ts";
import {
  type Command,
  CommandError,
  type Context,
  EXIT,
  FULL,
  fileError,
  flag,
  isOn,
  word,
} from "./shell/command.ts";
import { writeWholeFile } from "./shell/files.ts";
import { resolveAnyId } from "./shell/resolve-id.ts";
import { sectionsOn } from "./shell/sections.ts";
import { cut, fold, formatMoment, jsonText, missing } from "./shell/terminal.ts";

const MOST_BODY = 300;
const INDENT = "    ";

function bodyText({ body }: JournalRecord, full: boolean): string {
  if (body === null) return "(erased; the chain still holds)";
  const { text, left } = cut(canonicalJson(body), full ? Number.POSITIVE_INFINITY : MOST_BODY);
  return visiblePreview(text) + (left === 0 ? "" : missing(left, "character"));
}

function printRecord({ terminal, full }: Context, record: JournalRecord): void {
  const { at, stream, seq, type } = record;
  const [time, name, kind] = [formatMoment(at), visible(stream), visible(type)];
  const body = bodyText(record, full);
  if (terminal.interactive) {
    terminal.line(`${terminal.paint("dim", time)}  ${name} ${seq}  ${terminal.paint("bold", kind)}`);
    for (const line of fold(body, terminal.columns - INDENT.length))
      terminal.line(INDENT + terminal.strange(line));
  } else terminal.line([time, name, seq, kind, body].join("\t"));
}

export const journalCommand: Command = {
  name: "journal",
  words: ["<id>"],
  summary: "Print every entry about one id, in the order of commits",
  details: [
    "Of a workflow: its own entries and those of its actions, approvals and children.",
    "In a pipe each line is tab-separated: time, stream, number in the stream, type, body.",
  ],
  examples: ["holdpoint journal wf_01K9ZQ"],
  flags: { full: FULL },
  async run(context) {
    for (const record of await context.hp.journal.read(await resolveAnyId(context, word(context)))) {
      if (context.json) context.terminal.json(record);
      else printRecord(context, record);
    }
    return EXIT.ok;
  },
};

const CHUNK = 64 * 1024;
const TOLD_EVERY = 10_000;

/** Lines in chunks, with progress if it takes long. */
async function* chunksOf({ hp, terminal }: Context, count: { lines: number }): AsyncGenerator<string> {
  let chunk = "";
  for await (const line of hp.journal.export()) {
    chunk += `${line}\n`;
    if (++count.lines % TOLD_EVERY === 0) terminal.progress(`${count.lines} lines …`);
    if (chunk.length < CHUNK) continue;
    yield chunk;
    chunk = "";
  }
  yield chunk;
}

async function toOutput(context: Context): Promise<number> {
  const { terminal } = context;
  if (terminal.interactive)
    throw new CommandError(
      "usage",
      "An export is for a file or a pipe: its bytes are exact, and text from agents would reach the terminal.",
      "Write: holdpoint export --out journal.ndjson",
    );
  for await (const chunk of chunksOf(context, { lines: 0 })) {
    await terminal.write(chunk);
    if (terminal.closed.aborted) break;
  }
  return EXIT.ok;
}

export const exportCommand: Command = {
  name: "export",
  words: [],
  summary: "Export the whole journal as NDJSON",
  details: ["Check it anywhere, without Holdpoint: node verifier/verify.mjs journal.ndjson"],
  examples: ["holdpoint export --out journal.ndjson"],
  onlyHere: "the whole journal is read where it is",
  flags: { out: { value: "<file>", summary: "write it there; it appears when it is whole" } },
  async run(context) {
    const out = flag(context, "out");
    if (out === undefined) return toOutput(context);
    const count = { lines: 0 };
    await writeWholeFile(out, chunksOf(context, count));
    context.terminal.progress(null);
    if (context.json) context.terminal.json({ file: out, lines: count.lines });
    else context.terminal.line(`Exported ${count.lines} lines to ${visible(out)}.`);
    return EXIT.ok;
  },
};

async function* once(text: string): AsyncGenerator<string> {
  yield text;
}

export const sealCommand: Command = {
  name: "seal",
  words: [],
  summary: "Seal the journal now and print the seal",
  details: [
    "A seal fixes everything before it. Keep it out of reach of those who can write the store. Then it shows whether the journal was cut or rewritten: holdpoint verify --seal <file>",
  ],
  examples: ["holdpoint seal --out seal.json"],
  onlyHere: "the key that signs is where the store is",
  flags: { out: { value: "<file>", summary: "write it there instead of printing it" } },
  async run(context) {
    const { hp, terminal } = context;
    const saved = await hp.seals.save();
    if (saved === undefined)
      throw new CommandError(
        "nothing_to_seal",
        "The journal has no entries yet.",
        "Seal it after something happened.",
      );
    const out = flag(context, "out");
    if (out === undefined) {
      terminal.json(saved);
      return EXIT.ok;
    }
    await writeWholeFile(out, once(`${jsonText(saved)}\n`));
    if (context.json) terminal.json({ file: out });
    else terminal.line(`Sealed; the seal is in ${visible(out)}. Keep it away from this machine.`);
    return EXIT.ok;
  },
};

function readJson(file: string): Json {
  try {
    return parseJson(readFileSync(file, "utf8"));
  } catch (error) {
    throw fileError(file, error);
  }
}

function keyFrom(file: string): PublicJwk {
  const value = readJson(file);
  const key = readPublicJwk(value) ?? (isJsonObject(value) ? readPublicJwk(value["key"]) : undefined);
  if (key !== undefined) return key;
  throw new CommandError(
    "usage",
    `The file ${file} holds no Ed25519 public key.`,
    "Give a JWK, or a saved seal.",
  );
}

function sealFrom(file: string): { readonly jws: string; readonly key: PublicJwk } {
  const value = readJson(file);
  const jws = isJsonObject(value) ? value["jws"] : undefined;
  if (typeof jws === "string") return { jws, key: keyFrom(file) };
  throw new CommandError(
    "usage",
    `The file ${file} is not a saved seal.`,
    "`holdpoint seal --out <file>` makes one.",
  );
}

function printReport({ terminal }: Context, report: Report): void {
  const { counts, lastSeal, findings, total } = report;
  const sections = sectionsOn(terminal, true);
  const seal =
    lastSeal === undefined ? "none yet" : `${counts.seals}, the last at ${formatMoment(lastSeal.at)}`;
  sections.field("entries", `${counts.entries} in ${counts.streams} streams`);
  sections.field("seals", seal);
  sections.field("sealed", `${counts.sealed} entries; ${counts.unsealed} are not sealed yet`);
  if (counts.erased > 0) sections.field("erased", `${counts.erased} bodies`);
  for (const { kind, what, stream, seq, seal: number } of findings) {
    const place = [stream, seq && `entry ${seq}`, number && `seal ${number}`].filter(Boolean).join(" ");
    terminal.line(`${terminal.paint("red", kind)} ${terminal.strange(visible(`${place} ${what}`))}`);
  }
  if (total > findings.length) terminal.line(`… ${total - findings.length} more findings`);
  if (findings.some(({ kind }) => kind === "unknown_key"))
    terminal.line("The key may simply not be here: give it with --key or --seal, or set HOLDPOINT_KEY_FILE.");
  const verdict = report.ok
    ? terminal.paint("green", "Verified: nothing was found.")
    : `Not verified: ${total} findings.`;
  terminal.line(verdict);
}

export const verifyCommand: Command = {
  name: "verify",
  words: [],
  summary: "Verify every entry, chain and seal of the store",
  details: [
    "Chains alone do not show a journal that was rewritten: keep seals elsewhere (`holdpoint seal --out`) and give one with --seal.",
  ],
  examples: ["holdpoint verify --seal seal.json --require-sealed"],
  flags: {
    seal: { value: "<file>", summary: "a saved seal, kept where the store's owner cannot write" },
    key: {
      value: "<file>",
      summary: "a public key (JWK) to trust instead of this machine's",
      repeatable: true,
    },
    "require-sealed": { summary: "entries that are not sealed yet are findings" },
  },
  async run(context) {
    const { hp, terminal } = context;
    const seal = flag(context, "seal");
    const keys = context.values.get("key")?.map(keyFrom);
    const report = await hp.journal.verify({
      requireSealed: isOn(context, "require-sealed"),
      progress: (entries) => terminal.progress(`${entries} entries …`),
      ...(seal === undefined ? {} : { savedSeal: sealFrom(seal) }),
      ...(keys === undefined ? {} : { keys }),
    });
    terminal.progress(null);
    if (context.json) terminal.json(report);
    else printReport(context, report);
    return report.ok ? EXIT.ok : EXIT.refused;
  },
};

/** On standard error, after the command's output: a restored store can still be read, but nothing executes in it. */
export async function noteRestored({ hp, terminal }: Context, command: Pick<Command, "name">): Promise<void> {
  if (command.name === "restored") return;
  // The command itself reported an unreadable store, and `welcome` a missing one.
  const { why } = await hp.restored().catch(() => ({ why: null }));
  if (why !== null)
    terminal.note(
      `Note: this store was restored or copied: ${visible(why)}. Nothing starts until a person has looked: npx holdpoint restored`,
    );
}

const sealText = (one: { readonly n: number; readonly at: number } | null): string =>
  one === null ? "none" : `${one.n}, at ${formatMoment(one.at)}`;

function printRestored({ terminal, folder }: Context, found: Restored): void {
  const sections = sectionsOn(terminal, true);
  const { why, open, lastEntryAt } = found;
  sections.field("store", visible(folder));
  sections.field("incarnation", visible(found.incarnation));
  sections.field("last entry", lastEntryAt === null ? "not known" : formatMoment(lastEntryAt));
  sections.field("last seal", sealText(found.lastSeal));
  sections.field("seen here", `${sealText(found.witness)} (the last seal that this machine saw of it)`);
  sections.field(
    "open",
    `${open.running} running, ${open.approved} approved and not used, ${open.open} not started, ${open.waiting} waiting for people`,
  );
  if (why === null) {
    terminal.line("Nothing tells that this store was restored or copied.");
    return;
  }
  terminal.line(terminal.paint("red", `This store was restored or copied: ${visible(why)}.`));
  for (const text of RESTORE_ADVICE) for (const line of fold(text, terminal.columns)) terminal.line(line);
}

const RESTORE_ADVICE = [
  "Nothing starts in it. What was done after its last entry is not in it, and the request ids of that time are unknown: a program that uses one again does it again. Compare with the outside world from that time on. Then:",
  '  npx holdpoint restored --acknowledge --reason "…"',
  "puts what was running in doubt, and refuses what was approved or about to start, since it may have been done. Workflows end, unless they wait at a checkpoint, and standing grants are revoked. Questions without an answer stay: look before you approve one.",
];

function printDone({ terminal }: Context, done: Acknowledged): void {
  terminal.line("Acknowledged: programs may execute in this store again.");
  const { inDoubt, refused, waiting, workflows, epochs, grants } = done;
  terminal.line(
    `  ${inDoubt} put in doubt, ${refused} refused, ${waiting} still wait for people, ${workflows} workflows and ${epochs} epochs ended, ${grants} standing grants revoked`,
  );
  if (inDoubt > 0) terminal.line("  npx holdpoint in-doubt lists what needs your word.");
}

async function acknowledge(context: Context): Promise<number> {
  const reason = flag(context, "reason");
  if (reason === undefined)
    throw new CommandError("usage", "--acknowledge needs --reason <text>.", "Say why; it is recorded.");
  const { hp, terminal, person: by } = context;
  const done = await hp.acknowledgeRestore({ by, reason, anyway: isOn(context, "anyway") });
  if (context.json) terminal.json(done);
  else printDone(context, done);
  return EXIT.ok;
}

export const restoredCommand: Command = {
  name: "restored",
  words: [],
  summary: "Report whether the store was restored; acknowledge it",
  details: [
    "A store that is not the one its history was last written in lets nothing start until a person has acknowledged that. Without --acknowledge nothing is changed.",
  ],
  examples: ['holdpoint restored --acknowledge --reason "backup of Monday"'],
  onlyHere: "only a person at the store can know",
  flags: {
    acknowledge: { summary: "programs may execute again; what was open is in doubt or refused" },
    reason: { value: "<text>", summary: "why, with --acknowledge; it is recorded" },
    anyway: { summary: "also when nothing tells that it was restored" },
  },
  async run(context) {
    if (isOn(context, "acknowledge")) return acknowledge(context);
    const lost = ["reason", "anyway"].find((name) => isOn(context, name));
    if (lost !== undefined)
      throw new CommandError("usage", `--${lost} goes with --acknowledge.`, "Add it, or leave both out.");
    const found = await context.hp.restored();
    if (context.json) context.terminal.json(found);
    else printRestored(context, found);
    return found.why === null ? EXIT.ok : EXIT.refused;
  },
};
