/**
 * How a capability is shown to people in a terminal, as data: a command of several parts over its contract, the columns of its
 * list, and the card of one item. The command line renders it, and takes flags from the fields of the verbs' inputs.
 */

/** Text, with moments that the renderer writes out: `["revoked ", { ago: at }, " by ann"]`. */
export type RichText = string | readonly (string | { readonly ago: number } | { readonly moment: number })[];

type Field = RichText | { readonly each: readonly RichText[] } | undefined;

/** What everybody sees of one thing: sections of labelled values, in the order in which they are read. */
export type CardDocument = {
  readonly title: string;
  /** When it last changed: a terminal whose clock is behind does not show that as the future. */
  readonly asOf: number;
  readonly badge: { readonly text: string; readonly tone: "green" | "yellow" | "red" };
  /** By heading, then by label. What is undefined is left out; `each` repeats its label. */
  readonly sections: { readonly [title: string]: { readonly [label: string]: Field } };
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
