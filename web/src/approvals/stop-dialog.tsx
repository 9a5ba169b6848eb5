import { Button } from "../ui/button";
import { Code } from "../ui/code";
import { Dialog } from "../ui/dialog";
import { Choice } from "./choice";

interface Props {
  open: boolean;
  session: string;
  onClose: () => void;
  onStop: () => void;
}

export function StopDialog({ open, session, onClose, onStop }: Props) {
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
      {/* A run can be stopped also when its card needs no answer any more. */}
      <Choice ended={null} onClose={onClose}>
        <Button look="danger-solid" onClick={onStop}>
          Stop it
        </Button>
      </Choice>
    </Dialog>
  );
}
