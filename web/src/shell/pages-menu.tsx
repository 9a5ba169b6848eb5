import { ChevronDown } from "lucide-react";
import { DropdownMenu } from "radix-ui";

import { PAGES, type Page } from "../pages";
import { Link } from "../router";
import { Waiting } from "./waiting";

/** The navigation of a small screen: where we are, and behind it all other pages. */
export function PagesMenu({ here, waiting, className }: { here: Page; waiting: number; className: string }) {
  return (
    // It stays in the navigation, and leaves the page behind it to those who cannot see.
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger className={`flex items-center gap-2 rounded-md px-2 py-1.5 font-medium hover:bg-raised data-[state=open]:bg-raised ${className}`}>
        <here.Icon size={15} aria-hidden />
        {here.title}
        <Waiting count={waiting} className="" />
        <ChevronDown size={14} className="text-soft" aria-hidden />
      </DropdownMenu.Trigger>
      <DropdownMenu.Content align="start" sideOffset={6} className="z-20 max-h-[80dvh] w-56 overflow-auto rounded-lg border border-line bg-panel p-1 shadow-xl">
        {PAGES.map(({ name, title, Icon }) => (
          <DropdownMenu.Item key={name} asChild>
            <Link
              href={`/${name}`}
              aria-current={name === here.name ? "page" : undefined}
              className={`flex items-center gap-2.5 rounded-md px-3 py-2 outline-none data-highlighted:bg-raised ${name === here.name ? "font-medium" : "text-soft"}`}
            >
              <Icon size={15} aria-hidden />
              {title}
              {name === "approvals" && <Waiting count={waiting} />}
            </Link>
          </DropdownMenu.Item>
        ))}
      </DropdownMenu.Content>
    </DropdownMenu.Root>
  );
}
