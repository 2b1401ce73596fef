/** A query's answer, or what stands in its place: on its way, or gone wrong. What was there stays while it is asked anew. */
import type { ReactNode } from "react";
import { Failure, Loading } from "./states.tsx";

type Query<Data> = {
  readonly data: Data | undefined;
  readonly error: unknown;
  readonly refetch: () => Promise<unknown>;
};
type Props<Data> = {
  readonly query: Query<Data>;
  readonly lines?: number;
  readonly children: (data: Data) => ReactNode;
};

export function Asked<Data>({ query, lines = 4, children }: Props<Data>) {
  if (query.data !== undefined) return children(query.data);
  if (query.error === null || query.error === undefined) return <Loading lines={lines} />;
  return (
    <div className="p-4">
      <Failure error={query.error} onRetry={() => void query.refetch()} />
    </div>
  );
}
