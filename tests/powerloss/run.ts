/** `npm run powerloss`: cuts the power at many places, and shows that a store which is less careful would be found out. */
import { parseArgs } from "node:util";
import { cutJobs, faultJobs, keep } from "./job.ts";
import { describe, linesOf, neverSeen, type Summary, startCounting } from "./summary.ts";
import { inThreads } from "./threads.ts";
import { FIRST_LIFE, IMAGES, tryAll } from "./trial.ts";
import { FAULTS, type Fault } from "./workload.ts";

const HELP = `npm run powerloss -- [--images <n>] [--seed <n>] [--image <n>]

Runs the SQLite store on a disk that logs every write and sync, cuts the power at random places, and opens what a disk
may then hold with the real store: every acknowledged commit has to be there, whole, and everything has to verify. The
same is then done with faults built in, which have to be found.

  --images <n>  how many images (1000)
  --seed <n>    the first workload's seed (1); each has ${IMAGES} images
  --image <n>   only this image of the seed, in detail
`;

/** In this many, everything that can happen has happened. */
const LEAST_IMAGES = 500;
const LEAST_CONTROL = 100;

async function showOne(seed: number, image: number): Promise<number> {
  for await (const tried of tryAll({ seed, wanted: (number) => number === image })) {
    const { settings, told } = tried.workload;
    console.log(describe(tried));
    console.log({ settings, ways: tried.image.ways, dropped: tried.image.dropped, torn: tried.image.torn });
    console.log({ told: tried.told.length, ofAll: told.length, image: keep(tried) });
    return tried.wrong.length === 0 ? 0 : 1;
  }
  return 2;
}

async function cutPower(images: number, seed: number): Promise<Summary> {
  const counting = startCounting();
  let said = Date.now();
  await inThreads(cutJobs(images, seed), (_, sights) => {
    for (const sight of sights) {
      counting.add(sight);
      if (sight.isWrong) console.log(sight.text);
    }
    if (Date.now() - said < 5_000) return;
    said = Date.now();
    process.stderr.write(`${counting.images} of ${images} images\n`);
  });
  return counting;
}

type Control = { images: number; found: number; imagesLost: number; commitsLost: number };

/** How often each fault shows. */
async function tryFaults(images: number, seed: number): Promise<ReadonlyMap<Fault, Control>> {
  const controls = new Map<Fault, Control>();
  for (const fault of FAULTS) controls.set(fault, { images: 0, found: 0, imagesLost: 0, commitsLost: 0 });
  const share = (fault: Fault) =>
    fault === "synchronous_normal" ? Math.max(LEAST_CONTROL, images / 10) : FIRST_LIFE;
  const jobs = FAULTS.flatMap((fault) => faultJobs(fault, share(fault), seed));
  await inThreads(jobs, ({ fault }, sights) => {
    const control = fault && controls.get(fault);
    if (control === undefined) return;
    control.images += sights.length;
    control.found += sights.filter(({ isWrong }) => isWrong).length;
    control.imagesLost += sights.filter(({ lost }) => lost > 0).length;
    control.commitsLost += sights.reduce((sum, { lost }) => sum + lost, 0);
  });
  return controls;
}

async function showAll(images: number, seed: number): Promise<number> {
  const began = Date.now();
  const summary = await cutPower(images, seed);
  for (const line of linesOf(summary)) console.log(line);
  const unseen = neverSeen(summary);
  const few = images < LEAST_IMAGES ? " (not judged in so few images)" : "";
  for (const what of unseen) console.log(`never seen: ${what}${few}`);
  console.log("with faults built in:");
  let blind = 0;
  for (const [fault, control] of await tryFaults(images, seed)) {
    const { found, imagesLost, commitsLost } = control;
    if (found === 0 || (fault === "synchronous_normal" && imagesLost === 0)) blind++;
    const shown = `seen in ${found} of ${control.images} images`;
    console.log(`  ${fault.padEnd(18)}  ${shown}; ${imagesLost} lost ${commitsLost} acknowledged commits`);
  }
  console.log(`${Math.round((Date.now() - began) / 1000)} s`);
  if (blind > 0) console.log(`${blind} faults went unnoticed: this run shows nothing`);
  return summary.wrong.length + blind === 0 && (few !== "" || unseen.length === 0) ? 0 : 1;
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      images: { type: "string", default: "1000" },
      seed: { type: "string", default: "1" },
      image: { type: "string" },
      help: { type: "boolean" },
    },
  });
  const numbers = [values.images, values.seed, values.image ?? "0"];
  if (values.help === true || !numbers.every((text) => /^\d{1,5}$/.test(text))) {
    process.stderr.write(HELP);
    process.exit(values.help === true ? 0 : 2);
  }
  const [images = 0, seed = 0, image = 0] = numbers.map(Number);
  process.exitCode = values.image === undefined ? await showAll(images, seed) : await showOne(seed, image);
}
