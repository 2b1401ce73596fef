/** Every command, in the order of the overview. */
import { alerts } from "./alerts.ts";
import { ACTS } from "./approvals/acts.ts";
import { answer, approve, reject } from "./approvals/decide.ts";
import { approvals } from "./approvals/list.ts";
import { budgets } from "./budgets.ts";
import type { Command } from "./command.ts";
import { CONTRACT_COMMANDS } from "./contract-commands.ts";
import { demo } from "./demo.ts";
import { endpoints } from "./endpoints.ts";
import { exportCommand } from "./export.ts";
import { fork } from "./fork.ts";
import { go } from "./go.ts";
import { inDoubt } from "./in-doubt.ts";
import { init } from "./init.ts";
import { intents } from "./intents.ts";
import { journal } from "./journal.ts";
import { keyFileCommand } from "./key-file.ts";
import { keys } from "./keys.ts";
import { login } from "./login.ts";
import { loginLink } from "./login-link.ts";
import { logout } from "./logout.ts";
import { monitor } from "./monitor.ts";
import { nodes } from "./nodes.ts";
import { notifications } from "./notifications.ts";
import { people } from "./people.ts";
import { policyBacktest } from "./policy/backtest.ts";
import { policyCheck } from "./policy/check.ts";
import { policyExplain } from "./policy/explain.ts";
import { policyList } from "./policy/list.ts";
import { policyShow } from "./policy/show.ts";
import { policySuggest } from "./policy/suggest.ts";
import { policyTest } from "./policy/test.ts";
import { receipt } from "./receipt.ts";
import { resolve } from "./resolve.ts";
import { restored } from "./restored.ts";
import { rollback } from "./rollback.ts";
import { run } from "./run.ts";
import { scenariosApply } from "./scenario/apply.ts";
import { seal } from "./seal.ts";
import { serve } from "./serve.ts";
import { show } from "./show.ts";
import { start } from "./start.ts";
import { stop } from "./stop.ts";
import { tenants } from "./tenants.ts";
import { verify } from "./verify.ts";
import { views } from "./views.ts";
import { welcome } from "./welcome.ts";
import { whoami } from "./whoami.ts";
import { worker } from "./worker.ts";
import { workflows } from "./workflows.ts";

/** What a contract's command does is loaded when it runs. */
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
  nodes,
  start,
  approvals,
  workflows,
  alerts,
  monitor,
  notifications,
  endpoints,
  show,
  approve,
  reject,
  answer,
  ...ACTS,
  ofContract("grants"),
  budgets,
  intents,
  scenariosApply,
  rollback,
  fork,
  journal,
  inDoubt,
  resolve,
  stop,
  go,
  policyCheck,
  policyExplain,
  policyTest,
  policyList,
  policyShow,
  policyBacktest,
  policySuggest,
  receipt,
  verify,
  seal,
  restored,
  exportCommand,
  views,
  keyFileCommand,
  people,
  keys,
  tenants,
  loginLink,
  login,
  logout,
  whoami,
];
