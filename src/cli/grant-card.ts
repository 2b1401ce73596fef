/** A standing grant as people read it: what it permits, how much of it is left, and every use. */
import { moneyText } from "../core/money.ts";
import type { GrantUse, StandingGrant } from "../index.ts";
import { sectionsOn } from "./sections.ts";
import type { Style, Terminal } from "./terminal.ts";
import { ago } from "./times.ts";

const STYLES: { readonly [status in StandingGrant["status"]]: Style } = {
  active: "green",
  used_up: "yellow",
  expired: "yellow",
  revoked: "red",
};

export const statusWord = ({ status }: Pick<StandingGrant, "status">): string => status.replace("_", " ");

export function totalText({ limit }: StandingGrant): string {
  return limit === null ? "no limit" : `${moneyText(limit.spent)} of ${moneyText(limit.total)}`;
}

function useText({ action, amount, returned }: GrantUse): string {
  const money = amount === null ? "" : `, ${moneyText(amount)}`;
  const back = returned ? " (given back: it did nothing)" : "";
  return `${action}${money}${back}`;
}

type Surroundings = {
  readonly uses: readonly GrantUse[];
  readonly now: number;
  readonly full: boolean;
  /** Flags that name the store, for commands on offer. */
  readonly where: string;
};

export function printGrant(terminal: Terminal, grant: StandingGrant, around: Surroundings): void {
  const { uses, now, full, where } = around;
  const sections = sectionsOn(terminal, full);
  const title = terminal.paint("bold", `Grant ${grant.id}`);
  terminal.line(`${title}  ${terminal.paint(STYLES[grant.status], statusWord(grant))}`);
  sections.heading("What it permits without asking");
  sections.field("tool", `${grant.tool}, as long as its input schema is ${grant.schema.slice(0, 12)}…`);
  sections.field("arguments", grant.when ?? "any");
  sections.field("agent", grant.agent ?? "any");
  sections.field("uses", `${grant.used} of ${grant.uses}`);
  sections.field("total", totalText(grant));
  if (grant.limit !== null) sections.field("one use", grant.limit.amount);
  sections.heading("Who gave it");
  sections.field("owner", `${grant.by}, whose vote it stands for`);
  sections.field("reason", grant.reason);
  sections.field("given", ago(grant.givenAt, now));
  sections.field("expires", ago(grant.expiresAt, now));
  if (grant.revoked !== null) {
    const { by, reason, at } = grant.revoked;
    sections.field("revoked", `${ago(at, now)} by ${by}: ${reason}`);
  }
  sections.heading("Uses");
  if (uses.length === 0) sections.field("none", "yet");
  for (const use of uses) sections.field("used", `${ago(use.at, now)}: ${useText(use)}`);
  if (grant.status !== "active") return;
  sections.heading("Next");
  terminal.line(`  npx holdpoint grants revoke ${grant.id} --reason "…"${where}`);
}
