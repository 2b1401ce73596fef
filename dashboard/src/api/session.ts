/** Who is at the desk, and what they may do. */
import { queryOptions, useSuspenseQuery } from "@tanstack/react-query";
import type { AnswerOf } from "holdpoint/client";
import { claimedName } from "./claimed-name.ts";
import { client, rememberToken } from "./client.ts";
import { rememberLogin } from "./leaving.ts";

type Standing = AnswerOf<"GET /api/session">;

export type Session = Standing & {
  /** Nobody is authenticated: what people do is marked so, and says whatever name they give. */
  readonly isOpen: boolean;
};

async function whoAmI(): Promise<Session> {
  const standing = await client.session.get();
  rememberToken(standing.csrf_token);
  rememberLogin();
  return { ...standing, isOpen: standing.principal === null };
}

export const sessionQuery = queryOptions({ queryKey: ["session"], queryFn: whoAmI, staleTime: 60_000 });

export function useSession(): Session {
  return useSuspenseQuery(sessionQuery).data;
}

export const may = (session: Session, scope: string): boolean => session.scopes.includes(scope);

/** What a body names only where nobody is authenticated. */
export function byOf(session: Session): { readonly by?: string } {
  return session.isOpen ? { by: claimedName() } : {};
}

export const nameOf = (principal: string | null): string => principal?.replace(/^\w+:/, "") ?? claimedName();
