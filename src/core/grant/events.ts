/** Every fact that the stream of a standing grant can hold. */
import type { MoneyJson } from "../money.ts";
import type { Via } from "../via.ts";

/** The most that all uses may come to together, and the expression that says what one use comes to, in units. */
export type GrantLimit = MoneyJson & { readonly amount: string };

/** What a person permits before it is asked for. */
export type GrantTerms = {
  readonly tool: string;
  /** The tool's input schema when it was given: another schema is another tool. */
  readonly schema: string;
  /** null: whichever agent asks. */
  readonly agent: string | null;
  /** An expression over `args` that has to be true; null: any arguments. */
  readonly when: string | null;
  readonly uses: number;
  readonly limit: GrantLimit | null;
  readonly expiresAt: number;
  /** Its owner: the person for whose vote it stands. */
  readonly by: string;
  readonly reason: string;
};

type Fact<Type extends string, Body> = { readonly type: Type; readonly tv: 1; readonly body: Body };

/** One use: of this effect, for this amount where the grant has a limit. */
export type GrantUse = {
  readonly action: string;
  readonly effect: string;
  readonly amount: MoneyJson | null;
};

export type GrantEvent =
  | Fact<"grant.given", GrantTerms & Via>
  | Fact<"grant.used", GrantUse>
  | Fact<"grant.returned", GrantUse>
  | Fact<"grant.revoked", { readonly by: string; readonly reason: string } & Via>;
