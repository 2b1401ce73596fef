import { votesNow } from "../approvals/state.ts";
import { HoldpointError } from "../core/errors.ts";
import { isJsonObject, type Json } from "../core/json.ts";
import { parseJson } from "../core/strict-json.ts";
import { visible } from "../core/visible.ts";
import type { Approval } from "../index.ts";
import { hasSuggestion } from "./approvals/card.ts";
import { stageCount } from "./approvals/card-parts.ts";
import { approveMany } from "./approve-many.ts";
import { awaitReview, type Reviewed } from "./await-review.ts";
import { type Command, type Context, EXIT, FULL, flag, word } from "./command.ts";
import { CommandError } from "./failure.ts";
import { readable } from "./readable.ts";
import { approvalId } from "./resolve-id.ts";
import { sectionsOn } from "./sections.ts";
import { goesOnWords, heardWords } from "./workflow-words.ts";

function editOf(context: Context, approval: Approval): { readonly edit?: Json } {
  const text = flag(context, "edit");
  if (text === undefined) return {};
  const edit = parseJson(text);
  // The answer to a question may be anything.
  if (approval.subject?.kind !== "question" && isJsonObject(approval.args) && !isJsonObject(edit))
    throw new CommandError(
      "usage",
      "--edit is a JSON object of the fields to replace.",
      `Such as --edit '{"id": 43}'`,
    );
  return { edit };
}

/** What the person saw, if they say so; in any case nothing may change between this reading and the vote. */
export function checkBinding(context: Context, approval: Approval): void {
  const seen = flag(context, "binding")?.toLowerCase();
  if (seen === undefined) return;
  if (!/^[0-9a-f]{8,64}$/.test(seen))
    throw new CommandError(
      "usage",
      "--binding is at least the first 8 digits of the binding.",
      "`holdpoint show` has it.",
    );
  if (approval.binding.startsWith(seen)) return;
  throw new HoldpointError(
    "decision_conflict",
    `What ${approval.id} asks now is not what was shown under ${seen}.`,
  );
}

function refusedEdit({ rule, reason }: Extract<Reviewed, { kind: "refused" }>): HoldpointError {
  return new HoldpointError("edit_refused", `The edit was refused by the rule "${rule}": ${reason}.`);
}

type Unrefused = Exclude<Reviewed, { kind: "refused" }>;

function tellReviewed({ terminal }: Context, approval: Approval, reviewed: Unrefused): number {
  switch (reviewed.kind) {
    case "accepted":
      return EXIT.ok;
    case "open":
      terminal.line(
        "The edit is recorded; it will be reviewed when the program that has the tool runs again.",
      );
      return EXIT.ok;
    case "stands":
      terminal.line(
        reviewed.isShown
          ? `The edit stands, and people are asked about what the tool shows of it now, you too: \`holdpoint show ${approval.id}\`, then \`holdpoint approve ${approval.id}\`.`
          : "The edit stands, and people are asked about it from the first stage on; you are asked when yours comes.",
      );
      return EXIT.ok;
    case "moved_on":
      terminal.line(`Nobody reviewed the edit: ${approval.id} is ${approval.status}.`);
      return EXIT.refused;
    case "asks_again":
      terminal.line(
        `The edit falls under another rule, so people are asked anew: ${visible(reviewed.reason)}`,
      );
      return EXIT.ok;
  }
}

function tellStatus(context: Context, approval: Approval, isRepeat: boolean): void {
  const { terminal, full } = context;
  const { id, status, approvers, binding, subject } = approval;
  const stage = stageCount(approval);
  const cast = votesNow(approval);
  const counted = cast.filter((vote) => vote.decision === "approve" && vote.binding === binding).length;
  const count = `${counted} of ${approvers.quorum} votes${stage === undefined ? "" : ` in stage ${stage}`}`;
  const word = subject === undefined || !approval.edited ? "Approved" : "Approved with your changes";
  const what = subject === undefined ? `${id} is ${status}` : id;
  if (isRepeat) terminal.line("You had approved it before; nothing changed.");
  if (status === "pending") terminal.line(`${id} has ${count} and still waits.`);
  else terminal.line(`${terminal.paint("green", word)}: ${what} (${count}).`);
  terminal.line(`  ${visible(approval.tool)}, asked by ${visible(approval.agent)}`);
  sectionsOn(terminal, full).block(readable(approval.args, full));
}

