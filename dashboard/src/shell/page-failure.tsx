import { useQueryClient } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { Failure } from "../ui/states.tsx";
import { PageNotLoaded } from "./lazy-page.ts";

/** A page that could not be shown; the others still can. */
export function PageFailure({ error }: { readonly error: unknown }) {
  const router = useRouter();
  const queries = useQueryClient();
  const again = () => {
    if (error instanceof PageNotLoaded) return window.location.reload();
    void queries.resetQueries();
    void router.invalidate();
  };
  return (
    <div className="mx-auto max-w-2xl p-6">
      <Failure error={error} onRetry={again} />
    </div>
  );
}
