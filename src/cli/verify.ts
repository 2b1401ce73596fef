import { readFileSync } from "node:fs";
import type { Report } from "../index.ts";
import { type PublicJwk, readPublicJwk } from "../journal/jws.ts";
import { isJsonObject, type Json, parseJson } from "../kernel/json.ts";
import { visible } from "../kernel/text.ts";
import { type Command, type Context, EXIT, flag, isOn } from "./command.ts";
import { CommandError, fileError } from "./failure.ts";
import { sectionsOn } from "./sections.ts";
import { moment } from "./times.ts";

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

function print({ terminal }: Context, report: Report): void {
  const { counts, lastSeal, findings, total } = report;
  const sections = sectionsOn(terminal, true);
  const seal = lastSeal === undefined ? "none yet" : `${counts.seals}, the last at ${moment(lastSeal.at)}`;
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

export const verify: Command = {
  name: "verify",
  words: [],
  summary: "check every entry, chain and seal of the store",
  details: [
    "Chains alone do not show a journal that was written anew: keep seals elsewhere (`holdpoint seal --out`) and give one with --seal.",
  ],
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
    else print(context, report);
    return report.ok ? EXIT.ok : EXIT.refused;
  },
};
