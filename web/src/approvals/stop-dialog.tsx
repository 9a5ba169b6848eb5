import { Button } from "../ui/button";
import { Code } from "../ui/code";
import { Dialog } from "../ui/dialog";

export function StopDialog({ open, session, onClose, onStop }: { open: boolean; session: string; onClose: () => void; onStop: () => void }) {
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title="Stop the whole run?"
      description={
        <>
          All that <Code>{session}</Code> has asked for ends, with whatever runs for it; its grants are void, and it may ask for nothing more.
        </>
      }
    >
      <div className="mt-5 flex justify-end gap-2">
        <Button look="quiet" onClick={onClose}>
          Back
        </Button>
        <Button look="danger-solid" onClick={onStop}>
          Stop it
        </Button>
      </div>
    </Dialog>
  );
}
