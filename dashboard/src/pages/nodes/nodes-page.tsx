import { Page } from "../../ui/page.tsx";
import { Loading } from "../../ui/states.tsx";

export function NodesPage() {
  return (
    <Page title="Nodes">
      <Loading />
    </Page>
  );
}
