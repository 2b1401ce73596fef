/** The kill switch of the tenant. */
import { queryOptions } from "@tanstack/react-query";
import { client } from "./client.ts";

export const switchQuery = queryOptions({
  queryKey: ["switch", "tenant"],
  queryFn: () => client.killSwitch.get(),
});
