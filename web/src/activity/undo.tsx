import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Undo2 } from "lucide-react";
import { useState, type ReactNode } from "react";

import { ask } from "../api/client";
import { usePath, useSession } from "../api/session";
import type { RecordView, UndoableResponse, UndoableView, UndoResponse } from "../api/types";
import { Button } from "../ui/button";
import { Code } from "../ui/code";
import { Dialog } from "../ui/dialog";
import { Notice } from "../ui/notice";
import { moment } from "../words/time";
import { toldOf, type Told } from "../words/undo";
import { visible } from "../words/visible";

const CHANNEL = "console";
/** The server waits so long for the machine, and then says so. */
const ANSWER_MS = 75_000;
const MOST_FILES = 20;

/** Whether a call was undone, can be, or why it cannot. */
export function Undo({ call }: { call: RecordView }) {
  const { name } = useSession();
  const [asks, setAsks] = useState(false);
  const undoing = useUndoing(`/tools/${encodeURIComponent(call.tool_id)}/undo`);
  if (!call.completed_at) return null;
  return (
    <div className="space-y-2">
      {call.undone_at ? (
        <p>
          Undone by {call.undone_by === name ? "you" : visible(call.undone_by ?? "a person")}, {moment(call.undone_at)}.
        </p>
      ) : call.can_undo ? (
        <Button icon={<Undo2 size={14} aria-hidden />} disabled={undoing.waits} onClick={() => setAsks(true)}>
          {undoing.waits ? "Undoing…" : "Undo…"}
        </Button>
      ) : (
        <p className="text-soft [overflow-wrap:anywhere]">Cannot be undone: {visible(call.why_not_undo ?? "its earlier files are not kept")}.</p>
      )}
      <Outcome told={undoing.told} />
      <Dialog open={asks} onClose={() => setAsks(false)} title="Undo this call?" description="Its files become what they were before the call. If one of them was changed since, nothing is undone.">
        <Buttons onClose={() => setAsks(false)}>
          <Button
            look="danger-solid"
            onClick={() => {
              setAsks(false);
              void undoing.undo();
            }}
          >
            Undo the call
          </Button>
        </Buttons>
      </Dialog>
    </div>
  );
}

/** Undoes all that the calls of a session have changed. */
export function UndoSession({ session }: { session: string }) {
  const [asks, setAsks] = useState(false);
  const undoing = useUndoing(`/chat/sessions/${encodeURIComponent(session)}/undo`);
  return (
    <>
      <button type="button" disabled={undoing.waits} onClick={() => setAsks(true)} className="text-xs text-accent underline underline-offset-2">
        undo the session’s changes…
      </button>
      <Outcome told={undoing.told} />
      {asks && (
        <SessionDialog
          session={session}
          onClose={() => setAsks(false)}
          onUndo={() => {
            setAsks(false);
            void undoing.undo();
          }}
        />
      )}
    </>
  );
}

function SessionDialog({ session, onClose, onUndo }: { session: string; onClose: () => void; onUndo: () => void }) {
  const path = usePath();
  const { project } = useSession();
  const { data, error } = useQuery({
    queryKey: ["undo", project.project_id, session],
    queryFn: () => ask<UndoableResponse>("GET", path(`/undo?session_id=${encodeURIComponent(session)}`)),
    staleTime: 0,
  });
  const calls = data?.calls.filter((call) => call.can_undo);
  return (
    <Dialog
      open
      onClose={onClose}
      title="Undo the session’s changes?"
      description={
        <>
          The calls of <Code>{session}</Code> are undone one by one, the last one first. The first call with a file that was changed since ends it.
        </>
      }
    >
      {error && <Notice bad>{visible(error.message)}</Notice>}
      {calls?.length === 0 && <p className="mt-3">No call of this session can be undone.</p>}
      {calls && calls.length > 0 && <Changes calls={calls} />}
      <Buttons onClose={onClose}>
        <Button look="danger-solid" disabled={!calls?.length} onClick={onUndo}>
          Undo {calls?.length === 1 ? "1 call" : `${(calls?.length ?? 0).toLocaleString()} calls`}
        </Button>
      </Buttons>
    </Dialog>
  );
}

function Changes({ calls }: { calls: UndoableView[] }) {
  return (
    <ol aria-label="Calls to undo" tabIndex={0} className="mt-3 max-h-64 space-y-2 overflow-y-auto rounded-md border border-line p-3">
      {calls.map((call) => (
        <li key={call.tool_id}>
          <p className="text-xs text-soft">
            {visible(call.tool_name)}
            {call.completed_at && `, ${moment(call.completed_at)}`}
          </p>
          {call.files.slice(0, MOST_FILES).map((file) => (
            <p key={file} className="font-mono text-[13px] [overflow-wrap:anywhere]">
              {visible(file)}
            </p>
          ))}
          {call.files.length > MOST_FILES && <p className="text-xs text-soft">and {(call.files.length - MOST_FILES).toLocaleString()} more files</p>}
        </li>
      ))}
    </ol>
  );
}

function Buttons({ onClose, children }: { onClose: () => void; children: ReactNode }) {
  return (
    <div className="mt-5 flex justify-end gap-2">
      <Button look="quiet" onClick={onClose}>
        Cancel
      </Button>
      {children}
    </div>
  );
}

/** Stays on the page while it is empty, so that screen readers hear of what comes into it. */
function Outcome({ told }: { told: Told | null }) {
  return (
    <div role="status" className="[overflow-wrap:anywhere]">
      {told && (told.bad ? <Notice bad>{visible(told.words)}</Notice> : <span className="text-xs text-soft">{visible(told.words)}</span>)}
    </div>
  );
}

function useUndoing(address: string) {
  const path = usePath();
  const queries = useQueryClient();
  const [waits, setWaits] = useState(false);
  const [told, setTold] = useState<Told | null>(null);
  const undo = async () => {
    setWaits(true);
    setTold(null);
    try {
      setTold(toldOf(await ask<UndoResponse>("POST", path(address), { channel: CHANNEL }, ANSWER_MS)));
    } catch (error) {
      setTold({ words: error instanceof Error ? error.message : String(error), bad: true });
    }
    setWaits(false);
    await queries.invalidateQueries({ queryKey: ["call"] });
  };
  return { undo, waits, told };
}
