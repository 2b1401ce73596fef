/** A workflow as the simulator starts it. */
import type { Workflow } from "../../engine/workflow/definition.ts";

export type SimWorkflow = Workflow<{ readonly n: number }, number>;
