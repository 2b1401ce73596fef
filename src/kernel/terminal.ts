/** The card of one thing, as data that a terminal, a mail and a page render. */
import type { Json } from "./json.ts";

/**
 * Text with timestamps that the renderer formats: `["revoked ", { ago: at }, " by ann"]`. `id`: of a thing that has a page
 * of its own, which a renderer may link to.
 */
export type RichText =
  | string
  | readonly (string | { readonly ago: number } | { readonly moment: number } | { readonly id: string })[];

/** The value next to or below a label. Null and undefined omit the label too. */
export type CardField =
  | RichText
  /** The label is repeated. */
  | { readonly each: readonly RichText[] }
  /** A value below its label: one line for each field, or canonical JSON. */
  | { readonly tree: Json }
  | { readonly json: Json }
  /** Without the label: one line per field of a value, then the same as canonical JSON. */
  | { readonly args: Json }
  /** Without the label: one line per field of a value, untrusted text, or lines that are already safe to show. */
  | { readonly value: Json }
  | { readonly quote: string }
  | { readonly block: readonly string[] }
  /** Without the label: a JSON Schema in words. */
  | { readonly schema: Json }
  /** Without the label: Holdpoint's own sentences, verbatim, wrapped, or marked red. */
  | { readonly lines: readonly string[] }
  | { readonly paragraphs: readonly string[] }
  | { readonly warnings: readonly string[] }
  | null
  | undefined;

export type CardFields = { readonly [label: string]: CardField };
/** By heading. A list of records allows a label to occur more than once. False, null and undefined omit the section. */
export type CardSections = {
  readonly [heading: string]: CardFields | readonly CardFields[] | false | null | undefined;
};
export type Tone = "green" | "yellow" | "red" | "bold";

/** The view of one thing for all readers: sections of labelled values, in reading order. */
export type CardDocument = {
  readonly title: string;
  /** What it is about, in one line of visible text. */
  readonly subtitle?: string;
  /** When it last changed, so that a terminal whose clock is behind does not show that as the future. */
  readonly asOf?: number;
  readonly badge: { readonly text: string; readonly tone: Tone };
  readonly sections: CardSections;
  /** Tones of highlighted headings. */
  readonly tones?: { readonly [heading: string]: Tone };
  /** Suggested commands, without the program's name. */
  readonly next: readonly string[];
};
