/** Flags of `demo` that only `demo refund` has. */
export const REFUND_FLAGS = {
  amount: { value: "<usd>", summary: "refund: what the model proposes to pay back; 1200 unless set" },
  "approve-cap": { value: "<usd>", summary: "refund: play the person, who approves this much at most" },
} as const;
