/** Every fact that the stream of an API key can hold. Its use is not one of them. */

import type { Via } from "../../kernel/principal.ts";
import type { Role } from "../roster.ts";
import type { Scope } from "../scopes.ts";

export type KeyTerms = {
  /** Who acts when it is used. */
  readonly principal: string;
  readonly name: string;
  /** Of an agent or a service. A person's roles stand in the roster. */
  readonly roles: readonly Role[];
  /** Only these of what the roles bring; null: all. */
  readonly scopes: readonly Scope[] | null;
  /** SHA-256 of the secret. */
  readonly hash: string;
  readonly expiresAt: number | null;
  readonly by: string;
  /** The key whose place it takes. */
  readonly replaces: string | null;
};

type Fact<Type extends string, Body> = { readonly type: Type; readonly tv: 1; readonly body: Body };

export type KeyEvent =
  | Fact<"key.issued", KeyTerms & Via>
  /** Another took its place: its time ends earlier. */
  | Fact<
      "key.retired",
      Via & { readonly expiresAt: number; readonly by: string; readonly replacedBy: string }
    >
  | Fact<"key.revoked", Via & { readonly by: string; readonly reason: string }>;
