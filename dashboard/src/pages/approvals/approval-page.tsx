import { Page } from "../../ui/page.tsx";
import { Loading } from "../../ui/states.tsx";

export function ApprovalPage() {
  return (
    <Page title="Approval">
      <Loading />
    </Page>
  );
}
