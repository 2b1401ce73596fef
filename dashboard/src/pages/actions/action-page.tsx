import { Page } from "../../ui/page.tsx";
import { Loading } from "../../ui/states.tsx";

export function ActionPage() {
  return (
    <Page title="Action">
      <Loading />
    </Page>
  );
}
