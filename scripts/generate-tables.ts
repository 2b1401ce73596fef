// Tables of what the capabilities have, found in their folders: streams by kind, contracts, and verbs with the door of each.
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { Contract } from "../src/kernel/contract.ts";
import { STREAM_KINDS, type StreamKind, scopeToRead } from "../src/kernel/registry.ts";

type Found = {
  readonly file: string;
  readonly name: string;
  readonly value: Readonly<Record<string, unknown>>;
};

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

async function exportsOf(files: readonly string[]): Promise<readonly Found[]> {
  const all = await Promise.all(
    files.map(async (file) => {
      const module: object = await import(pathToFileURL(path.resolve(file)).href);
      return Object.entries(module).map(([name, value]) => ({ file, name, value }));
    }),
  );
  return all.flat().filter((one): one is Found => isObject(one.value));
}

const sources = fs
  .readdirSync("src", { recursive: true, encoding: "utf8" })
  .map((file) => path.posix.join("src", file))
  .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"));
const named = (name: string) => sources.filter((file) => path.posix.basename(file) === name);

const inStreams = await exportsOf(named("stream.ts").filter((file) => !file.startsWith("src/kernel/")));
const inContracts = await exportsOf(named("contract.ts").filter((file) => !file.startsWith("src/kernel/")));
const ports = await exportsOf(sources.filter((file) => file.includes("/rules/")));

const byName = (one: string, other: string): number => (one < other ? -1 : 1);

/** A kind that `defineStream` made, or a fold and views that are written by hand. */
function streamOf(kind: StreamKind) {
  const whole = inStreams.find(({ value }) => value["kind"] === kind && "fold" in value);
  const fold = whole ?? inStreams.find(({ name }) => name === `${kind}Fold`);
  if (fold === undefined)
    throw new Error(`no stream.ts exports a stream of the kind "${kind}" or ${kind}Fold`);
  const views = inStreams.filter(({ value }) => value["kind"] === kind && "row" in value);
  const port = ports.find(({ name }) => name === `${kind}Subject`);
  return { kind, whole, fold, views, port };
}

const streams = STREAM_KINDS.map(streamOf);
type Reference = { readonly type: string; readonly meaning: string };
export const references = streams.flatMap(({ kind, whole }) =>
  ((whole?.value["reference"] ?? []) as readonly Reference[]).map((one) => ({ ...one, kind })),
);

const importsOf = (found: readonly Pick<Found, "file" | "name">[]): string =>
  [...Map.groupBy(found, ({ file }) => file)]
    .sort(([one], [other]) => byName(one, other))
    .map(([file, all]) => {
      const names = [...new Set(all.map(({ name }) => name))].sort(byName).join(", ");
      return `import { ${names} } from "${file.replace("src/", "./")}";\n`;
    })
    .join("");

export function streamTable(): string {
  const rows = streams.map(({ kind, whole, fold, port }) => {
    const own = whole === undefined ? fold.name : `${whole.name}.fold`;
    return `  ${kind}: ${port === undefined ? own : `{ ...${own}, port: ${port.name} }`},\n`;
  });
  const views = streams.flatMap(({ whole, views: all }) =>
    whole === undefined ? all.map(({ name }) => `  ${name},\n`) : [`  ...${whole.name}.views,\n`],
  );
  const used = streams.flatMap(({ whole, fold, views: all, port }) => [
    ...(whole === undefined ? [fold, ...all] : [whole]),
    ...(port === undefined ? [] : [port]),
  ]);
  return `/**
 * Made by \`npm run generate\`: the fold of each kind of stream, with the port that lower capabilities call, and every
 * view that a store keeps. Imported by composition, and by the notifier, which waits at an event that no fold here knows.
 */
${importsOf(used)}import type { Folds } from "./states.ts";

export const FOLDS: Folds = {
${rows.join("")}};

export const PROJECTIONS = [
${views.join("")}] as const;
`;
}

const isContract = (value: unknown): value is Contract =>
  isObject(value) && typeof value["owner"] === "string" && isObject(value["verbs"]);

const listed = inContracts
  .filter(({ value }) => isContract(value))
  .toSorted((one, other) => byName(String(one.value["name"]), String(other.value["name"])));
export const contracts = listed.map(({ value }) => value as unknown as Contract);

export function contractTable(): string {
  return `/** Made by \`npm run generate\`: every contract, in the order of their names. */
${importsOf(listed)}
export const CONTRACTS = [${listed.map(({ name }) => name).join(", ")}] as const;
`;
}

