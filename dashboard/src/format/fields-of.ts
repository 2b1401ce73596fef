/** Fields of what the wire leaves open: none where it is no object. */
export type Fields = { readonly [name: string]: unknown };

export const fieldsOf = (value: unknown): Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
