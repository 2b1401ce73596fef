/** Whether a request may go on to its handler: before anything of its body is read. */
import type { FastifyRequest } from "fastify";
import { HoldpointError } from "../kernel/errors.ts";
import type { Authenticate, Credential, Who } from "./authenticate.ts";
import { createBuckets, type Rate } from "./guards/rate.ts";
import { type Route, type ScopedRoute, scopesOfRoute } from "./route.ts";

/** Failed attempts to authenticate, of one address. */
const GUESSES: Rate = { perSecond: 10, burst: 100 };

export function credentialOf({ headers, method, ip, raw }: FastifyRequest): Credential {
  const csrf = headers["x-csrf-token"];
  return {
    authorization: headers.authorization,
    cookie: headers.cookie,
    csrf: typeof csrf === "string" ? csrf : undefined,
    method,
    address: ip,
    connection: raw.socket,
  };
}

const unknown = (): HoldpointError =>
  new HoldpointError("unauthenticated", "There is no credential that is valid here.");

function checkScope(who: Who, route: ScopedRoute): void {
  const { scope, orScope } = route;
  const isOther = orScope !== undefined && who.can(orScope);
  if (scope !== "any" && !who.can(scope) && !isOther)
    throw new HoldpointError("forbidden", `This needs the scope ${scopesOfRoute(route).join(" or ")}.`);
}

/** Of a request that was admitted a while ago. */
export function checkStill(now: Who | undefined, route: ScopedRoute): void {
  if (now === undefined) throw unknown();
  checkScope(now, route);
}

/** Answers who asks; nobody, of a public route. */
export type Admit = (request: FastifyRequest, route: Route | undefined) => Promise<Who | undefined>;

export function createAdmit(authenticate: Authenticate, rate: Rate, elapsed: () => number): Admit {
  const asking = createBuckets(rate, elapsed);
  const guessing = createBuckets(GUESSES, elapsed);

  /** A wrong credential is answered like none, and an address gets only so many of them; a right one is never in their way. */
  async function identify(request: FastifyRequest): Promise<Who> {
    const who = await authenticate(credentialOf(request));
    if (who !== undefined) return who;
    guessing.take(request.ip);
    throw unknown();
  }

  return async (request, route) => {
    if (route === undefined || route.scope === "public") {
      asking.take(request.ip);
      return undefined;
    }
    const who = await identify(request);
    asking.take(who.credential);
    checkScope(who, route);
    return who;
  };
}
