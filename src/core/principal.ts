/** Who acts: `person:<name>`, `agent:<name>` or `service:<name>`. Only people vote, resolve and stop. */
const FORM = /^(person|agent|service):[^\s/](?:[^\n\r\t]{0,198}[^\s])?$/u;

export function isPrincipal(value: unknown): value is string {
  return typeof value === "string" && value.isWellFormed() && FORM.test(value);
}

export function isPerson(principal: string): boolean {
  return principal.startsWith("person:");
}
