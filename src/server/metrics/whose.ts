/** Whose figures: those of one tenant, or of all that are open together. */
export type Whose = { readonly tenant: string } | "all";
