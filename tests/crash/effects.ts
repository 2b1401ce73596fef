/** What the receiver writes into its log: the truth that everything else is measured by. */

/** How a receiver treats the key that it is handed. */
export const MODES = ["ignores", "honours", "forgets", "drops"] as const;
export type Mode = (typeof MODES)[number];

/** One line of the receiver's log. `table` stands for rows that a transactional tool wrote beside the journal. */
export type Received = {
  readonly at: number;
  readonly mode: Mode | "table";
  readonly tool: string;
  readonly key: string;
  /** Canonical JSON of the arguments. */
  readonly args: string;
  readonly outcome: "applied" | "duplicate" | "refused";
};

/** How long the mode `forgets` remembers a key. */
export const REMEMBERED_MS = 2_000;

/** A receiver refuses these outright, whatever the mode: proof that nothing happened. */
export const isRefusedByReceiver = (args: { readonly n: number }): boolean => args.n % 13 === 12;
