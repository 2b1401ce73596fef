/** The API reference: the OpenAPI document for programs, and a page for people, rendered here without a script. */

import { createHash } from "node:crypto";
import { z } from "zod";
import { nextTurn, runYielding } from "../../runtime/concurrency.ts";
import {
  type JsonSchema,
  type OpenApi,
  type OpenApiOperation,
  type OpenApiParameter,
  openApiIn,
} from "../openapi.ts";
import { contentPolicy } from "../reply.ts";
import { publicRoute, type Route } from "../route.ts";
import { html, type Markup, REFERENCE_STYLE } from "./plain-pages.ts";

type ListedOperation = {
  readonly method: string;
  readonly path: string;
  readonly operation: OpenApiOperation;
  readonly anchor: string;
};

const DEEPEST = 6;

function listed({ paths }: OpenApi): readonly ListedOperation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...{ method, path, operation },
      anchor: operation.operationId,
    })),
  );
}

const isObject = (value: unknown): value is JsonSchema => typeof value === "object" && value !== null;
const choicesOf = ({ anyOf, oneOf }: JsonSchema): readonly JsonSchema[] =>
  [anyOf, oneOf].flatMap((list) => (Array.isArray(list) ? list.filter(isObject) : []));

/** Short form: `string`, `list of object`, `"a" or "b"`, `string or null`. */
function typeText(schema: JsonSchema): string {
  const choices = choicesOf(schema);
  if (choices.length > 0) return [...new Set(choices.map(typeText))].join(" or ");
  if (Array.isArray(schema["enum"])) return schema["enum"].map((value) => JSON.stringify(value)).join(" or ");
  if ("const" in schema) return JSON.stringify(schema["const"]);
  const { type, items } = schema;
  if (type === "array" && isObject(items)) return `list of ${typeText(items)}`;
  return typeof type === "string" ? type : "JSON";
}

function limitsText(schema: JsonSchema): string {
  const { default: fallback, minimum, maximum, maxLength } = schema;
  return [
    fallback === undefined ? "" : `${JSON.stringify(fallback)} unless set`,
    typeof minimum === "number" && minimum > -1e15 ? `at least ${minimum}` : "",
    typeof maximum === "number" && maximum < 1e15 ? `at most ${maximum}` : "",
    typeof maxLength === "number" ? `at most ${maxLength} characters` : "",
  ]
    .filter((part) => part !== "")
    .join(", ");
}

function fieldTerm(name: string, schema: JsonSchema, isNeeded: boolean): Markup {
  const { description } = schema;
  const words = [typeof description === "string" ? description : "", limitsText(schema)].filter(Boolean);
  return html`<dt><code${isNeeded ? html` class="needed"` : null}>${name}</code><span class="type">${typeText(schema)}</span></dt>${
    words.length === 0 ? null : html`<dd>${words.join("; ")}</dd>`
  }`;
}

/** Fields of an object, or of the elements of a list or a choice. */
function fieldsOf(schema: JsonSchema, depth = 0): Markup | null {
  const { properties, required, items } = schema;
  if (depth > DEEPEST) return null;
  const parts = choicesOf(schema).flatMap((choice) => fieldsOf(choice, depth) ?? []);
  if (parts.length > 0) return html`${parts}`;
  if (isObject(items)) return fieldsOf(items, depth);
  if (!isObject(properties)) return null;
  const needed = Array.isArray(required) ? required : [];
  const rows = Object.entries(properties).flatMap(([name, field]) => {
    if (!isObject(field)) return [];
    const inner = fieldsOf(field, depth + 1);
    const isNeeded = depth === 0 && needed.includes(name);
    return [fieldTerm(name, field, isNeeded), ...(inner === null ? [] : [html`<dd>${inner}</dd>`])];
  });
  return html`<dl class="fields">${rows}</dl>`;
}

function parameterTerm({ name, required, description, schema, in: place }: OpenApiParameter): Markup {
  const about = place === "header" ? `${description ?? ""} (header)` : description;
  return fieldTerm(name, about === undefined ? schema : { ...schema, description: about }, required);
}

type Answered = { readonly description?: string; readonly content?: { readonly [type: string]: unknown } };

function answerOf(status: string, answer: unknown): Markup | null {
  if (status === "default") return null;
  const { description, content = {} } = answer as Answered;
  const schema = (content["application/json"] as { schema?: JsonSchema } | undefined)?.schema;
  const fields = schema === undefined ? null : fieldsOf(schema);
  return html`<h4>Answer ${status}</h4>${fields ?? html`<p>${description ?? ""}</p>`}`;
}

