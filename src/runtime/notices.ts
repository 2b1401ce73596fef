/** Notices to a program about its calls, and their text on standard error, the default for `notify`. */
import { errorText, visible } from "../kernel/text.ts";

/** An event that a program may show to people. */
export type Notice =
  | {
      readonly kind: "waiting";
      readonly action: string;
      readonly approval: string;
      readonly tool: string;
      readonly decideBy: number | null;
    }
  | {
      readonly kind: "reminder";
      readonly action: string;
      readonly approval: string;
      readonly tool: string;
      readonly why: "half_time" | "last_call" | "interval";
      readonly decideBy: number | null;
    }
  | {
      readonly kind: "in_doubt";
      readonly action: string;
      readonly effect: string;
      readonly tool: string;
      readonly reason: string;
    }
  | {
      readonly kind: "definition_changed";
      readonly workflow: string;
      readonly name: string;
      readonly difference: string;
    }
  | {
      readonly kind: "alert";
      readonly alert: string;
      readonly monitor: string;
      readonly rule: string;
      readonly severity: "info" | "warning" | "critical";
      readonly subject: string;
      readonly workflow: string | null;
      readonly says: string;
      /** The approval at the checkpoint that the alert raised. */
      readonly approval: string | null;
    }
  | {
      readonly kind: "alert_cleared";
      readonly alert: string;
      readonly monitor: string;
      readonly rule: string;
      readonly subject: string;
    }
  | {
      readonly kind: "policy_adopted";
      readonly policy: string;
      readonly digest: string;
      /** Digest of the previous version; null for the first. */
      readonly before: string | null;
      readonly source: string;
      /** Lint warnings about the document. */
      readonly warnings: readonly string[];
    }
  | { readonly kind: "policy_refused"; readonly source: string; readonly faults: readonly string[] }
  | { readonly kind: "no_request_id"; readonly tool: string }
  | { readonly kind: "outcome_unrecorded"; readonly effect: string; readonly error: unknown }
  | { readonly kind: "maintenance_failed"; readonly error: unknown };

const errorMessage = (error: unknown): string => visible(errorText(error));

const REMINDERS = { half_time: "half time", last_call: "last call", interval: "reminder" } as const;

export function noticeText(notice: Notice): string {
  switch (notice.kind) {
    case "waiting": {
      const until = notice.decideBy === null ? "" : ` until ${new Date(notice.decideBy).toISOString()}`;
      return `${notice.tool} waits for a person${until}.\n  npx holdpoint approve ${notice.approval}\n  npx holdpoint reject ${notice.approval} --reason "…"`;
    }
    case "reminder": {
      const until = notice.decideBy === null ? "" : ` until ${new Date(notice.decideBy).toISOString()}`;
      return `${REMINDERS[notice.why]}: ${notice.tool} still waits for a person${until}.\n  npx holdpoint show ${notice.approval}`;
    }
    case "in_doubt":
      return `${notice.tool} is in doubt: ${visible(notice.reason)}.\n  npx holdpoint resolve ${notice.effect} applied|not_applied --reason "…"`;
    case "definition_changed":
      return `the workflow ${notice.workflow} was left as it is: its definition "${notice.name}" changed: ${visible(notice.difference)}.\n  Run the definition that it was started with, or give the change a ctx.version().`;
    case "alert":
      return `${notice.severity}: ${visible(notice.monitor)}, ${visible(notice.rule)}: ${visible(notice.subject)}: ${visible(notice.says)}.\n  npx holdpoint alerts ack ${notice.alert}`;
    case "alert_cleared":
      return `over: ${visible(notice.monitor)}, ${visible(notice.rule)}: ${visible(notice.subject)}.`;
    case "policy_adopted": {
      const warnings = notice.warnings.map((warning) => `\n  ${visible(warning)}`).join("");
      return `the policy "${notice.policy}" of ${notice.source} is in force, version ${notice.digest.slice(0, 12)}.${warnings}`;
    }
    case "policy_refused": {
      const faults = notice.faults.map((fault) => `\n  ${visible(fault)}`).join("");
      return `${notice.source} changed and cannot be used; the policy in force stays:${faults}`;
    }
    case "no_request_id":
      return `${notice.tool} was called without a request id: calling it again will do it again.`;
    case "outcome_unrecorded":
      return `the outcome of ${notice.effect} could not be written yet, trying again: ${errorMessage(notice.error)}`;
    case "maintenance_failed":
      return `upkeep failed and will be tried again: ${errorMessage(notice.error)}`;
  }
}

const ASKS_FOR_A_COMMAND: readonly Notice["kind"][] = ["waiting", "reminder", "in_doubt"];

/** `hint`: what the reader needs to run the commands shown. */
export function noticePrinter(hint: string | null): (notice: Notice) => void {
  return (notice) => {
    const more = hint !== null && ASKS_FOR_A_COMMAND.includes(notice.kind) ? `\n  ${hint}` : "";
    process.stderr.write(`holdpoint: ${noticeText(notice)}${more}\n`);
  };
}
