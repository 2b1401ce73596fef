/** All commands, in the order of the overview. */

import { alertsCommand, monitor } from "./alerts.ts";
import { ACTS } from "./approvals/acts.ts";
import { answer, approve, reject } from "./approvals/decide.ts";
import { approvalsCommand } from "./approvals/list.ts";
import { completionCommand } from "./completion.ts";
import { CONTRACT_COMMANDS } from "./contract-commands.ts";
import { budgetsCommand, inDoubtCommand, receiptCommand, resolveCommand } from "./effects.ts";
import { demo, init, welcome } from "./first-steps.ts";
import { intentsCommand } from "./intents.ts";
import { exportCommand, journalCommand, restoredCommand, sealCommand, verifyCommand } from "./journal.ts";
import { pauseCommand, resumeCommand } from "./kill-switch.ts";
import { nodesCommand } from "./nodes.ts";
import { endpointsCommand, notifications } from "./notify.ts";
import { keyFileCommand, serve, views, worker } from "./operations.ts";
import { keysCommand } from "./people/keys.ts";
import { login, loginLink, logout, whoami } from "./people/login.ts";
import { peopleCommand } from "./people/people.ts";
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
import { workflowsCommand } from "./workflows/show.ts";

/** The implementation of a contract's command is loaded when it runs. */
const ofContract = (name: keyof typeof CONTRACT_COMMANDS): Command => ({
  ...CONTRACT_COMMANDS[name],
  run: async (context) => (await import("./resource.ts")).runResource(context, name),
});

export type CommandGroup = { readonly title: string; readonly commands: readonly Command[] };

/** Commands whose place in the overview is chosen; other contracts' commands come last in the group that they name. */
const CHOSEN: readonly CommandGroup[] = [
  { title: "First steps", commands: [welcome, init, demo, run] },
  { title: "Decide", commands: [approvalsCommand, show, approve, reject, answer, ...ACTS] },
  { title: "Workflows", commands: [workflowsCommand, start, rollback, fork] },
  {
    title: "Limit what agents may do",
    commands: [
      ...[policyCheck, policyExplain, policyTest, policyList, policyShow, policyBacktest, policySuggest],
      ...[ofContract("grants"), budgetsCommand, pauseCommand, resumeCommand],
    ],
  },
  {
    title: "Effects and agents",
    commands: [inDoubtCommand, resolveCommand, receiptCommand, intentsCommand, scenariosApply],
  },
  { title: "Monitor and notify", commands: [alertsCommand, monitor, notifications, endpointsCommand] },
  { title: "Evidence", commands: [journalCommand, verifyCommand, sealCommand, exportCommand] },
  { title: "Operate", commands: [serve, worker, nodesCommand, restoredCommand, views, keyFileCommand] },
  { title: "People and access", commands: [peopleCommand, keysCommand, tenantsCommand, loginLink] },
  { title: "This machine", commands: [login, logout, whoami, completionCommand(() => COMMANDS)] },
];

function withContracts({ title, commands }: CommandGroup): CommandGroup {
  const isChosen = (name: string) => CHOSEN.some((one) => one.commands.some((other) => other.name === name));
  const names = Object.keys(CONTRACT_COMMANDS) as (keyof typeof CONTRACT_COMMANDS)[];
  const more = names.filter((name) => CONTRACT_COMMANDS[name].group === title && !isChosen(name));
  return { title, commands: [...commands, ...more.map(ofContract)] };
}

/** In the order of the overview. */
export const COMMAND_GROUPS: readonly CommandGroup[] = CHOSEN.map(withContracts);

export const COMMANDS: readonly Command[] = COMMAND_GROUPS.flatMap(({ commands }) => commands);
