/** Every command, in the order of the overview. */
import { approvals } from "./approvals.ts";
import { approve } from "./approve.ts";
import { cancel } from "./cancel.ts";
import type { Command } from "./command.ts";
import { demo } from "./demo.ts";
import { exportCommand } from "./export.ts";
import { go } from "./go.ts";
import { inDoubt } from "./in-doubt.ts";
import { journal } from "./journal.ts";
import { receipt } from "./receipt.ts";
import { reject } from "./reject.ts";
import { resolve } from "./resolve.ts";
import { restored } from "./restored.ts";
import { revoke } from "./revoke.ts";
import { seal } from "./seal.ts";
import { show } from "./show.ts";
import { stop } from "./stop.ts";
import { verify } from "./verify.ts";
import { views } from "./views.ts";
import { welcome } from "./welcome.ts";

export const COMMANDS: readonly Command[] = [
  welcome,
  demo,
  approvals,
  show,
  approve,
  reject,
  cancel,
  revoke,
  journal,
  inDoubt,
  resolve,
  stop,
  go,
  receipt,
  verify,
  seal,
  restored,
  exportCommand,
  views,
];
