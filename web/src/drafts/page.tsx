import { FileStack } from "lucide-react";

import { useDrafts } from "../api/drafts";
import { usePlace } from "../router";
import { Answer } from "../ui/answer";
import { Code } from "../ui/code";
import { Empty } from "../ui/empty";
import { List } from "../ui/list";
import { Page } from "../ui/page";
import { OneDraft } from "./one";
import { DraftRow } from "./row";

/** The drafts there are, or one of them. */
export default function DraftsPage() {
  const { id } = usePlace();
  return id === null ? <AllDrafts /> : <OneDraft key={id} session={id} />;
}

function AllDrafts() {
  return (
    <Page title="Drafts" about="What agents have changed and you have not applied. The workspace does not have it yet.">
      <Answer to={useDrafts()}>
        {({ drafts }) =>
          drafts.length === 0 ? (
            <Empty icon={<FileStack size={20} />} title="No drafts">
              In a draft, an agent works without waiting for you, and its changes become real only when you apply them. Start one with{" "}
              <Code>handrail run --autonomy draft "…"</Code>, or set the autonomy of the project to draft in Settings.
            </Empty>
          ) : (
            <List label="Drafts">
              {drafts.map((one) => (
                <DraftRow key={one.session_id} draft={one} />
              ))}
            </List>
          )
        }
      </Answer>
    </Page>
  );
}
