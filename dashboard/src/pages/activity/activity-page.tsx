import { Page } from "../../ui/page.tsx";
import { Loading } from "../../ui/states.tsx";

export function ActivityPage() {
  return (
    <Page title="Activity">
      <Loading />
    </Page>
  );
}
