/** The types of calls, taken from the schemas of the server's routes. Nothing of this is there at run time. */
import type { z } from "zod";
import type { ListedRoute } from "../server/routes.ts";

type Facts = NonNullable<ListedRoute["types"]>;
export type RouteName = Facts["name"];
/** Routes that are made together have one type with all their names. */
type Holds<Fact, Name> = Fact extends { readonly name: infer Known }
  ? Name extends Known
    ? Fact
    : never
  : never;
type FactsOf<Name extends RouteName> = Holds<Facts, Name>;

/** A schema that was not given is any schema. */
type Given<Schema> = z.ZodType extends Schema ? never : Schema;
type QueryOf<Name extends RouteName> = Given<FactsOf<Name>["query"]>;
type BodyOf<Name extends RouteName> = Given<FactsOf<Name>["body"]>;

export type NameWithQuery = {
  [Name in RouteName]: [QueryOf<Name>] extends [never] ? never : Name;
}[RouteName];
export type NameWithBody = { [Name in RouteName]: [BodyOf<Name>] extends [never] ? never : Name }[RouteName];
export type NameAlone = Exclude<RouteName, NameWithQuery | NameWithBody>;

/** A query is text on the wire: what comes out of its schema is what is meant to go in. */
type Meant<Input, Output> = {
  [Field in keyof Input]: unknown extends Input[Field]
    ? Field extends keyof Output
      ? Output[Field]
      : Input[Field]
    : Input[Field];
};
type QueryInput<Schema> = Schema extends z.ZodType ? Meant<z.input<Schema>, z.output<Schema>> : never;
type BodyInput<Schema> = Schema extends z.ZodType ? z.input<Schema> : never;

/** What a call is given beside the names in the path. */
export type InputOf<Name extends RouteName> = QueryInput<QueryOf<Name>> | BodyInput<BodyOf<Name>>;

type Answers<Declared> = {
  [Status in keyof Declared]: Declared[Status] extends z.ZodType ? z.output<Declared[Status]> : string;
}[keyof Declared];
export type AnswerOf<Name extends RouteName> = Answers<FactsOf<Name>["answers"]>;

type PathArgs<Path> = Path extends `${string}{${string}}${infer Rest}` ? [string, ...PathArgs<Rest>] : [];

export type CallOptions = {
  readonly signal?: AbortSignal;
  /** How long one answer may take; the client's own unless set. */
  readonly timeoutSeconds?: number;
  /** Of a POST: the same key is worked on once. The client makes one for each call unless set. */
  readonly idempotencyKey?: string;
};

type InputArgs<Input> = [Input] extends [never]
  ? [options?: CallOptions]
  : Record<never, never> extends Input
    ? [input?: Input, options?: CallOptions]
    : [input: Input, options?: CallOptions];

/** First what the path names, in its order; then the query or the body; then the options. */
export type Call<Name extends RouteName> = (
  ...args: [...PathArgs<Name>, ...InputArgs<InputOf<Name>>]
) => Promise<AnswerOf<Name>>;
