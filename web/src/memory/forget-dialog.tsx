import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { ask } from "../api/client";
import { usePath } from "../api/session";
import type { MemoryView } from "../api/types";
import { Button } from "../ui/button";
import { Code } from "../ui/code";
import { Dialog } from "../ui/dialog";
import { visible } from "../words/visible";

export function ForgetDialog({ memory, onClose }: { memory: MemoryView | null; onClose: () => void }) {
  const path = usePath();
  const queries = useQueryClient();
  const [trouble, setTrouble] = useState<string | null>(null);
  const close = () => {
    setTrouble(null);
    onClose();
  };
  const forget = async () => {
    if (!memory) return;
    try {
      await ask("DELETE", path(`/memory/${encodeURIComponent(memory.key)}`));
      close();
    } catch (error) {
      setTrouble(error instanceof Error ? error.message : String(error));
    }
    await queries.invalidateQueries({ queryKey: ["memory"] });
  };
  return (
    <Dialog
      open={memory !== null}
      onClose={close}
      title="Delete this memory?"
      description={
        <>
          Agents will no longer find <Code>{memory?.key ?? ""}</Code> in any of your projects. This cannot be undone.
        </>
      }
    >
      {trouble && (
        <p role="alert" className="mt-3 text-critical">
          {visible(trouble)}
        </p>
      )}
      <div className="mt-5 flex justify-end gap-2">
        <Button look="quiet" onClick={close}>
          Cancel
        </Button>
        <Button look="danger-solid" onClick={() => void forget()}>
          Delete
        </Button>
      </div>
    </Dialog>
  );
}
