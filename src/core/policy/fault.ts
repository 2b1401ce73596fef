/** Something wrong with a policy's text, or worth a second look. `offset` counts characters into the expression at `path`. */
export type PolicyFault = {
  readonly path: readonly (string | number)[];
  readonly message: string;
  readonly offset?: number;
};

/** What is found on the way. Faults keep a policy from being used; warnings do not. */
export type Report = { readonly faults: PolicyFault[]; readonly warnings: PolicyFault[] };

export const noReport = (): Report => ({ faults: [], warnings: [] });
