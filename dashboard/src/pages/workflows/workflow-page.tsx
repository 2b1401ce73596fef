import { Page } from "../../ui/page.tsx";
import { Loading } from "../../ui/states.tsx";

export function WorkflowPage() {
  return (
    <Page title="Workflow">
      <Loading />
    </Page>
  );
}
