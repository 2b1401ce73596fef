/** Settings of delivery: options first, then the environment. */

import { checkFields, rejectInput } from "../kernel/fields.ts";
import { displayValue } from "../kernel/text.ts";
import type { Environment } from "../runtime/settings.ts";
import { isMailAddress, type ResolveHost } from "./post.ts";

export type DeliveryOptions = {
  /** `smtp://user:password@host:587` or `smtps://…`. Default: `HOLDPOINT_SMTP_URL`; without either, mail waits. */
  readonly smtpUrl?: string;
  /** Sender address of mails. Default: `HOLDPOINT_MAIL_FROM`. */
  readonly mailFrom?: string;
  /** Base address for links to pages: `https://holdpoint.example`. Default: `HOLDPOINT_PUBLIC_URL`. */
  readonly publicUrl?: string;
  /** Allows webhooks to this machine and private networks. Default: whether `HOLDPOINT_ALLOW_PRIVATE=1`. */
  readonly allowPrivate?: boolean;
  /** Timeout of one attempt. Default: 15,000. */
  readonly timeoutMs?: number;
};

export type DeliverySettings = {
  readonly mail: { readonly smtpUrl: string; readonly from: string } | null;
  readonly publicUrl: string | null;
  readonly allowPrivate: boolean;
  readonly timeoutMs: number;
  readonly resolve?: ResolveHost;
};

/** `where`: the environment variable, or the option that has none. */
type SettingFault = { readonly where: string; readonly what: string };

const FIELDS = ["smtpUrl", "mailFrom", "publicUrl", "allowPrivate", "timeoutMs"];
const TIMEOUT_MS = 15_000;
const LEAST_TIMEOUT_MS = 100;
const MOST_TIMEOUT_MS = 60_000;

/** The address may hold a password, so the error does not repeat it. */
function smtpFault(text: string): string | undefined {
  const protocol = URL.canParse(text) ? new URL(text).protocol : "";
  if (protocol === "smtp:" || protocol === "smtps:") return undefined;
  return "The SMTP address is not smtp://host:port or smtps://host:port.";
}

function publicFault(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isWeb = url?.protocol === "https:" || url?.protocol === "http:";
  if (url !== undefined && isWeb && url.username === "" && url.search === "" && url.hash === "")
    return undefined;
  return `The public URL "${displayValue(text)}" is not an address such as https://holdpoint.example.`;
}

function timeoutFault(timeoutMs: number): string | undefined {
  if (Number.isInteger(timeoutMs) && timeoutMs >= LEAST_TIMEOUT_MS && timeoutMs <= MOST_TIMEOUT_MS)
    return undefined;
  return `timeoutMs is a whole number from ${LEAST_TIMEOUT_MS} to ${MOST_TIMEOUT_MS}.`;
}

function mailFault(smtpUrl: string | undefined, from: string | undefined): string | undefined {
  if (from !== undefined)
    return isMailAddress(from) ? undefined : `"${displayValue(from)}" is not a mail address.`;
  return smtpUrl === undefined ? undefined : "Mail needs a sender: set mailFrom, or HOLDPOINT_MAIL_FROM.";
}

const SWITCHES: { readonly [text: string]: boolean } = { true: true, "1": true, false: false, "0": false };

type RawSettings = {
  readonly [Field in "smtpUrl" | "from" | "publicUrl"]: string | undefined;
} & { readonly allowPrivate: unknown; readonly timeoutMs: number };

function readRawSettings(options: DeliveryOptions, environment: Environment): RawSettings {
  const allowed = environment("HOLDPOINT_ALLOW_PRIVATE") || "false";
  return {
    smtpUrl: options.smtpUrl ?? (environment("HOLDPOINT_SMTP_URL") || undefined),
    from: options.mailFrom ?? (environment("HOLDPOINT_MAIL_FROM") || undefined),
    publicUrl: options.publicUrl ?? (environment("HOLDPOINT_PUBLIC_URL") || undefined),
    allowPrivate: options.allowPrivate ?? SWITCHES[allowed.toLowerCase()] ?? allowed,
    timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
  };
}

function faultsOf({
  smtpUrl,
  from,
  publicUrl,
  allowPrivate,
  timeoutMs,
}: RawSettings): readonly SettingFault[] {
  const found: readonly (readonly [string, string | undefined])[] = [
    ["HOLDPOINT_SMTP_URL", smtpUrl === undefined ? undefined : smtpFault(smtpUrl)],
    ["HOLDPOINT_MAIL_FROM", mailFault(smtpUrl, from)],
    ["HOLDPOINT_PUBLIC_URL", publicUrl === undefined ? undefined : publicFault(publicUrl)],
    [
      "HOLDPOINT_ALLOW_PRIVATE",
      typeof allowPrivate === "boolean" ? undefined : "allowPrivate is true or false.",
    ],
    ["timeoutMs", timeoutFault(timeoutMs)],
  ];
  return found.flatMap(([where, what]) => (what === undefined ? [] : [{ where, what }]));
}

/** All faults of the environment. */
export const deliveryFaults = (environment: Environment): readonly SettingFault[] =>
  faultsOf(readRawSettings({}, environment));

export function deliverySettings(given: DeliveryOptions, environment: Environment): DeliverySettings {
  const said = readRawSettings(checkFields("What deliver takes", given, FIELDS), environment);
  const faults = faultsOf(said);
  if (faults.length > 0) rejectInput(faults.map(({ what }) => what).join(" "));
  const { smtpUrl, from, publicUrl, allowPrivate, timeoutMs } = said;
  return {
    mail: smtpUrl === undefined || from === undefined ? null : { smtpUrl, from },
    publicUrl: publicUrl === undefined ? null : new URL(publicUrl).href.replace(/\/+$/, ""),
    allowPrivate: allowPrivate === true,
    timeoutMs,
  };
}
