/** All commands, in the order of the overview. */

import { ACTS } from "./approvals/acts.ts";
import { answer, approve, reject } from "./approvals/decide.ts";
import { approvalsCommand } from "./approvals/list.ts";
import { completionCommand } from "./completion.ts";
import { inDoubtCommand, receiptCommand, resolveCommand, scenariosApply } from "./effects.ts";
import { demo, init, welcome } from "./first-steps.ts";
import { exportCommand, journalCommand, restoredCommand, sealCommand, verifyCommand } from "./journal.ts";
import { pauseCommand, resumeCommand } from "./kill-switch.ts";
import { login, loginLink, logout, whoami } from "./login.ts";
import { monitor } from "./monitor.ts";
import { keyFileCommand, serve, views, worker } from "./operations.ts";
import {
  policyBacktest,
  policyCheck,
  policyExplain,
  policyList,
  policyShow,
  policySuggest,
  policyTest,
} from "./policy/commands.ts";
import { type Resource, resourceCommand } from "./resource.ts";
import { RESOURCES } from "./resource-table.ts";
import { keysResource, peopleResource, tenantsResource } from "./resources/access.ts";
import { budgetsResource, grantsResource, intentsResource, nodesResource } from "./resources/limits.ts";
import { alertsResource, endpointsResource, notificationsResource } from "./resources/notices.ts";
import type { Command } from "./shell/command.ts";
import { showCommand } from "./show.ts";
import { fork, rollback, start } from "./workflows/operate.ts";
import { run } from "./workflows/run.ts";
import { workflowList } from "./workflows/show.ts";

const ALL_RESOURCES: readonly Resource[] = [workflowList, ...RESOURCES];

export type CommandGroup = { readonly title: string; readonly commands: readonly Command[] };

/** Commands whose place in the overview is chosen; other resources' commands come last in the group that they name. */
const CHOSEN: readonly CommandGroup[] = [
  { title: "First steps", commands: [welcome, init, demo, run] },
  {
    title: "Decide",
    commands: [approvalsCommand, showCommand(ALL_RESOURCES), approve, reject, answer, ...ACTS],
  },
  { title: "Workflows", commands: [resourceCommand(workflowList), start, rollback, fork] },
  {
    title: "Limit what agents may do",
    commands: [
      ...[policyCheck, policyExplain, policyTest, policyList, policyShow, policyBacktest, policySuggest],
      ...[resourceCommand(grantsResource), resourceCommand(budgetsResource), pauseCommand, resumeCommand],
    ],
  },
  {
    title: "Effects and agents",
    commands: [
      inDoubtCommand,
      resolveCommand,
      receiptCommand,
      resourceCommand(intentsResource),
      scenariosApply,
    ],
  },
  {
    title: "Monitor and notify",
    commands: [
      resourceCommand(alertsResource),
      monitor,
      resourceCommand(notificationsResource),
      resourceCommand(endpointsResource),
    ],
  },
  { title: "Evidence", commands: [journalCommand, verifyCommand, sealCommand, exportCommand] },
  {
    title: "Operate",
    commands: [serve, worker, resourceCommand(nodesResource), restoredCommand, views, keyFileCommand],
  },
  {
    title: "People and access",
    commands: [...[peopleResource, keysResource, tenantsResource].map(resourceCommand), loginLink],
  },
  { title: "This machine", commands: [login, logout, whoami, completionCommand(() => COMMANDS)] },
];

function withOthers({ title, commands }: CommandGroup): CommandGroup {
  const isChosen = (name: string) => CHOSEN.some((one) => one.commands.some((other) => other.name === name));
  const others = ALL_RESOURCES.filter(({ name, section }) => section === title && !isChosen(name));
  return { title, commands: [...commands, ...others.map(resourceCommand)] };
}

/** In the order of the overview. */
export const COMMAND_GROUPS: readonly CommandGroup[] = CHOSEN.map(withOthers);

export const COMMANDS: readonly Command[] = COMMAND_GROUPS.flatMap(({ commands }) => commands);
