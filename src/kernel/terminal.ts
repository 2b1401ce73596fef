/**
 * How a terminal shows a capability, as data: a command with subcommands over its contract, the columns of its list,
 * and the card of one item. The command line renders it, and derives flags from the fields of the verbs' inputs.
 */
import type { Json } from "./json.ts";

/** Text with timestamps that the renderer formats: `["revoked ", { ago: at }, " by ann"]`. */
export type RichText = string | readonly (string | { readonly ago: number } | { readonly moment: number })[];

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
  /** Without the label: Holdpoint's own sentences, verbatim, wrapped, or marked red. */
  | { readonly lines: readonly string[] }
  | { readonly paragraphs: readonly string[] }
  | { readonly warnings: readonly string[] }
  | null
  | undefined;

export type CardFields = { readonly [label: string]: CardField };
/** By heading. A list of records allows a label to occur more than once. Null and undefined omit the section. */
export type CardSections = {
  readonly [heading: string]: CardFields | readonly CardFields[] | null | undefined;
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

/** A subcommand that performs a verb. If the verb's path has an id, it is an argument and the item is read first. */
export type Act<Item> = {
  /** Printed instead of the card of the result. `before` is the item before, for a verb with an id. */
  readonly says: (after: Item, before: Item | undefined) => RichText;
  /** Prints the card as well. */
  readonly showsCard?: true;
};

export type ResourceCommand<Item, Verb extends string = string> = {
  /** Title of its group in the overview of commands. */
  readonly group: string;
  readonly summary: string;
  readonly details: readonly string[];
  readonly examples: readonly string[];
  readonly list: {
    /** The filter of `--all`, and its summary. */
    readonly all: { readonly filter: object; readonly summary: string };
    readonly empty: string;
    readonly columns: readonly (readonly [string, (item: Item) => RichText])[];
  };
  readonly acts: { readonly [Name in Verb]?: Act<Item> };
  readonly card: (item: Item) => CardDocument;
  /** What `--json` prints for one item. Default: the item. */
  readonly json?: (item: Item) => object;
};
