/** Input about people and keys from programs and users, checked before any lookup. */

import { HoldpointError } from "../kernel/errors.ts";
import { checkFields, rejectInput } from "../kernel/fields.ts";
import { isPerson, isPrincipal } from "../kernel/principal.ts";
import { displayValue, visible } from "../kernel/text.ts";
import { isRole, isScope, type Scope } from "./rules/scopes.ts";
import type { Member, Role } from "./stream.ts";

/** A person to add. `name` defaults to the name in `person`. */
export type NewPerson = Partial<Member> & { readonly person: string; readonly by: string };
/** A change to a person. Omitted fields stay as they are. */
export type PersonChange = Partial<Member> & { readonly by: string };

/** A key to be issued. */
export type KeyOffer = {
  /** Principal that acts when the key is used: `agent:mailer`, `service:billing` or `person:ann`. */
  readonly principal: string;
  /** Label that distinguishes it from other keys of the same principal. */
  readonly name: string;
  /** Roles of an agent or a service. A person's roles come from the roster. */
  readonly roles?: readonly Role[];
  /** Limits the key to these of its roles' scopes. */
  readonly scopes?: readonly Scope[];
  /** Lifetime in milliseconds. Default: until it is revoked. */
  readonly forMs?: number;
  readonly by: string;
};

export type KeyRotation = {
  readonly by: string;
  /** How long the old key still works, in milliseconds. Default: one hour. */
  readonly overlapMs?: number;
  /** Lifetime of the new key; null: until it is revoked. Default: the lifetime of the old key. */
  readonly forMs?: number | null;
};

export type KeyPage = {
  /** Only the keys of this principal. */
  readonly principal?: string;
  readonly limit?: number;
  readonly after?: string;
};

