/** Holdpoint as a program opens it, in this place. */
import { join } from "node:path";
import { type Holdpoint, holdpoint, type Notice } from "../../src/index.ts";
import type { Place } from "../system.ts";

export function openHoldpoint(place: Place, notify: (notice: Notice) => void = () => undefined): Holdpoint {
  const { folder, database } = place;
  const where = database === null ? { folder: join(folder, "data") } : { database: database.url };
  return holdpoint({ ...where, keyFile: join(folder, "key.json"), agent: "bench", notify });
}
