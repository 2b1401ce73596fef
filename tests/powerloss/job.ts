/** The images of one seed, tried in this thread or another, and what was seen in them: small enough to be handed over. */
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { type Sight, sightOf } from "./summary.ts";
import { FIRST_LIFE, IMAGES, type Tried, tryAll } from "./trial.ts";
import type { Fault } from "./workload.ts";

export type Job = {
  readonly seed: number;
  readonly fault: Fault | undefined;
  /** The numbers of its images, the last one not included. */
  readonly from: number;
  readonly to: number;
};

export async function doJob({ seed, fault, from, to }: Job): Promise<readonly Sight[]> {
  const sights: Sight[] = [];
  for await (const tried of tryAll({ seed, fault, wanted: (number) => number >= from && number < to })) {
    const kept = tried.wrong.length > 0 && fault === undefined ? keep(tried) : undefined;
    sights.push(sightOf(tried, kept));
  }
  return sights;
}

/** Something to look at with other tools. */
export function keep({ seed, number, image }: Tried): string {
  const folder = path.join(os.tmpdir(), `holdpoint-powerloss-${seed}-${number}`);
  fs.mkdirSync(folder, { recursive: true });
  for (const [name, bytes] of image.files) fs.writeFileSync(path.join(folder, name), bytes);
  return folder;
}

/** The last seed may have fewer; those of its second life are among them. */
export function cutJobs(images: number, seed: number): readonly Job[] {
  return Array.from({ length: Math.ceil(images / IMAGES) }, (_, index) => {
    const left = images - index * IMAGES;
    return { seed: seed + index, fault: undefined, from: Math.max(0, IMAGES - left), to: IMAGES };
  });
}

/** No second life: what a faulty store leaves may be beyond use. */
export function faultJobs(fault: Fault, images: number, seed: number): readonly Job[] {
  return Array.from({ length: Math.ceil(images / FIRST_LIFE) }, (_, index) => {
    return { seed: seed + index, fault, from: 0, to: FIRST_LIFE };
  });
}
