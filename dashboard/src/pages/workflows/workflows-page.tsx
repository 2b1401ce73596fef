import { Page } from "../../ui/page.tsx";
import { Loading } from "../../ui/states.tsx";

export function WorkflowsPage() {
  return (
    <Page title="Workflows">
      <Loading />
    </Page>
  );
}
