/** What is done to a fleet while it works, drawn from a seed: when, what, to whom and for how long. */
import { createRandom, type Random } from "../../simulator/random.ts";

export const NEMESES = ["kill", "freeze", "stall", "drop", "cut", "crash", "clock"] as const;
export type Nemesis = (typeof NEMESES)[number];

export const WORKERS = ["worker-1", "worker-2", "worker-3"] as const;
export const SERVERS = ["server-1", "server-2"] as const;
export const NODES = [...WORKERS, ...SERVERS] as const;
export type NodeName = (typeof NODES)[number];

/** `up` is what the node says to the database, `down` what it hears. */
export const WAYS = ["up", "down", "both"] as const;
export type Way = (typeof WAYS)[number];

export type Blow = { readonly at: number } & (
  | { readonly kind: "kill" | "freeze" | "cut"; readonly node: NodeName; readonly forMs: number }
  | { readonly kind: "stall" | "drop"; readonly node: NodeName; readonly way: Way; readonly forMs: number }
  | { readonly kind: "crash"; readonly forMs: number }
  | { readonly kind: "clock"; readonly node: NodeName; readonly offsetMs: number }
);

export type Wanted = {
  readonly seed: number;
  readonly seconds: number;
  readonly leaseMs: number;
  readonly nemeses: readonly Nemesis[];
};

export const FIRST_MS = 1_500;
const MOST_OFFSET_MS = 600_000;
const CRASHES_APART_MS = 12_000;
const APART_MS = { least: 500, most: 2_000 } as const;

/** Up to ten minutes either way, seldom less than one. */
export function drawOffset(random: Random): number {
  const size = random.between(60_000, MOST_OFFSET_MS);
  return random.chance(0.5) ? size : -size;
}

function blowOf(kind: Nemesis, at: number, random: Random, leaseMs: number): Blow {
  const node = random.pick(NODES);
  switch (kind) {
    case "kill":
      return { at, kind, node, forMs: random.between(0, 1_000) };
    case "freeze":
      return { at, kind, node, forMs: leaseMs + random.between(200, 2_000) };
    case "cut":
      return { at, kind, node, forMs: random.between(0, 2_000) };
    case "stall":
    case "drop":
      return { at, kind, node, way: random.pick(WAYS), forMs: random.between(300, leaseMs + 1_000) };
    case "crash":
      return { at, kind, forMs: random.between(100, 1_000) };
    case "clock":
      return { at, kind, node, offsetMs: drawOffset(random) };
  }
}

/** Each kind comes once before any comes twice; then as chance will have it, the database's crashes apart. */
export function drawPlan({ seed, seconds, leaseMs, nemeses }: Wanted): readonly Blow[] {
  const random = createRandom(BigInt(seed));
  const end = seconds * 1_000;
  const blows: Blow[] = [];
  const left: Nemesis[] = [...nemeses];
  let crashed = Number.NEGATIVE_INFINITY;
  const spaced = Math.min(APART_MS.most, (end - FIRST_MS) / (nemeses.length + 1));
  for (let at = FIRST_MS; at < end && nemeses.length > 0; ) {
    const isFirst = left.length > 0;
    const kind = isFirst ? (left.splice(random.int(left.length), 1)[0] as Nemesis) : random.pick(nemeses);
    if (isFirst || kind !== "crash" || at - crashed >= CRASHES_APART_MS) {
      blows.push(blowOf(kind, at, random, leaseMs));
      if (kind === "crash") crashed = at;
    }
    at += random.between(Math.min(APART_MS.least, spaced), spaced);
  }
  return blows;
}

/** The clocks that nodes begin with. */
export function drawOffsets({
  seed,
  nemeses,
}: Pick<Wanted, "seed" | "nemeses">): ReadonlyMap<NodeName, number> {
  const random = createRandom(BigInt(seed) ^ 0xc10cn);
  const isOff = nemeses.includes("clock");
  return new Map(NODES.map((node) => [node, isOff ? drawOffset(random) : 0]));
}

export function shown(blow: Blow): string {
  const { at, kind, ...rest } = blow;
  const told = Object.entries(rest).map(([name, value]) => `${name} ${value}`);
  return `${(at / 1_000).toFixed(1)} s ${kind} ${told.join(", ")}`;
}
