/** One attempt to tell somebody by mail. The mailer is loaded when the first mail is sent. */
import { isIP } from "node:net";
import type { Outcome } from "../../core/message/message.ts";
import type { MailText } from "./mail-text.ts";
import { kindOfAddress } from "./public-address.ts";
import type { DeliverySettings } from "./settings.ts";

export type Mail = MailText & { readonly message: string; readonly to: string; readonly at: number };
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
    // A password never goes over a network in clear.
    requireTLS: !secure && user !== "" && !isLoopback(host),
    ...(user === "" ? {} : { auth: { user, pass: decodeURIComponent(url.password) } }),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

/** A status, or a word: what servers write may hold what nobody is to see. */
function failure(error: unknown): Outcome {
  const { code, responseCode } = error as { readonly code?: unknown; readonly responseCode?: unknown };
  const status = typeof responseCode === "number" ? responseCode : null;
  const word = typeof code === "string" && /^[A-Za-z][A-Za-z0-9_]{0,63}$/.test(code) ? code : "mail_failed";
  return { kind: "failed", status, problem: word };
}

export async function sendMail(
  { smtpUrl, from }: MailSettings,
  timeoutMs: number,
  { message, to, at, subject, text, html }: Mail,
): Promise<Outcome> {
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
    return failure(error);
  } finally {
    transport.close();
  }
}
