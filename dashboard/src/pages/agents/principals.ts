/** Who acts here, by kind: with their keys, and with what they did lately. */
import type { Key, Share } from "../../api/agents.ts";

export const KINDS = ["agent", "service", "person"] as const;
export type Kind = (typeof KINDS)[number];

export type Principal = {
  readonly principal: string;
  readonly kind: Kind;
  readonly name: string;
  /** Those that work first, each part newest first. */
  readonly keys: readonly Key[];
  readonly lately: Share | null;
};

/** A bare name is an agent's. */
const asPrincipal = (name: string): string =>
  /^(agent|service|person):/.test(name) ? name : `agent:${name}`;
const kindOf = (principal: string): Kind => KINDS.find((kind) => principal.startsWith(`${kind}:`)) ?? "agent";

function byUse(one: Key, other: Key): number {
  const rank = ({ status }: Key) => (status === "active" ? 0 : 1);
  return rank(one) - rank(other) || other.issued_at.localeCompare(one.issued_at);
}

export function principalsOf(keys: readonly Key[], lately: readonly Share[]): readonly Principal[] {
  const shares = new Map(lately.map((share) => [asPrincipal(share.name), share]));
  const names = new Set([...keys.map(({ principal }) => principal), ...shares.keys()]);
  return [...names].toSorted().map((principal) => ({
    principal,
    kind: kindOf(principal),
    name: principal.replace(/^\w+:/, ""),
    keys: keys.filter((key) => key.principal === principal).toSorted(byUse),
    lately: shares.get(principal) ?? null,
  }));
}
