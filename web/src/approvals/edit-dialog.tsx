import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { ask, Problem } from "../api/client";
import { renew } from "../api/renew";
import { usePath, useSession } from "../api/session";
import type { ApprovalView, EditableResponse } from "../api/types";
import { Button } from "../ui/button";
import { Dialog } from "../ui/dialog";
import { fieldOf, valueOf } from "../words/editing";
import { visible } from "../words/visible";
import { CHANNEL, wordsOf } from "./answer";
import { Choice } from "./choice";

const LABELS: Record<string, string> = {
  content: "The text to write",
  new: "The text that takes the place of the old one",
  command: "The command",
  args: "Its arguments, one on each line",
};
const SHORT_LINES = 3;
const MOST_LINES = 24;

interface Props {
  card: ApprovalView;
  ended: string | null;
  onClose: () => void;
}

/** Changes what a call does. The changed call is checked again and goes on waiting. */
export function EditDialog({ open, ...rest }: Props & { open: boolean }) {
  return (
    <Dialog
      open={open}
      onClose={rest.onClose}
      wide
      title="Change this call"
      description="The changed call is checked again and waits for your approval. The agent is told what you changed."
    >
      <Loading {...rest} />
    </Dialog>
  );
}

function Loading(props: Props) {
  const path = usePath();
  const { project } = useSession();
  const { data, error } = useQuery({
    queryKey: ["editable", project.project_id, props.card.approval_id],
    queryFn: () => ask<EditableResponse>("GET", path(`/approvals/${encodeURIComponent(props.card.approval_id)}/editable`)),
    gcTime: 0,
    staleTime: Infinity,
    retry: false,
  });
  if (data) return <Fields {...props} editable={data} />;
  return (
    <>
      <p role={error ? "alert" : "status"} className="mt-4">
        {error ? visible(error.message) : "Fetching the full text…"}
      </p>
      <Choice ended={props.ended} onClose={props.onClose}>
        {null}
      </Choice>
    </>
  );
}

function Fields({ card, ended, onClose, editable }: Props & { editable: EditableResponse }) {
  const params = Object.entries(editable.tool_params);
  const [texts, setTexts] = useState(() => Object.fromEntries(params.map(([name, value]) => [name, fieldOf(value)])));
  const { busy, trouble, revise } = useRevising(card, onClose);
  const changes = Object.fromEntries(
    params.flatMap(([name, value]) => {
      const text = texts[name];
      return text == null || text === fieldOf(value) ? [] : [[name, valueOf(value, text)]];
    }),
  );
  const isChanged = Object.keys(changes).length > 0;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (!ended && isChanged && !busy) void revise(changes, editable.digest);
      }}
    >
      {params.map(([name], index) => (
        <Field key={name} name={name} text={texts[name] ?? null} autoFocus={index === 0} onChange={(text) => setTexts((all) => ({ ...all, [name]: text }))} />
      ))}
      <p className="mt-2 text-soft">Ctrl+Enter saves.</p>
      {trouble && (
        <p role="alert" className="mt-3 text-critical [overflow-wrap:anywhere]">
          {visible(trouble)}
        </p>
      )}
      <Choice ended={ended} onClose={onClose}>
        <Button look="primary" type="submit" disabled={!isChanged || busy}>
          Save and check
        </Button>
      </Choice>
    </form>
  );
}

function Field({ name, text, autoFocus, onChange }: { name: string; text: string | null; autoFocus: boolean; onChange: (text: string) => void }) {
  const label = LABELS[name] ?? visible(name);
  if (text === null) {
    return <p className="mt-4 text-soft">{label}: it has line ends that a field would change. Use `handrail approvals edit` instead.</p>;
  }
  const lines = text.split("\n").length + 1;
  return (
    <label className="mt-4 block">
      <span className="text-soft">{label}</span>
      <textarea
        autoFocus={autoFocus}
        spellCheck={false}
        autoCapitalize="off"
        rows={Math.min(Math.max(lines, SHORT_LINES), MOST_LINES)}
        value={text}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.currentTarget.form?.requestSubmit();
        }}
        className="mt-1 w-full rounded-md border border-line bg-bg p-2 font-mono text-[12.5px] leading-[21px]"
      />
    </label>
  );
}

/** Sends the changes. The new card is shown at once, without waiting for the event. */
function useRevising(card: ApprovalView, onDone: () => void) {
  const path = usePath();
  const queries = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [trouble, setTrouble] = useState<string | null>(null);
  const revise = async (tool_params: Record<string, unknown>, digest: string) => {
    setBusy(true);
    setTrouble(null);
    try {
      const changed = await ask<ApprovalView>("POST", path(`/approvals/${encodeURIComponent(card.approval_id)}/revise`), { tool_params, digest, channel: CHANNEL });
      queries.setQueriesData<ApprovalView[]>({ queryKey: ["approvals"] }, (all) => all?.map((one) => (one.approval_id === changed.approval_id && one.digest === card.digest ? changed : one)));
      onDone();
    } catch (error) {
      if (error instanceof Problem && error.status === 409) renew(queries, { queryKey: ["approvals"] });
      setTrouble(wordsOf(error));
    } finally {
      setBusy(false);
    }
  };
  return { busy, trouble, revise };
}
