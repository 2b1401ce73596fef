/** Whether anything was lost, doubled or left behind: by the journal, by the receiver, and by what clients were told. */
import { holdpoint } from "../../../src/index.ts";
import type { Store } from "../../../src/stores/store.ts";
import { until } from "../../fixtures/until.ts";
import type { Fleet } from "../../fleet/nodes.ts";
import type { Load } from "./load.ts";
import { OLDER } from "./older-build.ts";

export type Findings = {
  readonly orders: number;
  /** Orders that nodes of both versions had a part in. */
  readonly across: number;
  readonly lost: readonly string[];
  readonly doubled: readonly string[];
  readonly stuck: readonly string[];
  readonly wrong: readonly string[];
};

type Given = {
  readonly fleet: Fleet;
  readonly store: Store;
  readonly load: Load;
  readonly came: ReadonlyMap<string, number>;
  /** How the older nodes ended. */
  readonly ends: readonly (number | string)[];
  readonly said: readonly string[];
};

const PARTS = ["first", "rest"];

type Entry = { readonly type: string; readonly body: Record<string, unknown> };

async function entriesOf(store: Store, kind: "workflow" | "epoch", id: string): Promise<readonly Entry[]> {
  const entries = await store.read("default", { kind, id });
  return entries.map(({ header, body }) => ({
    type: JSON.parse(header).type,
    body: JSON.parse(body ?? "{}"),
  }));
}

async function versionsOf(
  store: Store,
  id: string,
  known: Map<string, string>,
): Promise<ReadonlySet<string>> {
  const epochs = (await entriesOf(store, "workflow", id)).flatMap(({ body }) =>
    typeof body["epoch"] === "string" ? body["epoch"] : [],
  );
  for (const epoch of epochs) {
    if (known.has(epoch)) continue;
    const [opened] = await entriesOf(store, "epoch", epoch);
    const node = opened?.body["node"] as { readonly version?: string } | undefined;
    known.set(epoch, String(node?.version));
  }
  return new Set(epochs.map((epoch) => known.get(epoch) ?? ""));
}

function parcelsOf({ load, came }: Given): Pick<Findings, "lost" | "doubled"> {
  const parcels = [...load.started.keys()].flatMap((n) => PARTS.map((part) => `${n} ${part}`));
  const strange = [...came.keys()].filter((parcel) => !parcels.includes(parcel));
  return {
    lost: parcels.filter((parcel) => !came.has(parcel)).map((parcel) => `${parcel} never came`),
    doubled: [
      ...parcels.filter((parcel) => (came.get(parcel) ?? 0) > 1).map((parcel) => `${parcel} came twice`),
      ...strange.map((parcel) => `${parcel} was never acknowledged`),
    ],
  };
}

/** A machine that is busy with other things may keep a node from its lease: that is no fault of the upgrade. */
const LINES = /"level":"(?:warn|error)"(?![^\n]*epoch_ended)[^\n]*/g;

export async function checkRun(given: Given): Promise<Findings> {
  const { fleet, store, load, ends, said } = given;
  const hp = holdpoint({ database: fleet.server.url, keyFile: fleet.keyFile, notify: () => undefined });
  const stuck: string[] = [];
  const wrong: string[] = ends.filter((end) => end !== 0).map((end) => `an older node ended with ${end}`);
  const known = new Map<string, string>();
  let across = 0;
  for (const [n, id] of load.started) {
    const ended = await until(
      async () => ((await hp.workflows.get(id)).end === null ? undefined : true),
      "an end",
    )
      .then(() => true)
      .catch(() => false);
    const { status, end, waits } = await hp.workflows.get(id);
    if (!ended) stuck.push(`${id} is ${status} and waits for ${JSON.stringify(waits)}`);
    else if (end?.status !== "completed") wrong.push(`order ${n} ended as ${JSON.stringify(end)}`);
    const versions = await versionsOf(store, id, known);
    if (versions.size > 1 && versions.has(OLDER)) across++;
  }
  for (const id of load.decided) {
    const { status } = await hp.approvals.get(id);
    if (status !== "consumed") wrong.push(`${id} was decided and is ${status}`);
  }
  const { findings } = await hp.journal.verify();
  wrong.push(...findings.map((finding) => JSON.stringify(finding)));
  wrong.push(...said.flatMap((text) => [...text.matchAll(LINES)].map(([line]) => line)));
  await hp.close();
  return { orders: load.started.size, across, ...parcelsOf(given), stuck, wrong };
}
