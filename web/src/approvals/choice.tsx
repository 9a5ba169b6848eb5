import type { ReactNode } from "react";

import { Button } from "../ui/button";

interface Props {
  /** How the card was decided while this dialog was open. */
  ended: string | null;
  onClose: () => void;
  children: ReactNode;
}

/** The buttons of a dialog about a card; if the card was decided elsewhere meanwhile, who decided it. */
export function Choice({ ended, onClose, children }: Props) {
  if (!ended) {
    return (
      <div className="mt-5 flex justify-end gap-2">
        <Button look="quiet" onClick={onClose}>
          Back
        </Button>
        {children}
      </div>
    );
  }
  return (
    <div className="mt-5 flex flex-wrap items-center justify-end gap-3">
      <p role="alert" className="min-w-0 flex-1 basis-60 [overflow-wrap:anywhere]">
        {ended} Nothing from this dialog was sent.
      </p>
      <Button onClick={onClose}>Close</Button>
    </div>
  );
}
