/** Goes on with a list that is read page by page. */
import { Button } from "./button.tsx";

type Paged = {
  readonly hasNextPage: boolean;
  readonly isFetchingNextPage: boolean;
  readonly fetchNextPage: () => Promise<unknown>;
};

export function MoreRows({ list }: { readonly list: Paged }) {
  if (!list.hasNextPage) return null;
  return (
    <div className="flex justify-center border-t border-line p-3">
      <Button size="small" isBusy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
        Show more
      </Button>
    </div>
  );
}
