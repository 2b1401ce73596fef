/**
 * Versions of policies in words for people: which program uses one, and until when.
 */

import type { Policies, PolicyVersionSummary } from "../../policy/contract.ts";
import type { PolicyNames } from "../../policy/versions.ts";
import { formatMoment, formatSpan } from "../shell/terminal.ts";

/** The program that uses it now, or did last. Before any has, the one that put it in force. */
export function programText({ programs, by }: Pick<PolicyVersionSummary, "programs" | "by">): string {
  const running = programs.filter(({ runs }) => runs);
  const [one] = running.length > 0 ? running : programs;
  if (one === undefined) return by;
  const more = running.length < 2 ? "" : ` and ${running.length - 1} more`;
  return `${one.by} (${one.process})${more}`;
}

export function untilText({ standing, until, at }: PolicyVersionSummary, now: number): string {
  if (standing === "used") return `now, for ${formatSpan(now - at)}`;
  if (until !== null) return formatMoment(until);
  return standing === "ended" ? "its program died" : "no program yet";
}

const SHORT = 12;

type Asking = { readonly policies: Pick<Policies, "versions"> };

export async function fetchPolicyNames({ policies }: Asking): Promise<PolicyNames> {
  return new Map((await policies.versions()).map(({ digest, name }) => [digest, name]));
}

export const shortDigest = (digest: string): string => digest.slice(0, SHORT);
