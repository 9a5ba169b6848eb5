import { visible } from "./visible";

/** A machine by its name; a short form of its id if it has none. */
export function machineName({ client_id: id, client_name: name }: { client_id: string | null; client_name?: string | null }): string {
  if (name) return visible(name);
  return id?.startsWith("cli_") ? `machine …${visible(id.slice(-6))}` : visible(id ?? "the server");
}
