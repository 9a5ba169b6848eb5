import { Trash2 } from "lucide-react";

import type { MemoryView } from "../api/types";
import { Button } from "../ui/button";
import { Fact, Facts } from "../ui/facts";
import { Tag } from "../ui/tag";
import { TextBlock } from "../ui/text-block";
import { Unfold } from "../ui/unfold";
import { Warning } from "../ui/warning";
import { moment } from "../words/time";
import { visible } from "../words/visible";

export function MemoryRow({ memory, onForget }: { memory: MemoryView; onForget: () => void }) {
  return (
    <li className="px-4 py-3">
      <Unfold
        title={visible(memory.key)}
        tags={<Tag>{visible(memory.category)}</Tag>}
        inside={() => (
          <>
            <TextBlock text={memory.content} label={`Content of ${visible(memory.key)}`} />
            <div className="mt-3 flex flex-wrap items-center gap-3">
              <Facts>
                <Fact name="first stored">{moment(memory.created_at)}</Fact>
                <Fact name="last stored">{moment(memory.updated_at)}</Fact>
              </Facts>
              <Button look="danger" className="ml-auto" icon={<Trash2 size={14} aria-hidden />} onClick={onForget}>
                Delete…
              </Button>
            </div>
          </>
        )}
      >
        <p className="truncate text-soft">{visible(memory.content.split("\n", 1)[0] ?? "")}</p>
        {memory.tainted && <Warning className="mt-2 text-xs">Stored after the agent had read untrusted text: {visible(memory.tainted)}</Warning>}
      </Unfold>
    </li>
  );
}
