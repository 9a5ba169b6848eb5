import { useQuery } from "@tanstack/react-query";
import { ArrowLeft } from "lucide-react";
import { useState } from "react";

import { useAutonomy } from "../api/autonomy";
import { ask } from "../api/client";
import { usePath, useSession } from "../api/session";
import { AUTONOMIES, type Autonomy, type ClientsResponse } from "../api/types";
import { AUTONOMY } from "../policy/autonomy";
import { go, Link } from "../router";
import { Notice } from "../ui/notice";
import { Select } from "../ui/select";
import { visible } from "../words/visible";
import { Composer } from "./composer";
import { NoModel, useModel } from "./model-notice";
import { useSay } from "./say";

/** The first message of a conversation, and what the agent may do in it without asking. `isAlone` where the list is not shown beside it. */
export function NewTalk({ isAlone }: { isAlone: boolean }) {
  const model = useModel();
  const { say, trouble } = useSay();
  const [freedom, setFreedom] = useState<Autonomy | "">("");
  const freedoms = useFreedoms();
  const places = usePlaces();
  const [place, setPlace] = useState("");
  const send = async (text: string) => {
    const told = await say({ text, autonomy: freedom || null, workspace_id: place || places[0]?.[0] || null });
    if (told) go(`/chat/${encodeURIComponent(told.message.session_id)}`);
    return told !== null;
  };
  return (
    <section aria-label="New conversation" className="flex min-h-0 flex-1 flex-col overflow-auto">
      {isAlone && (
        <header className="border-b border-line px-4 py-2 md:hidden">
          <Link href="/chat" className="inline-flex items-center gap-1.5 rounded-md py-1 text-soft">
            <ArrowLeft size={16} aria-hidden />
            All conversations
          </Link>
        </header>
      )}
      <div className={`mx-auto my-auto w-full max-w-2xl space-y-4 p-4 md:p-6 ${isAlone ? "" : "max-md:border-t max-md:border-line"}`}>
        <div className={isAlone ? "" : "max-md:sr-only"}>
          <h2 className="text-xl font-semibold tracking-tight">What do you want to do?</h2>
          <p className="mt-1 text-soft">The agent works in your workspace. Requests that need your approval appear in the conversation.</p>
        </div>
        {trouble && <Notice bad>{visible(trouble)}</Notice>}
        {model?.trouble && <NoModel trouble={model.trouble} />}
        <Composer draftOf="new" placeholder="Describe a task, or ask a question" disabled={!!model?.trouble} isRunning={false} onSend={send} onStop={() => undefined} />
        <div className="flex flex-wrap items-center gap-x-5 gap-y-2 text-xs">
          <Select label="Autonomy" value={freedom} options={freedoms} onChange={(value) => setFreedom(value as Autonomy | "")} />
          {places.length > 1 && <Select label="Machine" value={place || places[0]![0]} options={places} onChange={setPlace} />}
          {model?.model && !model.trouble && <span className="text-soft">{visible(`${model.provider} · ${model.model}`)}</span>}
        </div>
      </div>
    </section>
  );
}

/** What the agent may do without asking; at first what the project says. */
function useFreedoms(): [Autonomy | "", string][] {
  const usual = useAutonomy().data?.autonomy;
  return [["", `the project’s setting${usual ? ` (${AUTONOMY[usual].words})` : ""}`], ...AUTONOMIES.map(([name]): [Autonomy, string] => [name, AUTONOMY[name].words])];
}

/** The workspaces, by the names of the machines that execute in them. */
function usePlaces(): [string, string][] {
  const path = usePath();
  const { project } = useSession();
  const { data } = useQuery({
    queryKey: ["clients", project.project_id],
    queryFn: async () => (await ask<ClientsResponse>("GET", path("/clients"))).clients,
  });
  const named = new Map(data?.map((client) => [client.workspace_id, `${client.name}${client.connected ? "" : " (not connected)"}`]));
  return named.size > 1 ? [...named] : [];
}
