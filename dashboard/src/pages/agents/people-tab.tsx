/** The list of people: who decides, and what they are there for. */
import { useQuery } from "@tanstack/react-query";
import { peopleQuery } from "../../api/people.ts";
import { may, useSession } from "../../api/session.ts";
import { Asked } from "../../ui/asked.tsx";
import { DialogButton } from "../../ui/dialog-button.tsx";
import { NotAllowed } from "../../ui/not-allowed.tsx";
import { OwnSessions } from "../../ui/own-sessions.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Empty } from "../../ui/states.tsx";
import { AddPerson } from "./person-forms.tsx";
import { PersonRow } from "./person-row.tsx";

function AddButton() {
  return (
    <DialogButton label="Add somebody" icon="person" title="Add somebody">
      {({ onClose }) => <AddPerson onClose={onClose} />}
    </DialogButton>
  );
}

function PeopleList() {
  const people = useQuery(peopleQuery);
  return (
    <Asked query={people}>
      {(all) =>
        all.length === 0 ? (
          <Empty icon="person" title="Nobody is in the list">
            As long as it is empty it does not say who decides. Once anybody is in it, only who is in it
            decides.
          </Empty>
        ) : (
          <ul className="divide-y divide-line">
            {all.map((person) => (
              <PersonRow key={person.person} of={person} />
            ))}
          </ul>
        )
      }
    </Asked>
  );
}

export function PeopleTab() {
  const session = useSession();
  if (!may(session, "people:read"))
    return (
      <Panel>
        <NotAllowed what="The list of people" scope="people:read" />
      </Panel>
    );
  const canWrite = may(session, "people:write");
  return (
    <div className="flex flex-col gap-4">
      <Panel isFlush title="People" aside={canWrite ? <AddButton /> : "to change it takes people:write"}>
        <PeopleList />
      </Panel>
      <OwnSessions />
    </div>
  );
}
