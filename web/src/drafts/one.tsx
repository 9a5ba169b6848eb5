import { useQuery } from "@tanstack/react-query";
import { ArrowLeft, Check, RefreshCw } from "lucide-react";
import { useState } from "react";

import { useDrafts } from "../api/drafts";
import { usePropose } from "../api/propose";
import { useSession } from "../api/session";
import type { DraftView } from "../api/types";
import { DraftMenu } from "../approvals/draft-menu";
import { EvidenceText } from "../approvals/evidence";
import { StepsDialog } from "../approvals/steps-dialog";
import type { StepAct } from "../approvals/draft-answers";
import { go, Link } from "../router";
import { Answer } from "../ui/answer";
import { Button } from "../ui/button";
import { Code } from "../ui/code";
import { Copy } from "../ui/copy";
import { Notice } from "../ui/notice";
import { Page } from "../ui/page";
import { agentName } from "../words/agent";
import { visible } from "../words/visible";
import { FilesDialog } from "./files-dialog";
import { endingOf, History, type ShownStep } from "./history";
import { DraftFacts, DraftWarnings } from "./row";

/** What `show_draft` has to tell. */
interface ShownDraft {
  steps: ShownStep[];
  files: string[];
  conflicts: string[];
  why_not: string;
  diff: string;
}

export function OneDraft({ session }: { session: string }) {
  const { project } = useSession();
  const propose = usePropose();
  const listed = useDrafts();
  const draft = listed.data?.drafts.find((one) => one.session_id === session);
  // Each look is a call on the machine, so it is repeated only when the person asks for it.
  const shown = useQuery({
    queryKey: ["draft", project.project_id, session],
    queryFn: async () => ({ ...((await propose("show_draft", {}, session)).result as unknown as ShownDraft), state: stateOf(draft) }),
    enabled: draft !== undefined && !draft.trouble,
    staleTime: Infinity,
    refetchOnWindowFocus: false,
    retry: false,
  });
  return (
    <Page
      title={draft ? `Draft of ${agentName(draft)}` : "Draft"}
      about={
        <Link href="/drafts" className="inline-flex items-center gap-1 rounded text-accent underline underline-offset-2">
          <ArrowLeft size={14} aria-hidden /> All drafts
        </Link>
      }
    >
      <Answer to={listed}>
        {() =>
          draft ? (
            <div className="space-y-4">
              <DraftFacts draft={draft} />
              <DraftWarnings draft={draft} />
              {!draft.trouble && (
                <Answer to={shown}>
                  {(told) => <Shown draft={draft} told={told} isStale={told.state !== stateOf(draft)} onLook={() => void shown.refetch()} isLooking={shown.isFetching} />}
                </Answer>
              )}
            </div>
          ) : (
            <Notice>There is no such draft. It was applied or discarded, or its machine is not connected.</Notice>
          )
        }
      </Answer>
    </Page>
  );
}

/** Differs after each change; to be looked at changes nothing. */
function stateOf(draft: DraftView | undefined): string {
  return draft ? [draft.began_at, draft.steps, draft.files, draft.bytes].join(" ") : "";
}

interface Props {
  draft: DraftView;
  told: ShownDraft;
  isStale: boolean;
  isLooking: boolean;
  onLook: () => void;
}

function Shown({ draft, told, isStale, isLooking, onLook }: Props) {
  const propose = usePropose();
  const [act, setAct] = useState<StepAct | null>(null);
  const [isChoosing, setChoosing] = useState(false);
  const [busy, setBusy] = useState(false);
  const [trouble, setTrouble] = useState("");
  const decide = async (tool: string, params: Record<string, unknown>) => {
    setBusy(true);
    setTrouble("");
    try {
      const { card } = await propose(tool, params, draft.session_id);
      if (card) go(`/approvals/${card}`);
      else onLook();
    } catch (error) {
      setTrouble(error instanceof Error ? error.message : String(error));
    }
    setAct(null);
    setChoosing(false);
    setBusy(false);
  };
  const exporting = `handrail drafts export ${quoted(draft.session_id)} draft.patch`;
  return (
    <>
      {told.conflicts.map((conflict) => (
        <Notice key={conflict} bad>
          {visible(conflict)}
        </Notice>
      ))}
      {told.why_not && <Notice bad>It cannot be applied: {visible(told.why_not)}</Notice>}
      {isStale && (
        <Notice>
          The draft has changed since it was read. <Button look="quiet" disabled={isLooking} icon={<RefreshCw size={14} aria-hidden />} onClick={onLook}>Read it again</Button>
        </Notice>
      )}
      {trouble && (
        <p role="alert" className="text-critical [overflow-wrap:anywhere]">
          {visible(trouble)}
        </p>
      )}
      <div className="flex flex-wrap items-center gap-2">
        <Button look="primary" disabled={busy} icon={<Check size={15} aria-hidden />} onClick={() => void decide("apply_draft", {})}>
          Apply…
        </Button>
        <DraftMenu side="below" steps={told.steps.length} disabled={busy} onChoose={setAct} onFiles={() => setChoosing(true)} />
      </div>
      <section aria-labelledby="history">
        <h2 id="history" className="mb-2 font-medium">
          Steps
        </h2>
        <History steps={told.steps} />
      </section>
      <section aria-labelledby="changes">
        <h2 id="changes" className="mb-2 font-medium">
          Changes against the workspace
        </h2>
        <EvidenceText text={told.diff} />
      </section>
      <p className="flex flex-wrap items-center gap-2 text-soft">
        As a patch, on its machine: <Code>{exporting}</Code> <Copy text={exporting} what="the command" />
      </p>
      {isChoosing && <FilesDialog files={told.files} busy={busy} onClose={() => setChoosing(false)} onChoose={(files) => void decide("apply_draft", { files })} />}
      <StepsDialog
        act={act}
        steps={told.steps.map((step) => ({ ...step, ending: endingOf(step) }))}
        busy={busy}
        onClose={() => setAct(null)}
        onChoose={(chosen, step) => void decide(`${chosen}_draft`, chosen === "apply" ? { steps: step } : { step })}
      />
    </>
  );
}

/** A word as a shell takes it. */
function quoted(word: string): string {
  return /^[\w.:@/-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
