/** Text that agents might send to deceive whoever reads it on a terminal. */
const char = String.fromCodePoint;

const CONTROLS = Array.from({ length: 0x20 }, (_, code) => `control ${char(code)} c0`);
const C1 = [0x7f, 0x80, 0x84, 0x85, 0x8d, 0x90, 0x9b, 0x9c, 0x9d, 0x9f].map((code) => `c1 ${char(code)}31m`);
const BIDI = [
  0x61c, 0x200e, 0x200f, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069,
].map((code) => `pay ${char(code)}001$ to bob`);
const INVISIBLE = [
  0xad, 0x34f, 0x115f, 0x1160, 0x17b4, 0x180b, 0x180e, 0x200b, 0x200c, 0x200d, 0x2060, 0x2063, 0x2064, 0x2800,
  0x3164, 0xfe0f, 0xfeff, 0xffa0, 0xfff9, 0x1d173, 0xe0001, 0xe0041, 0xe0100, 0xf0000, 0xe000, 0x378, 0x1d159,
  0x16fe4,
].map((code) => `in${char(code)}visible`);
const SPACES = [
  0xa0, 0x1680, 0x2000, 0x2003, 0x2007, 0x2009, 0x200a, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000,
].map((code) => `a${char(code)}b`);
const SEQUENCES = [
  "\u001b[31mred\u001b[0m",
  "\u001b[2J\u001b[H",
  "\u001b[1A\u001b[2KApproved: nothing to see",
  "\u001b]0;title\u0007",
  "\u001b]8;;https://evil.example\u001b\\click\u001b]8;;\u001b\\",
  "\u001b]52;c;cm0gLXJmIC8=\u0007",
  '\u001bP$q"p\u001b\\',
  "\u001bc",
  "\u009b31mred",
  "100\r999",
  "10000\b\b\b\b1",
  "one\ntwo",
  "\n\nWho decides\n  votes       2 of 2",
  "\n\n  Approved: apr_00000000000000000000000000 is approved (1 of 1 votes).",
  "tab\tseparated\tcolumns",
  "form\u000cfeed\u000bvertical",
];
const LOOKALIKES = [
  "\\u202e is only text",
  "\\n is only text",
  "C:\\Users\\ann",
  "\\\\",
  '"quoted" and \\"escaped\\"',
  "│ a bar of its own",
  "… 5 more characters (use --full)",
  "<script>alert(1)</script>",
  "<img src=x onerror=alert(1)>",
  "# heading\n- [x] done",
  "[link](javascript:alert(1))",
  "$(rm -rf /) `id` ; echo",
  "%s%s%n %d {0} $HOME",
  "'; DROP TABLE hp_entries; --",
  '{"$ref":"#/"}',
  "__proto__",
  "=cmd|' /C calc'!A0",
];
const MARKS = [
  `z${"\u0336".repeat(40)}algo`,
  `${"\u0301".repeat(3)}at the start`,
  "e\u0301 is fine",
  "👩‍👩‍👧 family",
  "日本語の文章",
  "مرحبا",
  "🏴󠁧󠁢󠁥󠁮󠁧󠁿",
];
const LONG = [
  "x".repeat(5_000),
  " ".repeat(300),
  "界".repeat(400),
  `${"a ".repeat(2_000)}end`,
  "\n".repeat(200),
];

export const HOSTILE: readonly string[] = [
  ...CONTROLS,
  ...C1,
  ...BIDI,
  ...INVISIBLE,
  ...SPACES,
  ...SEQUENCES,
  ...LOOKALIKES,
  ...MARKS,
  ...LONG,
];

/** Anything but what one can see, the space, and the line feed that ends a line. */
export const FORBIDDEN =
  /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\u2800\u{1d159}\u{16fe4}]|(?! )\p{Zs}|\p{Default_Ignorable_Code_Point}|\p{M}{4}/u;
