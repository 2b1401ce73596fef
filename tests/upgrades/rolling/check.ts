/** Whether anything was lost, doubled or left behind: by the journal, by the receiver, and by the answers that clients got. */
import { type Holdpoint, holdpoint } from "../../../src/index.ts";
import type { Store } from "../../../src/stores/store.ts";
import { until } from "../../fixtures/until.ts";
import type { Fleet, Node } from "../../fleet/nodes.ts";
import type { Load } from "./load.ts";

export type Findings = {
  readonly orders: number;
  /** Actions that an agent outside performed by a permit. */
  readonly letters: number;
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
  readonly older: readonly Node[];
  readonly newer: readonly Node[];
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

/** The processes that had a part in a workflow, by the epochs in its journal. */
async function pidsIn(store: Store, id: string, known: Map<string, number>): Promise<readonly number[]> {
  const epochs = (await entriesOf(store, "workflow", id)).flatMap(({ body }) =>
    typeof body["epoch"] === "string" ? body["epoch"] : [],
  );
  for (const epoch of epochs) {
    if (known.has(epoch)) continue;
    const [opened] = await entriesOf(store, "epoch", epoch);
    known.set(epoch, Number(String(opened?.body["process"]).split("/").at(-1)));
  }
  return epochs.map((epoch) => known.get(epoch) ?? 0);
}

function parcelsOf({ load, came }: Given): Pick<Findings, "lost" | "doubled"> {
  const ordered = [...load.started.keys()].flatMap((n) => PARTS.map((part) => `${n} ${part}`));
  const parcels = [...ordered, ...[...load.letters.keys()].map((n) => `${n} letter`)];
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
/** What an older node may say, once of each thing: a newer node wrote what it cannot read, or what its definition does not fit. */
const LEFT_ALONE = /unknown_event|definition_changed/;
/** Why a client may have to ask another server: this one has ended, is about to end, or cannot read what a newer one wrote. */
const TURNED_AWAY = ["no answer", "503 closed", "503 Service Unavailable", "503 unknown_event"];

const linesOf = (node: Node): readonly string[] => [...node.said().matchAll(LINES)].map(([line]) => line);

function wrongLines({ older, newer, load }: Given): readonly string[] {
  const isWrong = (line: string, index: number, all: readonly string[]) =>
    !LEFT_ALONE.test(line) || all.indexOf(line) !== index;
  const strange = [...load.turnedAway.keys()].filter((why) => !TURNED_AWAY.includes(why));
  return [
    ...newer.flatMap(linesOf),
    ...older.flatMap((node) => linesOf(node).filter(isWrong)),
    ...strange.map((why) => `a request was answered with ${why}`),
  ];
}

async function checkLetters(hp: Holdpoint, { letters }: Load): Promise<readonly string[]> {
  const wrong: string[] = [];
  for (const [n, { action, end }] of letters) {
    const { phase } = await hp.actions.get(action);
    if (end !== "reported" || phase !== "applied") wrong.push(`letter ${n} is ${phase}, its agent: ${end}`);
  }
  return wrong;
}

const hasEnded = async (hp: Holdpoint, id: string) => (await hp.workflows.get(id)).end !== null;

const endsSoon = (hp: Holdpoint, id: string): Promise<boolean> =>
  until(async () => ((await hasEnded(hp, id)) ? true : undefined), "an end").catch(() => false);

export async function checkRun(given: Given): Promise<Findings> {
  const { fleet, store, load, ends, older } = given;
  const hp = holdpoint({ database: fleet.server.url, keyFile: fleet.keyFile, notify: () => undefined });
  const stuck: string[] = [];
  const wrong: string[] = ends.filter((end) => end !== 0).map((end) => `an older node ended with ${end}`);
  const known = new Map<string, number>();
  const olderPids = new Set(older.map(({ pid }) => pid));
  let across = 0;
  for (const [n, id] of load.started) {
    // Where one is stuck nobody waits a minute for each of the others.
    const ended = stuck.length > 0 ? await hasEnded(hp, id) : await endsSoon(hp, id);
    const { status, end, waits } = await hp.workflows.get(id);
    if (!ended) stuck.push(`${id} is ${status} and waits for ${JSON.stringify(waits)}`);
    else if (end?.status !== "completed") wrong.push(`order ${n} ended as ${JSON.stringify(end)}`);
    const fromOlder = (await pidsIn(store, id, known)).map((pid) => olderPids.has(pid));
    if (fromOlder.includes(true) && fromOlder.includes(false)) across++;
  }
  for (const id of load.decided) {
    const { status } = await hp.approvals.get(id);
    if (status !== "consumed") wrong.push(`${id} was decided and is ${status}`);
  }
  const { findings } = await hp.journal.verify();
  wrong.push(...findings.map((finding) => JSON.stringify(finding)));
  wrong.push(...wrongLines(given), ...(await checkLetters(hp, load)));
  await hp.close();
  return { orders: load.started.size, letters: load.letters.size, across, ...parcelsOf(given), stuck, wrong };
}
