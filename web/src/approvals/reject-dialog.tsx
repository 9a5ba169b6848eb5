import { useState } from "react";

import { Button } from "../ui/button";
import { Dialog } from "../ui/dialog";
import { Choice } from "./choice";

const MOST_CHARS = 2_000;

interface Props {
  open: boolean;
  ended: string | null;
  onClose: () => void;
  onReject: (reason: string) => void;
}

export function RejectDialog({ open, ended, onClose, onReject }: Props) {
  const [reason, setReason] = useState("");
  return (
    <Dialog open={open} onClose={onClose} title="Refuse this call" description="The agent is told your reason and can try another way.">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (!ended) onReject(reason.trim());
        }}
      >
        <label className="mt-4 block">
          <span className="text-soft">Reason (optional). Ctrl+Enter refuses.</span>
          <textarea
            autoFocus
            rows={3}
            maxLength={MOST_CHARS}
            value={reason}
            onChange={(event) => setReason(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.currentTarget.form?.requestSubmit();
            }}
            className="mt-1 w-full rounded-md border border-line bg-bg p-2"
          />
        </label>
        <Choice ended={ended} onClose={onClose}>
          <Button look="danger-solid" type="submit">
            Refuse
          </Button>
        </Choice>
      </form>
    </Dialog>
  );
}
