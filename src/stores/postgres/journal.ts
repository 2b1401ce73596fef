/** Everything prepared for one schema: what the verbs of this folder work with. */
import type { Folds } from "../../states.ts";
import { createCache, type Most } from "../cache.ts";
import type { Projections } from "../project.ts";
import type { Home } from "../store.ts";
import { type Append, prepareAppend } from "./append.ts";
import { type Artifacts, prepareArtifacts } from "./artifacts.ts";
import type { Ask } from "./ask.ts";
import { type Claims, prepareClaims } from "./claim.ts";
import { type Epochs, prepareEpochs } from "./epochs.ts";
import { type Grounds, prepareGrounds } from "./ground.ts";
import { createHabits, type Habits } from "./habits.ts";
import { type Heads, prepareHeads } from "./heads.ts";
import { prepareHome } from "./home.ts";
import type { LockSpace } from "./locks.ts";
import { type Moves, prepareMoves } from "./moves.ts";
import type { PostgresHooks } from "./options.ts";
import { prepareReads, type Reads } from "./read.ts";
import { prepareSeals, type Seals } from "./seals.ts";
import { prepareSecrets, type Secrets } from "./secrets.ts";
import { quoted } from "./tables.ts";
import { prepareTenants, type Tenants } from "./tenants.ts";
import { prepareViews, type Views } from "./views.ts";

export type JournalParts = {
  readonly asking: Ask;
  /** As it was given, not quoted. */
  readonly schema: string;
  readonly folds: Folds;
  readonly projections: Projections;
  readonly random: (bytes: number) => Uint8Array;
  readonly clock?: { now(): number };
  readonly incarnation: string;
  /** Its first name, by which processes know each other's locks whatever it is called now. */
  readonly born: string;
  readonly leaseMs: number;
  readonly mostHeads: Most;
  readonly hooks: PostgresHooks;
  /** Throws if the schema was brought to a layout that this program may not use. */
  checkLayout(seen: string): Promise<void>;
  committed(): void;
};

export type Journal = Omit<JournalParts, "asking"> &
  Ask & {
    readonly space: LockSpace;
    readonly tenants: Tenants;
    readonly heads: Heads;
    readonly grounds: Grounds;
    readonly views: Views;
    readonly artifacts: Artifacts;
    readonly append: Append;
    readonly reads: Reads;
    readonly moves: Moves;
    readonly seals: Seals;
    readonly secrets: Secrets;
    readonly epochs: Epochs;
    readonly claim: Claims;
    readonly home: Home;
    habits(tid: number): Habits;
  };

export function spaceOf(born: string): LockSpace {
  return { seed: Number.parseInt(born.slice(0, 8), 16) | 0 };
}

function habitsOf(): (tid: number) => Habits {
  const habits = createCache<Habits>({ count: 2_000, size: Number.POSITIVE_INFINITY }, () => 1);
  return (tid) => {
    const known = habits.get(String(tid)) ?? createHabits();
    habits.set(String(tid), known);
    return known;
  };
}

export function prepareJournal({ asking, ...parts }: JournalParts): Journal {
  const { folds, projections } = parts;
  const schema = quoted(parts.schema);
  const space = spaceOf(parts.born);
  const views = prepareViews(asking, schema, projections);
  const artifacts = prepareArtifacts(asking, schema);
  return {
    ...asking,
    ...parts,
    schema,
    space,
    views,
    artifacts,
    tenants: prepareTenants(asking, schema),
    heads: prepareHeads({ schema, folds, most: parts.mostHeads }),
    grounds: prepareGrounds({ enter: asking.enter, views, schema, space }),
    append: prepareAppend({ schema, folds, views, artifacts }),
    reads: prepareReads(asking, schema),
    moves: prepareMoves(asking, schema),
    seals: prepareSeals(asking, { ...parts, schema, space }),
    secrets: prepareSecrets(asking, schema),
    epochs: prepareEpochs(asking, { ...parts, schema }),
    claim: prepareClaims(asking, { ...parts, schema }),
    home: prepareHome(asking, schema),
    habits: habitsOf(),
  };
}
