/** The form of an OpenAPI 3.1 document as far as ours goes: a field that is not in it is a mistake, `x-` apart. */
import { z } from "zod";

const schema = z.record(z.string(), z.unknown());
const extension = z.templateLiteral(["x-", z.string()]);
const text = z.string().min(1);

const parameter = z.strictObject({
  name: text,
  in: z.enum(["path", "query", "header", "cookie"]),
  required: z.boolean().optional(),
  description: z.string().optional(),
  schema,
});
const content = z.record(z.string().regex(/^\w+\/[\w.+-]+$/), z.strictObject({ schema }));
const response = z.union([
  z.strictObject({ $ref: z.string().startsWith("#/components/responses/") }),
  z.strictObject({ description: text, content: content.optional() }),
]);

export const operationSchema = z
  .object({
    operationId: text.regex(/^\w+$/),
    summary: text,
    description: text.optional(),
    tags: z.array(text).min(1),
    parameters: z.array(parameter),
    requestBody: z.strictObject({ required: z.boolean(), content }).optional(),
    responses: z.record(z.string().regex(/^([1-5]\d\d|default)$/), response),
    security: z.array(z.record(z.string(), z.array(z.string()))),
  })
  .catchall(z.unknown())
  .superRefine((operation, context) => {
    const known = new Set(Object.keys(operationSchema.shape));
    for (const field of Object.keys(operation))
      if (!known.has(field) && !extension.safeParse(field).success)
        context.addIssue({ code: "custom", message: `there is no field ${field}` });
  });

const method = z.enum(["get", "put", "post", "delete", "options", "head", "patch", "trace"]);

export const documentSchema = z.strictObject({
  openapi: z.string().regex(/^3\.1\.\d+$/),
  info: z.strictObject({ title: text, version: text, description: text }),
  tags: z.array(z.strictObject({ name: text })),
  paths: z.record(z.string().startsWith("/"), z.partialRecord(method, operationSchema)),
  components: z.strictObject({
    schemas: z.record(z.string().regex(/^[\w.-]+$/), schema),
    responses: z.record(z.string().regex(/^[\w.-]+$/), response),
    securitySchemes: z.record(
      z.string(),
      z.discriminatedUnion("type", [
        z.strictObject({ type: z.literal("http"), scheme: text, description: text }),
        z.strictObject({
          type: z.literal("apiKey"),
          in: z.enum(["query", "header", "cookie"]),
          name: text,
          description: text,
        }),
      ]),
    ),
  }),
});

export type Document = z.output<typeof documentSchema>;
export type DocumentOperation = z.output<typeof operationSchema>;

export type Listed = {
  readonly path: string;
  readonly method: string;
  readonly operation: DocumentOperation;
};

export const operationsOf = ({ paths }: Document): readonly Listed[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([word, operation]) =>
      operation === undefined ? [] : [{ path, method: word, operation }],
    ),
  );

/** Every JSON Schema in it, and where it stands. */
export function schemasOf(document: Document): readonly (readonly [string, object])[] {
  const inOperations = operationsOf(document).flatMap(({ operation }) => {
    const { operationId: name, parameters, requestBody, responses } = operation;
    const bodies = [requestBody, ...Object.values(responses)].flatMap((part) =>
      part !== undefined && "content" in part ? Object.values(part.content ?? {}) : [],
    );
    return [...parameters, ...bodies].map((part) => [name, part.schema] as const);
  });
  return [...inOperations, ...Object.entries(document.components.schemas)];
}