function partsOf({ parameters, requestBody, responses }: OpenApiOperation): readonly (Markup | null)[] {
  const body = requestBody?.content["application/json"]?.schema;
  return [
    parameters.length === 0
      ? null
      : html`<h4>Parameters</h4><dl class="fields">${parameters.map(parameterTerm)}</dl>`,
    body === undefined ? null : html`<h4>Body</h4>${fieldsOf(body)}`,
    html`${Object.entries(responses).map(([status, answer]) => answerOf(status, answer))}`,
  ];
}

function scopeText({ "x-scope": scope, "x-or-scope": other }: OpenApiOperation): string {
  if (scope === null) return "without a credential";
  if (other !== undefined) return `scope ${scope} or ${other}`;
  return scope === "any" ? "any credential" : `scope ${scope}`;
}

function operationHtml({ method, path, operation, anchor }: ListedOperation): Markup {
  const { summary, description } = operation;
  return html`<article id="${anchor}"><header><h3><span class="method ${method}">${method.toUpperCase()}</span><code>${path}</code><span class="scope">${scopeText(operation)}</span></h3><p>${summary}.</p>${
    description === undefined ? null : html`<p class="scope">${description}</p>`
  }</header><div class="parts">${partsOf(operation)}</div></article>`;
}

function navigation(all: readonly ListedOperation[], tags: readonly string[]): Markup {
  const group = (tag: string) => {
    const own = all.filter(({ operation }) => operation.tags.includes(tag));
    const links = own.map(
      ({ anchor, operation }) => html`<li><a href="#${anchor}">${operation.summary}</a></li>`,
    );
    return html`<h2>${tag}</h2><ol>${links}</ol>`;
  };
  return html`<nav aria-label="Routes"><a href="#top"><strong>Holdpoint</strong></a>${tags.map(group)}</nav>`;
}

/** One operation per step. */
function* sectionsIn(
  all: readonly ListedOperation[],
  tags: readonly string[],
): Generator<void, readonly Markup[]> {
  const sections: Markup[] = [];
  for (const tag of tags) {
    const own: Markup[] = [];
    for (const one of all.filter(({ operation }) => operation.tags.includes(tag))) {
      own.push(operationHtml(one));
      yield;
    }
    sections.push(html`<section><h2>${tag}</h2>${own}</section>`);
  }
  return sections;
}

function* referencePageIn(document: OpenApi): Generator<void, string> {
  const all = listed(document);
  const tags = document.tags.map(({ name }) => name);
  const { title, version, description } = document.info;
  const sections = yield* sectionsIn(all, tags);
  const style: Markup = { html: `<style>${REFERENCE_STYLE}</style>` };
  return html`<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title} ${version}: HTTP reference</title>${style}</head><body id="top"><div class="page">${navigation(all, tags)}<main><h1>HTTP reference</h1><p class="lead">${description}</p><p class="lead">Version ${version}. For programs: <a href="/api/openapi.json">OpenAPI 3.1</a>.</p>${sections}</main></div></body></html>
`.html;
}

const styleHash = createHash("sha256").update(REFERENCE_STYLE).digest("base64");
const PAGE_HEADERS = { "content-security-policy": contentPolicy(`style-src 'sha256-${styleHash}'`) };

/** `all` includes these two routes once they exist. */
export function referenceRoutes(version: string, all: () => readonly Route[]) {
  // Made once, on the first request, without blocking other requests.
  let document: Promise<OpenApi> | undefined;
  let text: Promise<string> | undefined;
  let page: Promise<string> | undefined;
  const made = (): Promise<OpenApi> => {
    document ??= runYielding(openApiIn(all(), version), nextTurn);
    return document;
  };
  return [
    publicRoute({
      method: "GET",
      path: "/api/openapi.json",
      summary: "This reference for programs, as OpenAPI 3.1",
      tag: "server",
      scope: "public",
      answers: { 200: z.object({ openapi: z.literal("3.1.0") }).catchall(z.unknown()) },
      async handle() {
        text ??= made().then((whole) => JSON.stringify(whole));
        return { status: 200, text: await text, type: "application/json; charset=utf-8" };
      },
    }),
    publicRoute({
      method: "GET",
      path: "/docs",
      summary: "This reference for people",
      tag: "server",
      scope: "public",
      answers: { 200: "text/html" },
      async handle() {
        page ??= made().then((whole) => runYielding(referencePageIn(whole), nextTurn));
        return { status: 200, text: await page, type: "text/html; charset=utf-8", headers: PAGE_HEADERS };
      },
    }),
  ];
}
