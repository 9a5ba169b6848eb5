import type { DraftView } from "../api/types";
import { addressOfDraft } from "../approvals/draft-menu";
import { Link } from "../router";
import { Code } from "../ui/code";
import { Fact, Facts } from "../ui/facts";
import { Notice } from "../ui/notice";
import { agentName } from "../words/agent";
import { machineName } from "../words/machine";
import { several, size } from "../words/number";
import { moment } from "../words/time";
import { visible } from "../words/visible";

export function DraftRow({ draft }: { draft: DraftView }) {
  return (
    <li className="space-y-2 px-4 py-3">
      <h2 className="font-medium [overflow-wrap:anywhere]">
        <Link href={addressOfDraft(draft.session_id)} className="rounded text-accent underline underline-offset-2">
          {agentName(draft)}: {several(draft.steps, "step")}, {several(draft.files, "file")}
        </Link>
      </h2>
      <DraftFacts draft={draft} />
      <DraftWarnings draft={draft} />
    </li>
  );
}

export function DraftFacts({ draft }: { draft: DraftView }) {
  return (
    <Facts>
      <Fact name="in">
        <Code>{draft.workspace}</Code>
      </Fact>
      <Fact name="on">{machineName(draft)}</Fact>
      <Fact name="last used">{moment(draft.last_at)}</Fact>
      <Fact name="size">{size(draft.bytes)}</Fact>
      <Fact name="session">
        <Code>{draft.session_id}</Code>
      </Fact>
    </Facts>
  );
}

/** What a person should do something about. */
export function DraftWarnings({ draft }: { draft: DraftView }) {
  return (
    <>
      {draft.expires_soon && <Notice>It expires on {moment(draft.expires_at)} unless it is used before. It is then exported to a patch and removed.</Notice>}
      {draft.trouble && <Notice bad>{visible(draft.trouble)}</Notice>}
    </>
  );
}
