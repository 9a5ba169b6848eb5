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
          This cancels every call of session <Code>{session}</Code>, including running ones, and revokes its grants. The session cannot make further calls.
        </>
      }
    >
      {/* A run can be stopped after its card has been decided, too. */}
      <Choice ended={null} onClose={onClose}>
        <Button look="danger-solid" onClick={onStop}>
          Stop the run
        </Button>
      </Choice>
    </Dialog>
  );
}