/** A question that suggests nothing has to be answered. */
function checkAnswered({ id, subject, ...approval }: Approval, edit: { readonly edit?: Json }): void {
  if (subject?.kind !== "question" || edit.edit !== undefined || hasSuggestion(approval)) return;
  throw new CommandError(
    "usage",
    `${id} is a question, and suggests no answer that one could agree to.`,
    `Answer it: holdpoint answer ${id} '<json>'; \`holdpoint show ${id}\` says what is expected.`,
  );
}

/** Whoever waits for the decision, in a line. */
async function tellWaiting({ hp, terminal }: Context, { status, subject }: Approval): Promise<void> {
  if (status === "approved" || status === "modified")
    terminal.line("The program that asked performs it now, or when it runs again.");
  if (subject === undefined || status === "pending") return;
  if (subject.kind === "intent") return terminal.line(heardWords(subject.intent));
  terminal.line(goesOnWords((await hp.workflows.get(subject.workflow)).name));
}

export const approve: Command = {
  name: "approve",
  words: ["[id…]"],
  summary: "agree, as the operating system's user",
  details: [
    "--edit replaces fields of the arguments. The edited action goes through schema and policy again, by a process that has the tool.",
    "At a checkpoint --edit replaces fields of the outputs, and the workflow goes on with them. To a question it is the answer, like `holdpoint answer`.",
    "--binding makes sure that what you approve is what you were shown.",
    "Of several ids, or with --all-of, every card is shown and you type how many there are. Each is decided on its own; one that is refused does not stop the others.",
  ],
  flags: {
    edit: { value: "<json>", summary: "a JSON object of fields to replace" },
    note: { value: "<text>", summary: "a word to the tool; it is recorded" },
    binding: { value: "<digits>", summary: "the binding that `show` printed, or its beginning" },
    "all-of": { value: "<tool>", summary: "everything that waits for this tool" },
    confirm: { value: "<count>", summary: "how many there are, where nobody is there to type it" },
    full: FULL,
  },
  async run(context) {
    if (context.words.length > 1 || flag(context, "all-of") !== undefined) return approveMany(context);
    if (context.words.length === 0)
      throw new CommandError("usage", "approve needs <id>.", "Try: holdpoint approve --help");
    const { hp, person: by, terminal } = context;
    const id = await approvalId(context, word(context));
    const before = await hp.approvals.get(id);
    checkBinding(context, before);
    const edit = editOf(context, before);
    checkAnswered(before, edit);
    const note = flag(context, "note");
    // Somebody who sends an edit once more has not seen what the tool shows of it, unless they say so.
    const isSeen = edit.edit === undefined || flag(context, "binding") !== undefined;
    const seen = isSeen ? { binding: before.binding } : {};
    const vote = { by, ...seen, via: "cli", ...(note === undefined ? {} : { note }) };
    const decided = await hp.approvals.approve(id, { ...vote, ...edit });
    const reviewed: Reviewed =
      edit.edit === undefined ? { kind: "accepted" } : await awaitReview(context, id);
    if (reviewed.kind === "refused") throw refusedEdit(reviewed);
    const approval = await hp.approvals.get(decided.approval);
    if (context.json) {
      terminal.json({ kind: decided.kind, edit: edit.edit === undefined ? null : reviewed, approval });
      return reviewed.kind === "moved_on" ? EXIT.refused : EXIT.ok;
    }
    const code = tellReviewed(context, approval, reviewed);
    if (reviewed.kind !== "accepted") return code;
    tellStatus(context, approval, decided.kind === "same");
    await tellWaiting(context, approval);
    return code;
  },
};
