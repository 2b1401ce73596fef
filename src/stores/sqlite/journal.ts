/** Everything prepared on one connection: what the verbs of this folder work with. */
import type { DatabaseSync } from "node:sqlite";
import type { Folds } from "../../states.ts";
import type { Most } from "../cache.ts";
import type { Projections } from "../project.ts";
import { createMarker, type Marker, prepareAppend, type WritePlan } from "./append.ts";
import { type Artifacts, prepareArtifacts } from "./artifacts.ts";
import { type Heads, prepareHeads } from "./heads.ts";
import { type Names, prepareNames } from "./names.ts";
import type { Patience } from "./patience.ts";
import { prepareReads, type Reads } from "./read.ts";
import { prepareSeals, type Seals } from "./seals.ts";
import { prepareSecrets, type Secrets } from "./secrets.ts";
import { prepareSnapshots } from "./snapshots.ts";
import { prepareTenants, type Tenants } from "./tenants.ts";
import { prepareViews, type Views } from "./views.ts";

export type JournalParts = {
  readonly db: DatabaseSync;
  readonly folds: Folds;
  readonly projections: Projections;
  readonly clock: { now(): number };
  readonly random: (bytes: number) => Uint8Array;
  readonly incarnation: string;
  readonly patience: Patience;
  /** Heads and states kept in memory. */
  readonly mostHeads: Most;
};

export type Journal = JournalParts & {
  readonly tenants: Tenants;
  readonly heads: Heads;
  readonly names: Names;
  readonly artifacts: Artifacts;
  readonly secrets: Secrets;
  readonly views: Views;
  readonly reads: Reads;
  readonly seals: Seals;
  readonly marker: Marker;
  readonly append: WritePlan;
};

export function prepareJournal(parts: JournalParts): Journal {
  const { db, folds, projections, mostHeads } = parts;
  const snapshots = prepareSnapshots(db);
  const heads = prepareHeads({ db, folds, snapshots, most: mostHeads });
  const names = prepareNames(db);
  const artifacts = prepareArtifacts(db);
  const views = prepareViews(db, projections);
  const marker = createMarker();
  return {
    ...parts,
    heads,
    names,
    artifacts,
    views,
    marker,
    tenants: prepareTenants(db),
    secrets: prepareSecrets(db),
    reads: prepareReads(db, parts.patience),
    seals: prepareSeals(db),
    append: prepareAppend({ db, folds, heads, names, artifacts, snapshots, views, marker }),
  };
}