const YEARS_10_MS = 3_653 * 86_400_000;
const WEEK_MS = 7 * 86_400_000;
const GROUP = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;
const MAIL = /^[^\s@<>,;:"()[\]\\]{1,64}@[A-Za-z0-9.-]{1,189}$/;
const MOST_NAME = 100;
const MOST_GROUPS = 100;

export function checkBy(by: unknown): void {
  if (!isPrincipal(by) || !isPerson(by))
    rejectInput(`"${displayValue(by)}" is not a person: write person:<name>.`);
}

export function checkPerson(person: unknown): string {
  if (isPrincipal(person) && isPerson(person)) return person;
  return rejectInput(`"${displayValue(person)}" is not a person: write person:<name>.`);
}

/** A name has no invisible characters: it must not hide anything or imitate another name. */
const isPlain = (text: string): boolean => visible(text) === text;

function checkName(what: string, name: unknown): void {
  const isText = typeof name === "string" && name.trim() !== "" && name.length <= MOST_NAME;
  if (!isText || !name.isWellFormed() || !isPlain(name))
    rejectInput(
      `${what} is a text of at most ${MOST_NAME} characters in one line, all of which can be seen.`,
    );
}

function checkRoles(roles: unknown): void {
  if (!Array.isArray(roles)) rejectInput("Roles are a list.");
  const odd = (roles as readonly unknown[]).find((role) => !isRole(role));
  if (odd !== undefined)
    rejectInput(
      `"${displayValue(odd)}" is no role: there are admin, poster, executor, supervisor, verifier and auditor.`,
    );
}

function checkGroups(groups: unknown): void {
  const isList = Array.isArray(groups) && groups.length <= MOST_GROUPS;
  if (!isList || !groups.every((one) => typeof one === "string" && GROUP.test(one)))
    rejectInput(
      `Groups are a list of at most ${MOST_GROUPS} names of letters, digits, hyphens, dots and underscores.`,
    );
}

function checkMember({ name, mail, roles, groups }: Partial<Member>): void {
  if (name !== undefined) checkName("A person's name", name);
  if (mail !== undefined && mail !== null && !(typeof mail === "string" && MAIL.test(mail)))
    rejectInput(`"${displayValue(mail)}" is not a mail address.`);
  if (roles !== undefined) checkRoles(roles);
  if (groups !== undefined) checkGroups(groups);
}

const MEMBER = ["name", "mail", "roles", "groups", "by"];

export function checkNewPerson(given: NewPerson): NewPerson {
  const { by, person, ...member } = checkFields("A person", given, ["person", ...MEMBER]);
  if (!isPlain(checkPerson(person))) rejectInput(`A person's name has nothing in it that cannot be seen.`);
  checkBy(by);
  checkMember(member);
  return { ...given };
}

export function checkPersonChange(given: PersonChange): PersonChange {
  const { by, ...member } = checkFields("A change", given, MEMBER);
  checkBy(by);
  checkMember(member);
  return { ...given };
}

function checkSpan(what: string, ms: unknown, { from, to }: { from: number; to: number }): void {
  if (!(Number.isSafeInteger(ms) && Number(ms) >= from && Number(ms) <= to))
    rejectInput(`${what} is a whole number of milliseconds from ${from} to ${to}.`);
}

const LASTING = { from: 1, to: YEARS_10_MS };

export function checkKeyOffer(given: KeyOffer): KeyOffer {
  const fields = ["principal", "name", "roles", "scopes", "forMs", "by"];
  const { principal, name, roles, scopes, forMs, by } = checkFields("A key", given, fields);
  if (!isPrincipal(principal) || !isPlain(principal))
    rejectInput(
      `"${displayValue(principal)}" acts for nobody: write agent:<name>, service:<name> or person:<name>.`,
    );
  checkName("A key's name", name);
  if (roles !== undefined) checkRoles(roles);
  if (scopes !== undefined) checkScopes(scopes);
  if (forMs !== undefined) checkSpan("A key's time", forMs, LASTING);
  checkBy(by);
  return { ...given };
}

function checkScopes(scopes: unknown): void {
  if (!Array.isArray(scopes) || scopes.length === 0) rejectInput("Scopes are a list that is not empty.");
  const odd = (scopes as readonly unknown[]).find((scope) => !isScope(scope));
  if (odd !== undefined) rejectInput(`"${displayValue(odd)}" is no scope.`);
}

export function checkRotation(given: KeyRotation): KeyRotation {
  const { by, overlapMs, forMs } = checkFields("A rotation", given, ["by", "overlapMs", "forMs"]);
  checkBy(by);
  if (overlapMs !== undefined) checkSpan("An overlap", overlapMs, { from: 0, to: WEEK_MS });
  if (forMs !== undefined && forMs !== null) checkSpan("A key's time", forMs, LASTING);
  return { ...given };
}

export function checkKeyPage(page: KeyPage): KeyPage {
  const { principal, limit, after } = checkFields("A page of keys", page, ["principal", "limit", "after"]);
  if (principal !== undefined && !isPrincipal(principal))
    rejectInput(`"${displayValue(principal)}" is not a principal.`);
  if (limit !== undefined && !(Number.isInteger(limit) && limit >= 1 && limit <= 1_000))
    rejectInput("A limit is a whole number from 1 to 1000.");
  if (after !== undefined && typeof after !== "string") rejectInput(`"after" is a text.`);
  return page;
}

export function checkLinkTime(forMs: unknown): void {
  if (forMs !== undefined) checkSpan("A login link's time", forMs, { from: 1, to: 86_400_000 });
}

export const STATEMENT = "What is said";
export const STATEMENT_FIELDS = ["by", "reason"];

export type Said = { readonly by: string; readonly reason: string };

export function checkSaid({ by, reason }: Said): void {
  if (!isPrincipal(by) || !isPerson(by))
    throw new HoldpointError("invalid_input", `"${displayValue(by)}" is not a person: write person:<name>.`);
  const isText = typeof reason === "string" && reason.trim() !== "" && reason.isWellFormed();
  if (!isText || reason.length > 10_000)
    throw new HoldpointError("invalid_input", "A reason of at most 10000 characters is needed.");
}
