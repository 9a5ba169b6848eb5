import { ArrowDown, ArrowLeft } from "lucide-react";
import { useMemo } from "react";

import type { RunView } from "../api/types";
import { useApprovals, usePending } from "../approvals/pending";
import { Link } from "../router";
import { Button } from "../ui/button";
import { Notice } from "../ui/notice";
import { visible } from "../words/visible";
import { useCalls } from "./calls";
import { Composer } from "./composer";
import { useFollow } from "./follow";
import { Markdown } from "./markdown";
import { NoModel, useModel } from "./model-notice";
import { useUnfinished } from "./pieces";
import { Said } from "./said";
import { useSay } from "./say";
import { useTalk } from "./talk";
import { ToolRow } from "./tool-row";
import { itemsOf, type Item } from "./turns";

export function Conversation({ sessionId, title }: { sessionId: string; title: string }) {
  const { data: talk, error } = useTalk(sessionId);
  const unfinished = useUnfinished(sessionId);
  const model = useModel();
  const { say, stop, trouble } = useSay();
  const { scroller, inner, isAtEnd, toEnd } = useFollow();
  const items = useMemo(() => itemsOf(talk?.messages ?? []), [talk]);
  const run = talk?.run ?? null;
  const isRunning = run?.status === "running";
  const isWaiting = usePending().some((one) => one.session_id === sessionId);
  return (
    <section aria-label="Conversation" className="relative flex min-h-0 min-w-0 flex-1 flex-col">
      <Head title={title} sessionId={sessionId} />
      <div ref={scroller} tabIndex={0} role="region" aria-label="Messages" className="min-h-0 flex-1 overflow-y-auto">
        <div ref={inner} className="mx-auto max-w-3xl space-y-4 px-4 py-5 md:px-6">
          {error && <Notice bad>{visible(error.message)}</Notice>}
          <Items items={items} sessionId={sessionId} isRunning={isRunning} />
          {unfinished && isRunning && (
            <div aria-busy>
              <Markdown text={unfinished.text} />
            </div>
          )}
          {run && <RunState run={run} isSaying={unfinished !== undefined} isWaiting={isWaiting} />}
        </div>
      </div>
      {!isAtEnd && (
        <Button className="absolute right-4 bottom-36 shadow-lg" icon={<ArrowDown size={14} aria-hidden />} onClick={toEnd}>
          Jump to the end
        </Button>
      )}
      <footer className="mx-auto w-full max-w-3xl space-y-2 px-4 pt-2 pb-4 md:px-6">
        {trouble && <Notice bad>{visible(trouble)}</Notice>}
        {model?.trouble && <NoModel trouble={model.trouble} />}
        <Composer
          draftOf={sessionId}
          disabled={!!model?.trouble}
          isRunning={isRunning}
          onSend={async (text) => {
            toEnd();
            return (await say({ text, session_id: sessionId })) !== null;
          }}
          onStop={() => run && void stop(run.run_id)}
        />
      </footer>
    </section>
  );
}

function Head({ title, sessionId }: { title: string; sessionId: string }) {
  return (
    <header className="flex items-center gap-2 border-b border-line px-4 py-2 md:px-6">
      <Link href="/chat" aria-label="All conversations" className="-ml-2 rounded-md p-1.5 text-soft hover:bg-raised md:hidden">
        <ArrowLeft size={16} aria-hidden />
      </Link>
      <h2 className="min-w-0 flex-1 truncate py-1 font-medium">{visible(title)}</h2>
      <Link href={`/activity?session=${encodeURIComponent(sessionId)}`} className="text-xs whitespace-nowrap text-accent underline underline-offset-2">
        View its calls
      </Link>
    </header>
  );
}

function Items({ items, sessionId, isRunning }: { items: Item[]; sessionId: string; isRunning: boolean }) {
  const calls = useCalls(sessionId, isRunning);
  const { data: questions } = useApprovals();
  return items.map((item) => {
    // Skips the layout of what is scrolled away.
    const shell = "[contain-intrinsic-size:auto_60px] [content-visibility:auto]";
    switch (item.kind) {
      case "said":
        return (
          <div key={item.key} className={shell}>
            <Said by={item.by} text={item.text} at={item.at} />
          </div>
        );
      case "call": {
        const call = calls.get(item.use.call_id ?? "");
        const question = call && questions?.find((one) => one.tool_id === call.tool_id);
        return <ToolRow key={item.key} use={item.use} answer={item.answer} call={call} question={question} />;
      }
      case "notice":
        return (
          <Notice key={item.key}>
            <span className="whitespace-pre-wrap">{visible(item.text, "\n")}</span>
          </Notice>
        );
      case "summary":
        return (
          <details key={item.key} className="rounded-lg border border-line px-3 py-2 text-soft">
            <summary className="cursor-pointer text-xs">Earlier messages were summarised for the model</summary>
            <div className="mt-2">
              <Markdown text={item.text} />
            </div>
          </details>
        );
    }
  });
}

function RunState({ run, isSaying, isWaiting }: { run: RunView; isSaying: boolean; isWaiting: boolean }) {
  if (run.status === "failed") return <Notice bad>{visible(run.error ?? "The agent could not continue.")}</Notice>;
  const running = isWaiting ? "The agent is waiting for your decision." : "The agent is working…";
  const words = { running: isSaying ? "" : running, stopped: visible(run.error ?? "Stopped.") }[run.status] ?? "";
  return (
    <p role="status" className="min-h-5 text-xs text-soft">
      {run.status === "running" && !isSaying && <span className="mr-2 inline-block size-1.5 animate-pulse rounded-full bg-accent align-middle" aria-hidden />}
      {words}
    </p>
  );
}
