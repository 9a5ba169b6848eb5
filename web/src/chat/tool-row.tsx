import { useQuery } from "@tanstack/react-query";
import { ChevronRight } from "lucide-react";
import { useId, useState, type ReactNode } from "react";

import { ask } from "../api/client";
import { usePath, useSession } from "../api/session";
import type { ApprovalView, RecordView, GlimpseView, PartView } from "../api/types";
import { Decision } from "../activity/decision";
import { Result } from "../activity/result";
import { Link } from "../router";
import { CallState } from "../ui/call-state";
import { Output } from "../ui/output";
import { Parameters } from "../ui/parameters";
import { Risk } from "../ui/risk";
import { glance, isCommand } from "../words/glance";
import type { Ending } from "../words/outcome";
import { duration } from "../words/time";
import { visible } from "../words/visible";
import { Question } from "./question";

interface Props {
  use: PartView;
  answer: PartView | undefined;
  call: GlimpseView | undefined;
  question: ApprovalView | undefined;
}

/** A call in one line that unfolds into its details; an open request is decided in place. */
export function ToolRow({ use, answer, call, question }: Props) {
  const [open, setOpen] = useState(false);
  const id = useId();
  const ending = endingOf(call, answer);
  const [isBeingAnswered, setIsBeingAnswered] = useState(false);
  const waits = question?.status === "pending";
  return (
    <div className={`call overflow-hidden rounded-lg border [.call+&]:-mt-2 ${waits ? "border-medium/50" : "border-line"}`}>
      <button
        type="button"
        aria-expanded={open}
        aria-controls={id}
        onClick={() => setOpen(!open)}
        className="flex w-full items-center gap-2 px-3 py-1.5 text-left text-[13px] hover:bg-raised/60"
      >
        <ChevronRight size={14} className={`shrink-0 text-soft transition-transform ${open ? "rotate-90" : ""}`} aria-hidden />
        {!isCommand(use.name ?? "", use.input ?? {}) && <span className="shrink-0 font-mono">{visible(use.name ?? "")}</span>}
        <span className="min-w-0 flex-1 overflow-hidden font-mono text-ellipsis whitespace-pre text-soft">{glance(use.name ?? "", use.input ?? {})}</span>
        {call && call.risk_level !== "LOW" && call.error_type !== "validation" && !waits && (
          <span className="max-sm:hidden">
            <Risk level={call.risk_level} />
          </span>
        )}
        {call?.execution_time_ms != null && <span className="text-xs text-soft tabular-nums max-sm:hidden">{duration(call.execution_time_ms)}</span>}
        <CallState call={ending} className="text-xs" />
      </button>
      {question && (waits || isBeingAnswered) && <Question card={question} onAsking={setIsBeingAnswered} />}
      <div id={id} hidden={!open} className="space-y-4 border-t border-line bg-bg p-3 md:p-4">
        {open && <Inside use={use} answer={answer} call={call} />}
      </div>
    </div>
  );
}

/** What the model was told counts too: the list of calls may be older, or not reach back as far. */
function endingOf(call: Ending | undefined, answer: PartView | undefined): Ending | undefined {
  if (!answer) return call;
  const result = { success: !answer.is_error };
  return call ? { result, ...call } : { status: answer.is_error ? "failed" : "completed", result };
}

function Inside({ use, answer, call }: Omit<Props, "question">) {
  const path = usePath();
  const { project } = useSession();
  const ended = call?.completed_at ?? null;
  const { data: whole } = useQuery({
    queryKey: ["call", project.project_id, call?.tool_id, call?.status],
    queryFn: () => ask<RecordView>("GET", path(`/activity/${call?.tool_id}`)),
    enabled: call !== undefined,
  });
  return (
    <>
      <Part title="Input">
        <Parameters params={use.input ?? {}} />
      </Part>
      {(answer || ended) && (
        <Part title="Output">
          {whole ? <Result call={whole} /> : answer ? <Output text={answer.text ?? ""} label="Output" /> : <p className="text-soft">Loading…</p>}
        </Part>
      )}
      {whole && (
        <Part title="Decision">
          <Decision call={whole} />
        </Part>
      )}
      {call && (
        <Link href={`/activity/${call.tool_id}?session=${encodeURIComponent(call.session_id)}`} className="inline-block text-accent underline underline-offset-2">
          Details of this call
        </Link>
      )}
    </>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section>
      <h4 className="mb-1.5 text-xs font-medium text-soft">{title}</h4>
      {children}
    </section>
  );
}
