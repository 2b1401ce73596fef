/**
 * Who acts: `person:<name>`, `agent:<name>` or `service:<name>`. Only people vote, resolve and stop.
 * `Via` is the channel through which the actor authenticated, as far as the caller knows it (`cli`, `api_key`, …):
 * events carry it only when it is known, states never keep it.
 */

/** Who acts: `person:<name>`, `agent:<name>` or `service:<name>`. Only people vote, resolve and stop. */
const FORM = /^(person|agent|service):[^\s/](?:[^\n\r\t]{0,198}[^\s])?$/u;

export function isPrincipal(value: unknown): value is string {
  return typeof value === "string" && value.isWellFormed() && FORM.test(value);
}

export function isPerson(principal: string): boolean {
  return principal.startsWith("person:");
}

/** How whoever did something had shown who they are, as far as whoever let them in says so. */
export type Via = { readonly via?: string };

/** An entry of what nobody said it of is as it always was. */
export const channelField = ({ via }: Via): Via => (via === undefined ? {} : { via });

/** States do not keep it. */
export function withoutChannel<Body extends Via>({ via: _, ...rest }: Body): Omit<Body, "via"> {
  return rest;
}
