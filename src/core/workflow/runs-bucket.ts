/** Where runs of one name are looked for. A name has no slash: those whose definition was made for one run stand apart. */
import type { CreatedBody } from "./events.ts";

export const bucketOf = (
  where: string,
  { name, isOfOneRun }: Pick<CreatedBody, "name" | "isOfOneRun">,
): string => `${where} ${isOfOneRun === true ? "/" : ""}${name}`;
