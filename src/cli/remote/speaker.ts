/** Who acts at a server: whoever the credential is. Only where nobody is authenticated it is what one says. */
import type { Client } from "../../client/client.ts";

export type Speaker = {
  readonly client: Client;
  /** null where the server authenticates nobody. */
  readonly principal: string | null;
};

/** The field is left out where the credential says it. */
export function by({ principal }: Speaker, who: string): { readonly by?: string } {
  return principal === null ? { by: who } : {};
}

export const inSeconds = (ms: number): number => Math.max(1, Math.round(ms / 1_000));

/** Fields that were not given are not there. */
export function given<Fields extends object>(
  fields: Fields,
): { [Name in keyof Fields]?: NonNullable<Fields[Name]> } {
  const there = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(there) as { [Name in keyof Fields]?: NonNullable<Fields[Name]> };
}
