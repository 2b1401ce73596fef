/** Every fact about login links and sessions. */
import type { Via } from "../../kernel/principal.ts";

type Fact<Type extends string, Body> = { readonly type: Type; readonly tv: 1; readonly body: Body };

export type LoginTerms = {
  readonly person: string;
  /** SHA-256 of the link's secret. */
  readonly hash: string;
  readonly expiresAt: number;
  readonly by: string;
};

export type LoginEvent =
  | Fact<"login.offered", LoginTerms & Via>
  | Fact<"login.used", { readonly session: string }>;

export type SessionTerms = {
  readonly person: string;
  /** SHA-256 of the secret in the cookie. */
  readonly hash: string;
  readonly expiresAt: number;
  /** The login link that it came from. */
  readonly via: string;
};

export type SessionEvent =
  | Fact<"session.begun", SessionTerms>
  | Fact<"session.ended", { readonly by: string; readonly reason: string }>;
