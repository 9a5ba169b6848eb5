import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Brain } from "lucide-react";
import { useState } from "react";

import { ask } from "../api/client";
import { usePath } from "../api/session";
import type { MemoriesResponse, MemoryView } from "../api/types";
import { Answer } from "../ui/answer";
import { Button } from "../ui/button";
import { Empty } from "../ui/empty";
import { List } from "../ui/list";
import { Page } from "../ui/page";
import { Search } from "../ui/search";
import { useSettled } from "../ui/settled";
import { visible } from "../words/visible";
import { ForgetDialog } from "./forget-dialog";
import { MemoryRow } from "./row";

const AT_ONCE = 100;

/** What agents remember for this person. The search is the one that agents use. */
export default function MemoryPage() {
  const path = usePath();
  const [search, setSearch] = useState("");
  const [forgetting, setForgetting] = useState<MemoryView | null>(null);
  const question = useSettled(search.trim());
  const memories = useQuery({
    queryKey: ["memory", path(""), question],
    queryFn: () => ask<MemoriesResponse>("GET", path(`/memory?q=${encodeURIComponent(question)}`)),
    placeholderData: keepPreviousData,
  });
  return (
    <Page
      title="Memory"
      about="What agents remember for you, across all your projects. The search finds what an agent would find."
      tools={<Search label="Search as an agent would" value={search} onChange={setSearch} className="w-full sm:w-64" />}
    >
      <Answer to={memories}>{(told) => <Memories told={told} asked={question} onForget={setForgetting} />}</Answer>
      <ForgetDialog memory={forgetting} onClose={() => setForgetting(null)} />
    </Page>
  );
}

function Memories({ told, asked, onForget }: { told: MemoriesResponse; asked: string; onForget: (memory: MemoryView) => void }) {
  const [most, setMost] = useState(AT_ONCE);
  if (told.memories.length === 0) {
    return asked ? (
      <Empty icon={<Brain size={20} />} title="No matches">
        An agent would find nothing either. Try other words.
      </Empty>
    ) : (
      <Empty icon={<Brain size={20} />} title="No memories yet">
        Tell an agent “remember that …”. It is kept here for all your later agents.
      </Empty>
    );
  }
  return (
    <>
      <p role="status" className="mb-2 text-xs text-soft">
        {told.memories.length.toLocaleString()} {asked ? "found, best first" : "stored, latest first"}
        {asked && told.words_alone && <> · matched by words only: {visible(told.words_alone)}</>}
      </p>
      <List label="Memories">
        {told.memories.slice(0, most).map((one) => (
          <MemoryRow key={one.key} memory={one} onForget={() => onForget(one)} />
        ))}
      </List>
      {told.memories.length > most && (
        <Button className="mx-auto mt-4" onClick={() => setMost(most + AT_ONCE)}>
          Show more ({(told.memories.length - most).toLocaleString()} left)
        </Button>
      )}
    </>
  );
}
