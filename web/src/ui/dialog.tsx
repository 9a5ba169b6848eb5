import { Dialog as Radix } from "radix-ui";
import type { ReactNode } from "react";

interface Props {
  open: boolean;
  onClose: () => void;
  title: string;
  description?: ReactNode;
  wide?: boolean;
  children: ReactNode;
}

export function Dialog({ open, onClose, title, description, wide = false, children }: Props) {
  return (
    <Radix.Root open={open} onOpenChange={(stays) => !stays && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-20 bg-black/50" />
        <Radix.Content
          {...(description ? {} : { "aria-describedby": undefined })}
          className={`fixed top-1/2 left-1/2 z-30 flex max-h-[90dvh] w-[calc(100vw-2rem)] -translate-x-1/2 -translate-y-1/2 flex-col overflow-auto rounded-xl border border-line bg-panel p-5 shadow-2xl ${wide ? "max-w-4xl" : "max-w-lg"}`}
        >
          <Radix.Title className="text-base font-semibold tracking-tight">{title}</Radix.Title>
          {description && (
            <Radix.Description asChild>
              <div className="mt-1 text-soft">{description}</div>
            </Radix.Description>
          )}
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
