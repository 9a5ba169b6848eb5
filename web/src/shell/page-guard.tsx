import { RotateCw } from "lucide-react";
import { Component, type ReactNode } from "react";

import { Button } from "../ui/button";
import { Empty } from "../ui/empty";
import { visible } from "../words/visible";

/** Keeps an error within its page. A page that cannot be loaded may belong to an older server. */
export class PageGuard extends Component<{ children: ReactNode }, { trouble: string | null }> {
  override state = { trouble: null };

  static getDerivedStateFromError(error: unknown): { trouble: string } {
    return { trouble: error instanceof Error ? error.message : String(error) };
  }

  override render(): ReactNode {
    const { trouble } = this.state;
    if (trouble === null) return this.props.children;
    return (
      <main className="h-full">
        <Empty icon={<RotateCw size={20} />} title="This page could not be shown">
          <p role="alert">{visible(trouble)}</p>
          <Button className="mt-4" onClick={() => location.reload()}>
            Reload
          </Button>
        </Empty>
      </main>
    );
  }
}
