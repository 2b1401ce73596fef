/** `pg` is an optional package: it is loaded only if PostgreSQL is used. */
import type * as Driver from "pg";
import { HoldpointError } from "../../kernel/errors.ts";

export type Pg = typeof Driver;
export type { Client, Connection, PoolClient, Submittable } from "pg";

export async function loadDriver(): Promise<Pg> {
  try {
    const { default: driver } = (await import("pg")) as unknown as { readonly default: Pg };
    return driver;
  } catch (error) {
    throw missing(error);
  }
}

function missing(cause: unknown): HoldpointError {
  return new HoldpointError("store_unsuitable", 'The package "pg" is not installed.', {
    cause,
    data: "Nothing was opened.",
    next: "Run `npm install pg` beside holdpoint.",
  });
}
