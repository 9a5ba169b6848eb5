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

/** What agents remember for this person. It is searched just as an agent would, so one sees what an agent finds. */
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
      about="What agents remember for you, in all your projects. A search finds what an agent would find."
      tools={<Search label="Ask as an agent would" value={search} onChange={setSearch} className="w-full sm:w-64" />}
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
      <Empty icon={<Brain size={20} />} title="An agent would find nothing here">
        Other words may find more.
      </Empty>
    ) : (
      <Empty icon={<Brain size={20} />} title="Nothing is remembered yet">
        Tell an agent “remember that …”, and it is kept here for all that come after it.
      </Empty>
    );
  }
  return (
    <>
      <p role="status" className="mb-2 text-xs text-soft">
        {told.memories.length.toLocaleString()} {asked ? "found, best first" : "remembered, latest first"}
        {asked && told.words_alone && <> · by words alone: {visible(told.words_alone)}</>}
      </p>
      <List label="Memories">
        {told.memories.slice(0, most).map((one) => (
          <MemoryRow key={one.key} memory={one} onForget={() => onForget(one)} />
        ))}
      </List>
      {told.memories.length > most && (
        <Button className="mx-auto mt-4" onClick={() => setMost(most + AT_ONCE)}>
          Show more; {(told.memories.length - most).toLocaleString()} are left
        </Button>
      )}
    </>
  );
}
