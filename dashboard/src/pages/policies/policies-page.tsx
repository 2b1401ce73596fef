import { Page } from "../../ui/page.tsx";
import { Loading } from "../../ui/states.tsx";

export function PoliciesPage() {
  return (
    <Page title="Policies">
      <Loading />
    </Page>
  );
}
