/**
 * Principals: `person:<name>`, `agent:<name>` or `service:<name>`. Only people vote, resolve and stop.
 * `Via` is the channel through which the actor authenticated, as far as the caller knows it (`cli`, `api_key`, …).
 * Events carry it only if it is known, and states never keep it.
 */

/** `person:<name>`, `agent:<name>` or `service:<name>`. */
const FORM = /^(person|agent|service):[^\s/](?:[^\n\r\t]{0,198}[^\s])?$/u;

export function isPrincipal(value: unknown): value is string {
  return typeof value === "string" && value.isWellFormed() && FORM.test(value);
}

export function isPerson(principal: string): boolean {
  return principal.startsWith("person:");
}

/** Channel through which the actor authenticated (`cli`, `api_key`, …), if known. */
export type Via = { readonly via?: string };

/** No field at all if the channel is unknown, so that such entries keep their original form. */
export const channelField = ({ via }: Via): Via => (via === undefined ? {} : { via });

/** States do not keep it. */
export function withoutChannel<Body extends Via>({ via: _, ...rest }: Body): Omit<Body, "via"> {
  return rest;
}
