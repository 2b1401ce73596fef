/**
 * Channel: mail. The mailer is loaded when the first mail is sent. Text in a mail that is not ours is plain text.
 * - No address in text from outside is clickable: `://` and `www.` are escaped, and in HTML split into elements.
 * - Omitted lines are counted. Of a failure only a status or a code is kept: a server's text may be confidential.
 */

import { isIP } from "node:net";
import { z } from "zod";
import { ROSTER } from "../kernel/stream.ts";
import { readState } from "../runtime/store-access.ts";
import {
  type Channel,
  type Delivery,
  type DeliveryContext,
  type DroppedOutcome,
  linkToPage,
  loadDocument,
  type MessageContent,
} from "./channel.ts";
import { isMailAddress, kindOfAddress } from "./post.ts";
import { mailAddressOf } from "./rules/endpoint.ts";
import type { SendOutcome } from "./rules/message.ts";
import type { DeliverySettings } from "./settings.ts";

type MailText = { readonly subject: string; readonly text: string; readonly html: string };

/** Many servers refuse larger mails. */
const MOST_CHARACTERS = 200_000;

/** Backslashes in the lines are doubled, so that text from outside cannot contain these escapes. */
const withoutLinks = (line: string): string =>
  line.replaceAll("://", ":\\u002f\\u002f").replaceAll(/www\./gi, (found) => `${found.slice(0, 3)}\\u002e`);

const ENTITIES: { readonly [character: string]: string } = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

const escapeHtml = (text: string): string => text.replaceAll(/[&<>"']/g, (found) => ENTITIES[found] ?? "");

const lineInHtml = (line: string): string =>
  escapeHtml(line).replaceAll(/[.@:]/g, (found) => `<span>${found}</span>`);

function cutLines(lines: readonly string[]): readonly string[] {
  let used = 0;
  const end = lines.findIndex((line) => {
    used += line.length + 1;
    return used > MOST_CHARACTERS;
  });
  if (end === -1) return lines;
  const left = lines.slice(end).reduce((sum, line) => sum + line.length + 1, 0);
  return [
    ...lines.slice(0, end),
    `… ${lines.length - end} more lines, ${left} characters: open it to see them`,
  ];
}

const NOTHING = "Nothing is decided by opening the page; it asks you first.";

/** `lines` are already visible text; `link` is ours. */
export function composeMail(
  { title, type, at }: Pick<MessageContent, "title" | "type" | "at">,
  lines: readonly string[],
  link: string | null,
): MailText {
  const head = [`${withoutLinks(title)}`, `${type}, ${new Date(at).toISOString()}`];
  const card = cutLines(lines).map(withoutLinks);
  const foot = link === null ? [] : ["", `Open: ${link}`, NOTHING];
  const shown = [...head, "", ...card].map(lineInHtml).join("\n");
  const anchor =
    link === null
      ? ""
      : `<p><a href="${escapeHtml(link)}">Open in Holdpoint</a><br>${escapeHtml(NOTHING)}</p>`;
  return {
    subject: `[Holdpoint] ${withoutLinks(title)}`,
    text: [...head, "", ...card, ...foot, ""].join("\n"),
    html: `<!doctype html><html><head><meta charset="utf-8"></head><body>${anchor}<pre>${shown}</pre></body></html>`,
  };
}

type Mail = MailText & { readonly message: string; readonly to: string; readonly at: number };
type MailSettings = NonNullable<DeliverySettings["mail"]>;

function isLoopback(host: string): boolean {
  return host === "localhost" || (isIP(host) !== 0 && kindOfAddress(host) === "loopback");
}

function transportOf(smtpUrl: string, timeoutMs: number) {
  const url = new URL(smtpUrl);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const secure = url.protocol === "smtps:";
  const standard = secure ? 465 : 587;
  const user = decodeURIComponent(url.username);
  return {
    host,
    secure,
    port: url.port === "" ? standard : Number(url.port),
    // A password is never sent over a network in clear.
    requireTLS: !secure && user !== "" && !isLoopback(host),
    ...(user === "" ? {} : { auth: { user, pass: decodeURIComponent(url.password) } }),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

/** Keeps a status or a code: a server's text may be confidential. */
function smtpFailure(error: unknown): SendOutcome {
  const { code, responseCode } = error as { readonly code?: unknown; readonly responseCode?: unknown };
  const status = typeof responseCode === "number" ? responseCode : null;
  const word = typeof code === "string" && /^[A-Za-z][A-Za-z0-9_]{0,63}$/.test(code) ? code : "mail_failed";
  return { kind: "failed", status, problem: word };
}

async function sendBySmtp(
  { smtpUrl, from }: MailSettings,
  timeoutMs: number,
  { message, to, at, subject, text, html }: Mail,
): Promise<SendOutcome> {
  const { createTransport } = await import("nodemailer");
  const transport = createTransport(transportOf(smtpUrl, timeoutMs));
  const domain = from.slice(from.lastIndexOf("@") + 1);
  const late = AbortSignal.timeout(timeoutMs);
  const tooLate = new Promise<never>((_, refuse) => {
    late.addEventListener("abort", () => refuse({ code: "timed_out" }), { once: true });
  });
  try {
    const sent = transport.sendMail({
      from: { name: "Holdpoint", address: from },
      to: { name: "", address: to },
      envelope: { from, to: [to] },
      subject,
      text,
      html,
      date: new Date(at),
      messageId: `<${message}@${domain}>`,
      headers: { "Auto-Submitted": "auto-generated", "X-Auto-Response-Suppress": "All" },
      textEncoding: "quoted-printable",
      disableFileAccess: true,
      disableUrlAccess: true,
    });
    await Promise.race([sent, tooLate]);
    return { kind: "delivered", status: 250 };
  } catch (error) {
    return smtpFailure(error);
  } finally {
    transport.close();
  }
}

async function sendByMail(
  { runtime, settings, render }: DeliveryContext,
  { job: { id, state, now }, content }: Delivery,
): Promise<SendOutcome | DroppedOutcome> {
  if (settings.mail === null) return { kind: "failed", status: null, problem: "no_smtp_server" };
  const to = mailAddressOf(await readState(runtime, ROSTER), state.to ?? "");
  if (!isMailAddress(to)) return { kind: "dropped", reason: "there is no mail address for whom it is for" };
  const lines = render(await loadDocument(runtime, content), now);
  const text = composeMail(content, lines, linkToPage(settings.publicUrl, content.ref));
  return sendBySmtp(settings.mail, settings.timeoutMs, { ...text, message: id, to, at: content.at });
}

export const mail = {
  kind: "mail",
  title: "Mail",
  address: "people",
  example: "approvers, role:supervisor, ann@example.com",
  hint: "Addresses, person:, role:, group:, or approvers: the people who may decide.",
  target: z.object({ kind: z.literal("mail"), to: z.array(z.string()).readonly() }),
  canSend: (settings) => settings.mail !== null,
  send: sendByMail,
} as const satisfies Channel;
