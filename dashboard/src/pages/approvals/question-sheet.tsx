/** The card of a question: its form is open from the start, and begins with what its schema says. */
import type { CardAnswer } from "../../api/approvals.ts";
import { firstValue } from "../../format/schema-form.ts";
import { CardSheet } from "./card-sheet.tsx";

export const QuestionSheet = ({ answer }: { readonly answer: CardAnswer }) => (
  <CardSheet answer={answer} firstAnswer={firstValue} />
);
