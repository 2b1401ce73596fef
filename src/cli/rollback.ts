import { HoldpointError, isHoldpointError } from "../kernel/errors.ts";
import { type Command, type Context, EXIT, flag, isOn, needed, REASON, word } from "./command.ts";
import { workflowId } from "./resolve-id.ts";
import { whereFlags } from "./where-flags.ts";
import { goesOnWords, placeWords, quotedName } from "./workflow-words.ts";

/** A slip of the pen is refused and recorded like any other request; here it is said what could be typed instead. */
async function withChoices({ hp }: Context, id: string, to: string | undefined, error: unknown) {
  if (!isHoldpointError(error, "wrong_state") || to === undefined || to === "start") return error;
  const { passed } = await hp.workflows.get(id);
  if (passed.some(({ name, op }) => name === to || op === to)) return error;
  const names = [...new Set(passed.map(({ name }) => quotedName(name)))];
  const next =
    names.length === 0
      ? "It has passed none yet: --to start."
      : `It has passed ${names.join(", ")}; or --to start.`;
  const { code, what, data, details } = error;
  return new HoldpointError(code, what, { data, next, details, cause: error });
}

export const rollback: Command = {
  name: "rollback",
  words: ["<workflow>"],
  summary: "send a workflow back to a checkpoint: what it did since is undone, newest first",
  details: [
    "It goes to the last checkpoint that was approved or passed, unless --to names another one or `start`. Then it is tried again from there and told the reason.",
    "The command only says so; a process that has the definition does it.",
  ],
  flags: {
    to: { value: "<checkpoint>", summary: "a checkpoint it has passed, or start" },
    fail: { summary: "when all is undone it fails, instead of being tried again" },
    reason: REASON,
  },
  async run(context) {
    const { hp, terminal, person: by } = context;
    const id = await workflowId(context, word(context));
    const to = flag(context, "to");
    const after = isOn(context, "fail") ? "fail" : "again";
    const request = {
      by,
      reason: needed(context, "reason"),
      after,
      ...(to === undefined ? {} : { to }),
    } as const;
    await hp.workflows.rollback(id, request).catch(async (error: unknown) => {
      throw await withChoices(context, id, to, error);
    });
    const workflow = await hp.workflows.get(id);
    if (context.json) {
      terminal.json({ workflow });
      return EXIT.ok;
    }
    const place = placeWords(workflow, workflow.rollback?.to ?? null);
    terminal.line(`Rolling back ${id}, ${quotedName(workflow.name)}, to ${place}.`);
    terminal.line(
      `What it did since then is undone, newest first; then it ${after === "fail" ? "fails" : "is tried again from there"}.`,
    );
    terminal.line(goesOnWords(workflow.name));
    terminal.line(`  npx holdpoint show ${id}${whereFlags(context)}`);
    return EXIT.ok;
  },
};
