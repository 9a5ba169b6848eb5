import { useState } from "react";

import { Button } from "../ui/button";
import { Dialog } from "../ui/dialog";

const MOST_CHARS = 2_000;

export function RejectDialog({ open, onClose, onReject }: { open: boolean; onClose: () => void; onReject: (reason: string) => void }) {
  const [reason, setReason] = useState("");
  return (
    <Dialog open={open} onClose={onClose} title="Refuse this call" description="The agent reads your reason, and can try another way.">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onReject(reason.trim());
        }}
      >
        <label className="mt-4 block">
          <span className="text-soft">Why not? You may leave it empty.</span>
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
        <div className="mt-4 flex justify-end gap-2">
          <Button look="quiet" onClick={onClose}>
            Back
          </Button>
          <Button look="danger-solid" type="submit">
            Refuse
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
