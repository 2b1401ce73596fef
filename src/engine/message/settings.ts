/** What the sending of messages is told: options first, then the environment. */
import { shown } from "../../core/error-text.ts";
import { checkFields, wrong } from "../check-call.ts";
import type { Environment } from "../settings.ts";
import { isMailAddress } from "./mail-address.ts";
import type { Resolve } from "./safe-request.ts";

export type DeliveryOptions = {
  /** `smtp://user:password@host:587` or `smtps://…`; without it mail waits. `HOLDPOINT_SMTP_URL` unless set. */
  readonly smtpUrl?: string;
  /** Who mails are from. `HOLDPOINT_MAIL_FROM` unless set. */
  readonly mailFrom?: string;
  /** Where people's pages are, for links: `https://holdpoint.example`. `HOLDPOINT_PUBLIC_URL` unless set. */
  readonly publicUrl?: string;
  /** Webhooks may go to this machine and the networks around it, too. `HOLDPOINT_ALLOW_PRIVATE=1` unless set. */
  readonly allowPrivate?: boolean;
  /** How long one attempt may take; 15,000 unless set. */
  readonly timeoutMs?: number;
};

export type DeliverySettings = {
  readonly mail: { readonly smtpUrl: string; readonly from: string } | null;
  readonly publicUrl: string | null;
  readonly allowPrivate: boolean;
  readonly timeoutMs: number;
  readonly resolve?: Resolve;
};

const FIELDS = ["smtpUrl", "mailFrom", "publicUrl", "allowPrivate", "timeoutMs"];
const TIMEOUT_MS = 15_000;
const LEAST_TIMEOUT_MS = 100;
const MOST_TIMEOUT_MS = 60_000;

/** The address may hold a password: what is wrong with it is said without it. */
function checkSmtp(text: string): string {
  const protocol = URL.canParse(text) ? new URL(text).protocol : "";
  if (protocol === "smtp:" || protocol === "smtps:") return text;
  return wrong("The SMTP address is not smtp://host:port or smtps://host:port.");
}

function checkPublic(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isWeb = url?.protocol === "https:" || url?.protocol === "http:";
  if (url === undefined || !isWeb || url.username !== "" || url.search !== "" || url.hash !== "")
    return wrong(`The public URL "${shown(text)}" is not an address such as https://holdpoint.example.`);
  return url.href.replace(/\/+$/, "");
}

function checkTimeout(timeoutMs: number): number {
  if (Number.isInteger(timeoutMs) && timeoutMs >= LEAST_TIMEOUT_MS && timeoutMs <= MOST_TIMEOUT_MS)
    return timeoutMs;
  return wrong(`timeoutMs is a whole number from ${LEAST_TIMEOUT_MS} to ${MOST_TIMEOUT_MS}.`);
}

function mailSettings(smtpUrl: string | undefined, from: string | undefined): DeliverySettings["mail"] {
  if (from !== undefined && !isMailAddress(from)) wrong(`"${shown(from)}" is not a mail address.`);
  if (smtpUrl === undefined) return null;
  if (from === undefined) return wrong("Mail needs a sender: set mailFrom, or HOLDPOINT_MAIL_FROM.");
  return { smtpUrl: checkSmtp(smtpUrl), from };
}

export function deliverySettings(given: DeliveryOptions, environment: Environment): DeliverySettings {
  const options = checkFields("What hp.deliver takes", given, FIELDS);
  const smtpUrl = options.smtpUrl ?? (environment("HOLDPOINT_SMTP_URL") || undefined);
  const from = options.mailFrom ?? (environment("HOLDPOINT_MAIL_FROM") || undefined);
  const publicUrl = options.publicUrl ?? (environment("HOLDPOINT_PUBLIC_URL") || undefined);
  const allowed = environment("HOLDPOINT_ALLOW_PRIVATE");
  const { timeoutMs = TIMEOUT_MS, allowPrivate = allowed === "1" || allowed === "true" } = options;
  if (typeof allowPrivate !== "boolean") wrong("allowPrivate is true or false.");
  return {
    mail: mailSettings(smtpUrl, from),
    publicUrl: publicUrl === undefined ? null : checkPublic(publicUrl),
    allowPrivate,
    timeoutMs: checkTimeout(timeoutMs),
  };
}
