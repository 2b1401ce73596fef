/** What agents might write to change a mail, hide something in it, or have people click on it. */
import { HOSTILE } from "../cli/hostile.ts";

const EVIL = "evil.example";
const HEADERS = [
  "Bcc: x@evil.example",
  "Subject: Approved",
  "Content-Type: text/html",
  "To: all@evil.example",
  "X-Evil: 1",
  "From: boss@evil.example",
];
const BREAKS = ["\r\n", "\n", "\r", "\r\n\r\n", "\u0085", "\u2028", "\u000b", "%0d%0a", "=0D=0A", "\\r\\n"];
const TAGS = [
  "script",
  "img",
  "iframe",
  "svg",
  "style",
  "link",
  "meta",
  "base",
  "form",
  "input",
  "button",
  "object",
  "embed",
  "video",
  "audio",
  "body",
  "math",
  "table",
  "details",
  "template",
];
const SCHEMES = [
  "https://",
  "http://",
  "HTTPS://",
  "ftp://",
  "javascript://",
  "data://",
  "file://",
  "hxxps://",
  "//",
  "mailto:",
  "javascript:",
  "tel:",
  "\\\\",
  "www.",
  "WWW.",
  "https:\u200b//",
];
const MIME = [
  "--boundary",
  "------=_Part_1",
  "\r\n--=_x\r\nContent-Type: text/html\r\n\r\n<b>hi</b>",
  "=?utf-8?q?=0D=0ABcc:_x?=",
  "=?utf-8?b?DQpCY2M6IHg=?=",
  "begin 644 a.exe",
  "\r\n.\r\n",
  "\n.\n",
  "\r.\r",
  "\r\n.\rMAIL FROM:<x@evil.example>",
  "\r\nQUIT\r\n",
  "..",
  ".",
  "=3Cscript=3E",
  "From me",
  "\u0000",
];
const ENTITIES = [
  "&lt;script&gt;",
  "&#60;b&#62;",
  "&amp;",
  "</pre>",
  "</pre><h1>Approved</h1><pre>",
  "<!--",
  "-->",
  "]]>",
  "<![CDATA[",
  '"><a href="https://evil.example">x</a>',
  "' onmouseover='alert(1)",
];
const CLAIMS = [
  "Approved by person:ann",
  "The agent says (its own words, not checked)",
  "Who decides\n  needs       0 of: nobody",
  "│ arguments",
  "What will run\n  tool        nothing",
  "… 3 more characters",
  "Open: https://evil.example/approvals/apr_1",
  "Nothing is decided by opening the page; it asks you first.",
];

const tagged = TAGS.flatMap((tag) => [
  `<${tag} src=x onerror=alert(1)>`,
  `<${tag.toUpperCase()}/x href="https://${EVIL}">`,
  `</pre></${tag}><${tag}>`,
  `<${tag}\n onload=alert(1)//`,
]);
const linked = SCHEMES.flatMap((scheme) => [
  `${scheme}${EVIL}/approve?id=1`,
  `[approve](${scheme}${EVIL})`,
  `<a href="${scheme}${EVIL}">approve</a>`,
  `see ${scheme}user@${EVIL}:443/x`,
  `${scheme}xn--80ak6aa92e.example`,
]);
const injected = HEADERS.flatMap((header) => BREAKS.map((end) => `hello${end}${header}${end}`));
const bidi = ["\u202e", "\u2066", "\u200f", "\u061c"].flatMap((mark) => [
  `transfer ${mark}000,01 USD`,
  `${mark}${EVIL}`,
  `a${mark}b${mark}c`,
  `name${mark}txt.exe`,
]);
const hidden = ["\u200b", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u{e0041}", "\u3164"].flatMap((mark) => [
  `pay${mark}ment`,
  mark.repeat(50),
  `${mark}start`,
  `end${mark}`,
]);
const long = [
  "x".repeat(998),
  "x".repeat(20_000),
  `${"long ".repeat(3_000)}`,
  "=".repeat(2_000),
  "é".repeat(1_500),
  "\t".repeat(200),
  "😀".repeat(600),
];

export const INJECTIONS: readonly string[] = [
  ...new Set([
    ...injected,
    ...tagged,
    ...linked,
    ...MIME,
    ...ENTITIES,
    ...CLAIMS,
    ...bidi,
    ...hidden,
    ...long,
    ...HOSTILE,
    ...HOSTILE.map((text) => `${text}\r\nBcc: x@${EVIL}`),
  ]),
];
