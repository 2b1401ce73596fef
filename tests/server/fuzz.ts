/** Requests that no client should send, one after the other, to every route. */
import type { OpenApi, Operation } from "../../src/server/reference/openapi.ts";
import type { Bench } from "../fixtures/server.ts";
import { broken, brokenText, oddText, pick, type Random, sample } from "./sample.ts";

type Target = { readonly method: string; readonly path: string; readonly operation: Operation };
export type Report = {
  readonly sent: number;
  readonly byStatus: Map<number, number>;
  readonly bad: string[];
};

function targetsOf({ paths }: OpenApi): readonly Target[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
}

/** Half of a surrogate pair cannot be written in an address. */
const encoded = (text: string): string => encodeURIComponent(text.toWellFormed());

function addressOf({ path, operation }: Target, random: Random): string {
  const filled = path.replaceAll(/\{\w+\}/g, () => encoded(oddText(random)) || "x");
  const query = operation.parameters
    .filter(({ in: place }) => place === "query" && random() < 0.7)
    .map(({ name, schema }) => {
      const value = random() < 0.5 ? sample(schema, random) : oddText(random);
      return `${name}=${encoded(String(value))}`;
    });
  const extra = random() < 0.2 ? [`${encoded(oddText(random))}=${encoded(oddText(random))}`] : [];
  const raw = random() < 0.05 ? pick(random, ["%", "%zz", "//", "/../", "?".repeat(50), "%2e%2e/"]) : "";
  const search = [...query, ...extra].join("&");
  return `${filled}${raw}${search === "" ? "" : `?${search}`}`;
}

function bodyOf({ operation }: Target, random: Random): string | undefined {
  const schema = operation.requestBody?.content["application/json"]?.schema;
  if (schema === undefined) return random() < 0.2 ? "{}" : undefined;
  const value = sample(schema, random);
  const text = JSON.stringify(random() < 0.6 ? broken(value, random) : value) ?? "";
  return random() < 0.25 ? brokenText(text, random) : text;
}

const HEADERS = [
  {},
  { "idempotency-key": "k" },
  { "idempotency-key": "\t".repeat(300) },
  { "content-type": "text/plain" },
  { "content-type": "application/json; charset=utf-16" },
  { "x-request-id": "<b>" },
  { "last-event-id": "x" },
  { "content-length": "5" },
] as const;

/** Streams would stay open. */
const isStream = ({ path }: Target): boolean => path === "/api/events";

export async function fuzz(bench: Bench, count: number, random: Random): Promise<Report> {
  const document = (await bench.ask("/api/openapi.json")).body as unknown as OpenApi;
  const targets = targetsOf(document).filter((target) => !isStream(target));
  const byStatus = new Map<number, number>();
  const bad: string[] = [];
  for (let sent = 0; sent < count; sent++) {
    const target = pick(random, targets);
    const method = random() < 0.95 ? target.method : pick(random, ["GET", "POST", "PUT", "DELETE", "PATCH"]);
    const address = addressOf(target, random);
    const body = method === "GET" ? undefined : bodyOf(target, random);
    const headers = pick(random, HEADERS);
    const answer = await bench.ask(address, {
      method: method as "GET",
      headers,
      ...(body === undefined ? {} : { body }),
    });
    byStatus.set(answer.status, (byStatus.get(answer.status) ?? 0) + 1);
    if (answer.status >= 500) bad.push(`${method} ${address} ${body ?? ""} → ${answer.text}`);
  }
  return { sent: count, byStatus, bad };
}
