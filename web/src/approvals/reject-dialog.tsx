import { useState } from "react";

import { Button } from "../ui/button";
import { Dialog } from "../ui/dialog";
import { Choice } from "./choice";

const MOST_CHARS = 2_000;

const CALL = {
  title: "Refuse this call",
  about: "The agent is told your reason and can try another way.",
  label: "Reason (optional). Ctrl+Enter refuses.",
  button: "Refuse",
};
const DRAFT = {
  title: "Ask for changes",
  about: "Nothing is applied and the draft stays. The agent is told your words and goes on in the draft.",
  label: "What should change? Ctrl+Enter sends it.",
  button: "Send",
};

interface Props {
  open: boolean;
  /** Whether it is about a draft, which stays. */
  isDraft: boolean;
  ended: string | null;
  onClose: () => void;
  onReject: (reason: string) => void;
}

export function RejectDialog({ open, isDraft, ended, onClose, onReject }: Props) {
  const [reason, setReason] = useState("");
  const words = isDraft ? DRAFT : CALL;
  return (
    <Dialog open={open} onClose={onClose} title={words.title} description={words.about}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (!ended) onReject(reason.trim());
        }}
      >
        <label className="mt-4 block">
          <span className="text-soft">{words.label}</span>
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
          <Button look={isDraft ? "primary" : "danger-solid"} type="submit">
            {words.button}
          </Button>
        </Choice>
      </form>
    </Dialog>
  );
}
