/** All the images of one seed: a workload cut at many places, and one that goes on from what such a cut left. */
import { type Chance, chanceOf } from "./chance.ts";
import { examine, withOldIndex } from "./check.ts";
import { type Cut, cutAt } from "./cut.ts";
import { chooseCut, type Moment, momentsOf } from "./cuts.ts";
import { type Image, imageOf } from "./image.ts";
import { type States, statesOf } from "./states.ts";
import { type Fault, type Told, type Workload, work } from "./workload.ts";

export type Tried = {
  readonly seed: number;
  readonly number: number;
  readonly workload: Workload;
  readonly life: 1 | 2;
  readonly cut: Cut;
  readonly image: Image;
  readonly told: readonly Told[];
  readonly oldIndex: boolean;
  readonly moments: readonly Moment[];
  /** Acknowledged commits that are not in the image. */
  readonly lost: number;
  /** Whether the commit that was under way is there. */
  readonly isAhead: boolean;
  readonly wrong: readonly string[];
};

export type TrialOptions = {
  readonly seed: number;
  readonly fault?: Fault | undefined;
  /** Only these images; all unless set. */
  readonly wanted?: (number: number) => boolean;
};

/** Of every seed; the last ones are of the second life. */
export const IMAGES = 25;
export const FIRST_LIFE = 20;
const SECOND_LIFE = 500_000;
const OLD_INDEX_BYTES = 32 * 1024;

export async function* tryAll({ seed, fault, wanted = () => true }: TrialOptions): AsyncGenerator<Tried> {
  const numbers = Array.from({ length: IMAGES }, (_, index) => index).filter(wanted);
  const first = await work({ seed, fault });
  const firstStates = statesOf(first.disk);
  for (const number of numbers.filter((one) => one < FIRST_LIFE))
    yield await tryOne(first, { seed, number, life: 1, states: firstStates });
  const later = numbers.filter((one) => one >= FIRST_LIFE);
  if (later.length === 0) return;
  const chance = chanceOf(seed * 1_000 + IMAGES);
  const { image, told } = imageAt(first, chance);
  const second = await work({ seed: seed + SECOND_LIFE, fault, after: { files: image.files, told } });
  const states = statesOf(second.disk);
  for (const number of later) yield await tryOne(second, { seed, number, life: 2, states });
}

function imageAt(workload: Workload, chance: Chance) {
  const { log } = workload.disk;
  const cut = cutAt(workload.disk, Math.min(chooseCut(log, chance), log.length));
  const marks = log.slice(0, cut.at).filter((op) => op.kind === "mark" && op.mark === "told");
  const told = workload.told.slice(0, workload.toldBefore + marks.length);
  return { cut, told, image: imageOf(cut, chance), moments: momentsOf(log, cut) };
}

type Place = Pick<Tried, "seed" | "number" | "life"> & { readonly states: States };

async function tryOne(workload: Workload, { states, ...place }: Place): Promise<Tried> {
  const chance = chanceOf(place.seed * 1_000 + place.number);
  const { cut, told, image, moments } = imageAt(workload, chance);
  const oldIndex = chance.happens(0.1);
  const files = oldIndex ? withOldIndex(image.files, chance.bytes(OLD_INDEX_BYTES)) : image.files;
  const found = await examine(files, told);
  const acknowledged = states.acknowledged(cut.at);
  const state = found.digest === undefined ? undefined : states.find(found.digest, acknowledged);
  // While the files are made for the first time, nothing was acknowledged and any step may be there.
  const isOpen = acknowledged > 0 || workload.toldBefore > 0;
  const lost = isOpen ? Math.max(0, acknowledged - (state ?? 0)) : 0;
  const wrong = [...found.wrong, ...(isOpen ? comparison(state, lost) : [])];
  const isAhead = isOpen && state === acknowledged + 1;
  return { ...place, workload, cut, image, told, oldIndex, moments, lost, isAhead, wrong };
}

function comparison(state: number | undefined, lost: number): readonly string[] {
  if (state === undefined) return ["the image equals the database after no commit at all"];
  return lost === 0 ? [] : [`${lost} acknowledged commits are missing`];
}
