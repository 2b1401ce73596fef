/**
 * How a capability is shown to people in a terminal, as data: a command of several parts over its contract, the columns of its
 * list, and the card of one item. The command line renders it, and takes flags from the fields of the verbs' inputs.
 */
import type { Json } from "./json.ts";

/** Text, with moments that the renderer writes out: `["revoked ", { ago: at }, " by ann"]`. */
export type RichText = string | readonly (string | { readonly ago: number } | { readonly moment: number })[];

/** What stands beside or below a label. What is null or undefined is left out, with its label. */
export type CardField =
  | RichText
  /** The label is repeated. */
  | { readonly each: readonly RichText[] }
  /** A value below its label: one line for each field, or canonical JSON. */
  | { readonly tree: Json }
  | { readonly json: Json }
  /** Without the label: one line for each field of a value, then the same as canonical JSON. */
  | { readonly args: Json }
  /** Without the label: one line for each field of a value, anybody's text, or lines that are visible already. */
  | { readonly value: Json }
  | { readonly quote: string }
  | { readonly block: readonly string[] }
  /** Without the label: sentences of Holdpoint's own, as they are, folded, or with a red mark before them. */
  | { readonly lines: readonly string[] }
  | { readonly paragraphs: readonly string[] }
  | { readonly warnings: readonly string[] }
  | null
  | undefined;

export type CardFields = { readonly [label: string]: CardField };
/** By heading. Several records of fields follow each other where a label comes more than once. Null and undefined: left out. */
export type CardSections = {
  readonly [heading: string]: CardFields | readonly CardFields[] | null | undefined;
};
export type Tone = "green" | "yellow" | "red" | "bold";

/** What everybody sees of one thing: sections of labelled values, in the order in which they are read. */
export type CardDocument = {
  readonly title: string;
  /** When it last changed: a terminal whose clock is behind does not show that as the future. */
  readonly asOf?: number;
  readonly badge: { readonly text: string; readonly tone: Tone };
  readonly sections: CardSections;
  /** Of headings that stand out. */
  readonly tones?: { readonly [heading: string]: Tone };
  /** Commands on offer, without the program's name. */
  readonly next: readonly string[];
};

/** A part that performs a verb. A verb with an id in its path takes it as a word and is shown what was there before. */
export type Act<Item> = {
  /** Instead of the card of what it answers. `before` is what was there, for a verb with an id. */
  readonly says: (after: Item, before: Item | undefined) => RichText;
  /** The card follows what it says. */
  readonly showsCard?: true;
};

export type ResourceCommand<Item, Verb extends string = string> = {
  readonly summary: string;
  readonly details: readonly string[];
  readonly list: {
    /** The filter of `--all`, and its summary. */
    readonly all: { readonly filter: object; readonly summary: string };
    readonly empty: string;
    readonly columns: readonly (readonly [string, (item: Item) => RichText])[];
  };
  readonly acts: { readonly [Name in Verb]?: Act<Item> };
  readonly card: (item: Item) => CardDocument;
  /** What `--json` prints of one. Default: the item. */
  readonly json?: (item: Item) => object;
};
