/** All commands, in the order of the overview. */

import { alertsCommand, monitor } from "./alerts.ts";
import { ACTS } from "./approvals/acts.ts";
import { answer, approve, reject } from "./approvals/decide.ts";
import { approvalsCommand } from "./approvals/list.ts";
import { CONTRACT_COMMANDS } from "./contract-commands.ts";
import { budgetsCommand, inDoubtCommand, receiptCommand, resolveCommand } from "./effects.ts";
import { demo, init, welcome } from "./first-steps.ts";
import { intentsCommand } from "./intents.ts";
import { exportCommand, journalCommand, restoredCommand, sealCommand, verifyCommand } from "./journal.ts";
import { pauseCommand, resumeCommand } from "./kill-switch.ts";
import { nodesCommand } from "./nodes.ts";
import { endpointsCommand, notifications } from "./notify.ts";
import { keyFileCommand, serve, views, worker } from "./operations.ts";
import { keys } from "./people/keys.ts";
import { login, loginLink, logout, whoami } from "./people/login.ts";
import { people } from "./people/people.ts";
import { tenantsCommand } from "./people/tenants.ts";
import {
  policyBacktest,
  policyCheck,
  policyExplain,
  policyList,
  policyShow,
  policySuggest,
  policyTest,
} from "./policy/commands.ts";
import { scenariosApply } from "./scenarios.ts";
import type { Command } from "./shell/command.ts";
import { show } from "./show.ts";
import { fork, rollback, start } from "./workflows/operate.ts";
import { run } from "./workflows/run.ts";
import { workflows } from "./workflows/show.ts";

/** The implementation of a contract's command is loaded when it runs. */
const ofContract = (name: keyof typeof CONTRACT_COMMANDS): Command => ({
  ...CONTRACT_COMMANDS[name],
  run: async (context) => (await import("./resource.ts")).runResource(context, name),
});

export const COMMANDS: readonly Command[] = [
  welcome,
  init,
  demo,
  run,
  serve,
  worker,
  nodesCommand,
  start,
  approvalsCommand,
  workflows,
  alertsCommand,
  monitor,
  notifications,
  endpointsCommand,
  show,
  approve,
  reject,
  answer,
  ...ACTS,
  ofContract("grants"),
  budgetsCommand,
  intentsCommand,
  scenariosApply,
  rollback,
  fork,
  journalCommand,
  inDoubtCommand,
  resolveCommand,
  pauseCommand,
  resumeCommand,
  policyCheck,
  policyExplain,
  policyTest,
  policyList,
  policyShow,
  policyBacktest,
  policySuggest,
  receiptCommand,
  verifyCommand,
  sealCommand,
  restoredCommand,
  exportCommand,
  views,
  keyFileCommand,
  people,
  keys,
  tenantsCommand,
  loginLink,
  login,
  logout,
  whoami,
];