/** The commands of a resource are data, in a value of its own. */
export async function resourceTable(): Promise<string> {
  const all = await exportsOf(sources.filter((file) => file.startsWith("src/cli/resources/")));
  const found = all
    .filter(({ value }) => "parts" in value)
    .toSorted((one, other) => byName(one.name, other.name));
  return `/** Made by \`npm run generate\`: every resource whose commands are data. */
${importsOf(found).replaceAll("./cli/", "./")}
export const RESOURCES = [${found.map(({ name }) => name).join(", ")}] as const;
`;
}

/** Verbs load the table of streams, so it has to be written before. */
export async function verbTable(): Promise<string> {
  const inVerbs = await exportsOf(named("verbs.ts").filter((file) => file !== "src/verbs.ts"));
  const rows = inVerbs
    .filter(({ value }) => isContract(value["contract"]))
    .map(({ file, name, value }) => {
      const { name: group, door = "library" } = value["contract"] as Contract;
      const part = file.replace("src/", "./");
      return {
        group,
        door,
        text: `${JSON.stringify(group)}: () => load<typeof import("${part}")>("${part}").${name},\n`,
      };
    })
    .sort((one, other) => byName(one.group, other.group));
  const doors = [...Map.groupBy(rows, ({ door }) => door)].sort(([one], [other]) => byName(one, other));
  const tables = doors.map(
    ([door, all]) => `  ${door}: {\n${all.map(({ text }) => `    ${text}`).join("")}  },\n`,
  );
  return `/** Made by \`npm run generate\`: the verbs of each contract, by where the library has them. They load at their first use. */
import { partLoader } from "./kernel/load-part.ts";

const load = partLoader(import.meta.url);

export const VERBS = {
${tables.join("")}};
`;
}

/** Of each channel, without its code, what the journal calls it and what people read. */
export async function channelTable(): Promise<string> {
  const { CHANNELS } = await import("../src/notify/channels.ts");
  const rows = Object.values(CHANNELS).map(
    ({ kind, title, address, example, hint }) =>
      `  ${kind}: ${JSON.stringify({ kind, title, address, example, hint })},\n`,
  );
  return `/** Made by \`npm run generate\` from \`channels.ts\`: the words of each channel, for the terminal and the desk. */
export const CHANNEL_WORDS = {
${rows.join("")}} as const;
`;
}

const capital = (text: string): string => text.replace(/^./, (first) => first.toUpperCase());

/** Names of the lists of a kind of stream. */
function listsOf({ whole, views }: (typeof streams)[number]): readonly string[] {
  const all = whole?.value["views"] ?? views.map(({ value }) => value);
  return (all as readonly { readonly view: string }[]).map(({ view }) => view);
}

/** A page in `pages/<list>/<list>-page.tsx` needs no entry in `places.ts`. */
const pageOf = (list: string): string => `pages/${list}/${list}-page.tsx`;
const places = fs.readFileSync("dashboard/src/shell/places.ts", "utf8");
const pages = streams
  .flatMap((stream) => listsOf(stream).map((list) => ({ kind: stream.kind, list })))
  .filter(({ list }) => fs.existsSync(`dashboard/src/${pageOf(list)}`) && !places.includes(`to: "/${list}"`));

const icons = fs.readFileSync("dashboard/src/ui/icon.tsx", "utf8");
const iconFor = (list: string): string => (icons.includes(`\n  ${list}:`) ? list : "policy");

/** The first letter of each name that goes to no other page. */
function keysFor(lists: readonly string[]): ReadonlyMap<string, string> {
  const taken = new Set([...places.matchAll(/key: "(\w)"/g)].map(([, key]) => key));
  return new Map(
    lists.map((list) => {
      const key = [...list].find((letter) => !taken.has(letter)) ?? "";
      taken.add(key);
      return [list, key];
    }),
  );
}

export function pageTable(): string {
  const keys = keysFor(pages.map(({ list }) => list));
  const rows = pages.map(({ kind, list }) => {
    const name = capital(list);
    const words = {
      to: `/${list}`,
      name,
      icon: iconFor(list),
      scope: scopeToRead(kind),
      key: keys.get(list),
      of: kind,
    };
    const page = `lazyPage(() => import("../${pageOf(list)}"), "${name}Page")`;
    return `  { ${JSON.stringify(words).slice(1, -1)}, page: ${page} },\n`;
  });
  const imports = rows.length === 0 ? "" : 'import { lazyPage } from "./lazy-page.ts";\n\n';
  return `/** Made by \`npm run generate\`: pages of lists that \`places.ts\` does not name. */
${imports}export const LISTED_PAGES = [
${rows.join("")}] as const;
`;
}

/** The server answers these pages too, and a login leads back to them. */
export function pageNames(): string {
  const names = pages.map(({ list }) => JSON.stringify(list));
  return `/** Made by \`npm run generate\`: names of the pages of lists that the desk makes no route for by hand. */
export const LISTED_PAGES = [${names.join(", ")}] as const;
`;
}
