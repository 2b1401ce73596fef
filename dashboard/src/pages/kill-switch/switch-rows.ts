/** What is stopped, as the server lists it, and then who may act of those that are known here. */
import type { Stop, Whose } from "../../api/switch.ts";

export type Row = {
  readonly name: string;
  readonly whose: Whose;
  /** null: it may act. */
  readonly stop: Stop | null;
};

/** The tenant's own stop has a place of its own. */
function stoppedRow(stop: Stop): readonly Row[] {
  const { agent, workflow_id } = stop;
  if (workflow_id !== null) return [{ name: workflow_id, whose: { workflow_id }, stop }];
  return agent === null ? [] : [{ name: agent, whose: { agent }, stop }];
}

export function switchRows(stops: readonly Stop[], agents: readonly string[]): readonly Row[] {
  const stopped = stops.flatMap(stoppedRow);
  const names = new Set(stopped.map(({ name }) => name));
  const others = agents.filter((agent) => !names.has(agent));
  return [...stopped, ...others.map((agent) => ({ name: agent, whose: { agent }, stop: null }))];
}
